import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { readSections } from '../support/markdown.ts'

const files = globSync('{src,test,bin,.config}/**/*.{ts,js,css,eta,sql}')
const number = String.raw`A?\d+(?:\.\d+)*(?![\w.]*\w)`
const numbers = new RegExp(number, 'g')
/** A page in docs/, alone or before one or more section numbers: `5.8`, `A3 and A5`, `2.1 to 2.4`. */
const citation = new RegExp(String.raw`\bdocs/([\w-]+\.md)((?: ${number}(?:(?:,| and| to)(?= ${number}))?)*)`, 'g')
/** The same between the pages, which leave the folder out; a number in brackets is a section of the same page. */
const reference = new RegExp(String.raw`(?<![/\w])([\w-]+\.md)((?: ${number}(?:(?:,| and| to)(?= ${number}))?)+)`, 'g')
const ownReference = /\((A\d|\d{1,2}\.\d{1,2})\)/g

const sectionsOf = new Map<string, Set<string>>()

/** What is wrong with a citation; undefined when a reader can open it. */
function wrongWith(page: string, sections: readonly string[]): string | undefined {
  const file = `docs/${page}`
  if (!existsSync(file)) return `${file} does not exist`
  const known = sectionsOf.get(page) ?? new Set(readSections(file).map((section) => section.number))
  sectionsOf.set(page, known)
  const missing = sections.filter((section) => !known.has(section))
  return missing.length === 0 ? undefined : `${file} has no section ${missing.join(', ')}`
}

function wrongCitations(text: string, pattern: RegExp): string[] {
  // A comment may break between the page and the number.
  const joined = text.replaceAll(/\n\s*(?:\*|\/\/)?\s*/g, ' ')
  return [...joined.matchAll(pattern)].flatMap(
    ([, page = '', sections = '']) => wrongWith(page, sections.match(numbers) ?? []) ?? []
  )
}

const wrongIn = (file: string, pattern: RegExp): string[] =>
  wrongCitations(readFileSync(file, 'utf8'), pattern).map((problem) => `${file}: ${problem}`)

it('every citation of docs/ in the code and the tests names a page and a section that exist', () => {
  expect(files.length).toBeGreaterThan(300)
  expect(files.flatMap((file) => wrongIn(file, citation))).toEqual([])
})

it('every reference between interface.md and contract.md names a section that exists', () => {
  for (const page of ['interface.md', 'contract.md']) {
    expect(wrongIn(`docs/${page}`, reference)).toEqual([])
    const own = [...readFileSync(`docs/${page}`, 'utf8').matchAll(ownReference)].map(([, section = '']) => section)
    expect([page, wrongWith(page, own)]).toEqual([page, undefined])
  }
})

it('a citation of a missing page or section is found, also across a line break and in a list', () => {
  const page = 'docs/contract.md'
  const cases: [text: string, wrong: string[]][] = [
    [`${page} 5.8, A3 and A5`, []],
    [`${page} 2.1 to 2.4, and more`, []],
    [`${page}, 99 lines`, []],
    [`${page} 5.99`, [`${page} has no section 5.99`]],
    [`${page} A3 and A77.`, [`${page} has no section A77`]],
    [`see ${page}\n * 98 for more`, [`${page} has no section 98`]],
    [page.replace('contract', 'missing'), [`${page.replace('contract', 'missing')} does not exist`]]
  ]
  for (const [text, wrong] of cases) expect(wrongCitations(text, citation)).toEqual(wrong)
})
