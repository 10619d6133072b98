import { styleText } from 'node:util'
import { Help } from 'commander'
import { inlineMarks, listMark, markdownBlocks, tableCells } from '../../platform/markdown.ts'
import { table, tableLines } from './table.ts'

type Look = { columns: number; colours: boolean }
type Style = (format: 'code' | 'bold' | 'heading', text: string) => string

/**
 * Markdown for a terminal: headings in bold, tables in columns, paragraphs wrapped. Code starts at the first column, so
 * that it can be copied with its here-documents. It knows the subset that docs/ uses: headings, paragraphs, lists,
 * tables, fenced code, bold, inline code and links.
 */
export function renderMarkdown(text: string, { columns, colours }: Look): string {
  const style = colours ? coloured : plain
  return markdownBlocks(text)
    .map(({ kind, lines }) => {
      if (kind === 'code') return lines.map((line) => (colours ? style('code', line) : line)).join('\n')
      if (kind === 'table') return columnsOf(lines, columns)
      if (kind === 'heading') return style('heading', inline(lines.join(' ').replace(/^#+ /, ''), plain))
      return wrapped(lines, columns, style)
    })
    .join('\n\n')
    .replaceAll(/(^ *(?:-|\d+\.) .*)\n\n(?= *(?:-|\d+\.) )/gm, '$1\n')
}

const coloured: Style = (format, text) => {
  const marked = styleText(format === 'code' ? 'cyan' : 'bold', text, { validateStream: false })
  return format === 'heading' ? styleText('underline', marked, { validateStream: false }) : marked
}
const plain: Style = (format, text) => (format === 'code' ? `\`${text}\`` : text)

/** A paragraph, or a list item whose further lines are indented as its text is. */
function wrapped(lines: readonly string[], columns: number, style: Style): string {
  const marker = listMark(lines[0] ?? '') || (/^ */.exec(lines[0] ?? '')?.[0] ?? '')
  const text = lines.map((line, index) => (index === 0 ? line.slice(marker.length) : line.trim())).join(' ')
  const indent = ' '.repeat(marker.length)
  return new Help()
    .boxWrap(inline(text, style), columns - marker.length)
    .split('\n')
    .map((line, index) => (index === 0 ? marker : indent) + line)
    .join('\n')
}

const prose = { breaksWords: true }

/** Rows that need more than one line have a blank line between them. */
function columnsOf(lines: readonly string[], columns: number): string {
  const [head = [], , ...rows] = lines.map(cellsOf)
  const dense = [...tableLines(table(head, rows), columns, prose)]
  if (dense.length === rows.length + 1) return dense.join('\n')
  const blank = head.map(() => '')
  const spaced = rows.flatMap((row, index) => (index === 0 ? [row] : [blank, row]))
  return [...tableLines(table(head, spaced), columns, prose)].join('\n')
}

function cellsOf(line: string): string[] {
  return tableCells(line).map((cell) => inline(cell, plain))
}

/** Text in its style. A link to another page names the command that prints it. */
function inline(text: string, style: Style): string {
  return text.replaceAll(inlineMarks, (_mark, code?: string, bold?: string, label?: string, target?: string) => {
    if (code !== undefined) return style('code', code)
    if (bold !== undefined) return style('bold', bold)
    return `${label}${whereTo(target ?? '')}`
  })
}

function whereTo(target: string): string {
  if (/^https?:/.test(target)) return ` (${target})`
  const topic = /^([\w-]+)\.md(?:#.*)?$/.exec(target)?.[1]?.toLowerCase()
  return topic === undefined ? '' : ` (shopstead guide ${topic})`
}
