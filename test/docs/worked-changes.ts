import { pages, readPage } from './pages.ts'
import type { Block } from './pages.ts'

/** One of the worked changes of docs/CONTRIBUTING.md. */
export type WorkedChange = { title: string; edits: Edit[]; commands: string[] }

/** A new file, or lines that replace others in a file. */
export type Edit = { place: string; path: string } & ({ text: string } | { before: string; after: string })

export const workedChanges: readonly WorkedChange[] = readWorkedChanges()

function readWorkedChanges(): WorkedChange[] {
  const file = 'docs/CONTRIBUTING.md'
  const text = pages.find((page) => page.file === file)?.text ?? ''
  const [, section = ''] = text.split('\n## Six worked changes\n')
  return section
    .split(/^### /m)
    .slice(1)
    .map((part) => {
      const [title = ''] = part.split('\n')
      const { blocks } = readPage(`${file}, ${title}`, part)
      return {
        title,
        edits: blocks.filter(({ language }) => language !== 'sh').map(toEdit),
        commands: blocks.filter(({ language }) => language === 'sh').map(({ code }) => code)
      }
    })
}

function toEdit({ place, language, code }: Block): Edit {
  const [first = '', ...lines] = code.split('\n')
  const path = /^(?:---|\/\/) ([\w./-]+)$/.exec(first)?.[1]
  if (path === undefined) throw new Error(`${place} does not begin with the path of its file.`)
  if (language === 'ts') return { place, path, text: lines.join('\n') }
  const side = (mark: string): string =>
    lines
      .filter((line) => line.startsWith(mark) || line.startsWith(' '))
      .map((line) => `${line.slice(1)}\n`)
      .join('')
  return { place, path, before: side('-'), after: side('+') }
}

/** @throws Error when the lines around an edit are not in the file exactly once */
export function applied(edit: Edit, text: string): string {
  if ('text' in edit) return edit.text
  const times = text.split(edit.before).length - 1
  if (times !== 1) throw new Error(`${edit.place}: ${edit.path} has its lines ${times} times.`)
  return text.replace(edit.before, () => edit.after)
}
