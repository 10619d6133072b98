import { globSync, readFileSync } from 'node:fs'

/** A page of the documentation, by its path from the root. */
export type Page = { file: string; text: string; blocks: Block[]; prose: string }

/** A fenced code block; `place` is file and line for messages. */
export type Block = { file: string; place: string; language: string; code: string }

const folders = ['.', 'docs', 'seeds/starters/*', 'src/*']

/** The README of the repository, of the packages for sites and of the starters, and every page of docs/. */
export const pages: readonly Page[] = folders
  .flatMap((folder) => globSync(`${folder}/*.md`).toSorted())
  .map((file) => readPage(file.replaceAll('\\', '/'), readFileSync(file, 'utf8')))

export const blocks: readonly Block[] = pages.flatMap((page) => page.blocks)

/** Blocks in one of these languages. */
export function blocksIn(...languages: string[]): readonly Block[] {
  return blocks.filter(({ language }) => languages.includes(language))
}

/** Splits a page into its code blocks, without their indent in a list, and everything else. */
export function readPage(file: string, text: string): Page {
  const found: Block[] = []
  const prose = text.replaceAll(
    /^( *)```(.*)\n([^]*?)^\1```$/gm,
    (_block, ...parts: [string, string, string, number]) => {
      const [indent, language, body, offset] = parts
      const line = text.slice(0, offset).split('\n').length
      const code = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
      found.push({ file, place: `${file}:${line}`, language, code })
      return ''
    }
  )
  return { file, text, blocks: found, prose }
}

/** Inline code outside of code blocks. */
export function inlineCode({ prose }: Page): string[] {
  return [...prose.matchAll(/`([^`]+)`/g)].map(([, code = '']) =>
    code.replaceAll('\\|', '|').replaceAll(/\s*\n\s*/g, ' ')
  )
}

/** The rows of the table with this head, cell by cell. */
export function tableWith(file: string, head: string): string[][] {
  const text = pages.find((page) => page.file === file)?.prose ?? ''
  const [, rows = ''] = text.split(`\n| ${head} |\n`)
  const lines = rows.split('\n').slice(1)
  return lines
    .slice(
      0,
      lines.findIndex((line) => !line.startsWith('|'))
    )
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim())
    )
}
