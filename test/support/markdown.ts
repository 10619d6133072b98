import { readFileSync } from 'node:fs'

/** A row of a table by column title, without code marks. */
export type TableRow = Readonly<Record<string, string>>

/** A numbered heading of a page in docs/ with the rows of the tables below it, up to the next numbered heading. */
export type Section = { readonly number: string; readonly title: string; readonly rows: readonly TableRow[] }

const heading = /^#{2,4} (A?\d+(?:\.\d+)*)\.? (.+)$/

/** The numbered sections of a page, in order. */
export function readSections(file: string): Section[] {
  const sections: { number: string; title: string; rows: TableRow[] }[] = []
  let columns: string[] | undefined
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, number, title] = heading.exec(line) ?? []
    if (number !== undefined && title !== undefined) sections.push({ number, title, rows: [] })
    if (!line.startsWith('|')) columns = undefined
    else if (columns === undefined) columns = cellsOf(line)
    else if (!/^[|\s-]+$/.test(line)) sections.at(-1)?.rows.push(toRow(columns, cellsOf(line)))
  }
  return sections
}

/** The rows of a numbered section. @throws Error when the page lacks the section */
export function rowsOf(sections: readonly Section[], number: string): readonly TableRow[] {
  const section = sections.find((candidate) => candidate.number === number)
  if (section === undefined) throw new Error(`The page has no section ${number}.`)
  return section.rows
}

/** The cells of a column, in order. */
export function column(rows: readonly TableRow[], title: string): string[] {
  return rows.flatMap((row) => row[title] ?? [])
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim())
}

function toRow(columns: readonly string[], cells: readonly string[]): TableRow {
  return Object.fromEntries(columns.map((title, index) => [title, (cells[index] ?? '').replaceAll('`', '')]))
}
