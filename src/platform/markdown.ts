import { escapeHtml } from './text.ts'
/** A part of a Markdown text; `lines` have their marks, except in code. */
export type MarkdownBlock = { kind: 'code' | 'table' | 'heading' | 'prose'; lines: string[] }

/** The marks in a line: code, bold, and a link with its label and its target. */
export const inlineMarks = /`([^`]+)`|\*\*([^*]+)\*\*|!?\[([^[\]]+)\]\(([^)\s]+)\)/g

const listItem = /^ *(?:-|\d+\.) +/

/**
 * The blocks of a Markdown text in the subset that docs/ and the law pages use: headings, paragraphs, lists, tables, fenced
 * code, bold, inline code and links. Each list item is a block of its own.
 */
export function markdownBlocks(text: string): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = []
  let open: MarkdownBlock | undefined
  /** The indent of the fence of an open code block. */
  let fence: string | undefined
  const start = (kind: MarkdownBlock['kind'], lines: string[]): void => {
    open = { kind, lines }
    blocks.push(open)
  }
  for (const line of text.split('\n')) {
    const [, indent = '', mark] = /^( *)(```)?/.exec(line) ?? []
    if (fence !== undefined) {
      if (mark === undefined) open?.lines.push(line.startsWith(fence) ? line.slice(fence.length) : line)
      else fence = open = undefined
    } else if (mark !== undefined) {
      fence = indent
      start('code', [])
    } else if (line.trim() === '') open = undefined
    else {
      const kind = kindOf(line)
      if (open?.kind === kind && kind !== 'heading' && !listItem.test(line)) open.lines.push(line)
      else start(kind, [line])
    }
  }
  return blocks
}

function kindOf(line: string): MarkdownBlock['kind'] {
  return line.startsWith('#') ? 'heading' : line.startsWith('|') ? 'table' : 'prose'
}

/** The mark of a list item with the spaces around it, such as `- `; empty for another line. */
export function listMark(line: string): string {
  return listItem.exec(line)?.[0] ?? ''
}

/** The cells of a line of a table. */
export function tableCells(line: string): string[] {
  return line
    .replaceAll(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/**
 * Markdown as HTML. Everything in it is text, HTML too. A line break in a paragraph stays one, as in an address. Links lead
 * to the web, to an email address or, behind `base`, to a path of the shop.
 */
export function markdownHtml(text: string, base = ''): string {
  const html: string[] = []
  let list: string | null = null
  const endList = (next: string | null): void => {
    if (list === next) return
    if (list !== null) html.push(`</${list}>`)
    if (next !== null) html.push(`<${next}>`)
    list = next
  }
  for (const { kind, lines } of markdownBlocks(text)) {
    const [first = '', ...others] = lines
    const mark = kind === 'prose' ? listMark(first) : ''
    endList(mark === '' ? null : mark.trim() === '-' ? 'ul' : 'ol')
    if (kind === 'heading') {
      const level = Math.min(first.length - first.replace(/^#+/, '').length, 6)
      html.push(`<h${level}>${inlineHtml(first.replace(/^#+ */, ''), base)}</h${level}>`)
    } else if (kind === 'code') html.push(`<pre>${escapeHtml(lines.join('\n'))}</pre>`)
    else if (kind === 'table') html.push(tableHtml(lines, base))
    else if (mark === '') html.push(`<p dir="auto">${lines.map((line) => inlineHtml(line, base)).join('<br>')}</p>`)
    else
      html.push(
        `<li dir="auto">${inlineHtml([first.slice(mark.length), ...others].map((line) => line.trim()).join(' '), base)}</li>`
      )
  }
  endList(null)
  return html.join('\n')
}

function tableHtml([head = '', , ...rows]: readonly string[], base: string): string {
  const rowOf = (line: string, tag: string): string =>
    `<tr>${tableCells(line)
      .map((cell) => `<${tag}>${inlineHtml(cell, base)}</${tag}>`)
      .join('')}</tr>`
  return `<table><thead>${rowOf(head, 'th')}</thead><tbody>${rows.map((row) => rowOf(row, 'td')).join('')}</tbody></table>`
}

function inlineHtml(text: string, base: string): string {
  let from = 0
  const parts: string[] = []
  for (const { 0: whole, index, 1: code, 2: bold, 3: label, 4: target } of text.matchAll(inlineMarks)) {
    parts.push(escapeHtml(text.slice(from, index)))
    from = index + whole.length
    const url = linkTarget(target ?? '', base)
    if (code !== undefined) parts.push(`<code>${escapeHtml(code)}</code>`)
    else if (bold !== undefined) parts.push(`<strong>${escapeHtml(bold)}</strong>`)
    else if (url === null) parts.push(escapeHtml(label ?? ''))
    else parts.push(`<a href="${escapeHtml(url)}">${escapeHtml(label ?? '')}</a>`)
  }
  return [...parts, escapeHtml(text.slice(from))].join('')
}

/** Where a link leads; null for a scheme that could run a script. */
function linkTarget(target: string, base: string): string | null {
  if (/^\/(?!\/)/.test(target)) return `${base}${target}`
  return /^(?:https?:\/\/|mailto:|tel:)/i.test(target) ? target : null
}

/** Markdown as the plain text of an email: headings stand alone, and a link has its address behind it. */
export function markdownText(text: string, base = ''): string {
  let isInList = false
  return markdownBlocks(text)
    .map(({ kind, lines }, index) => {
      const isItem = kind === 'prose' && listMark(lines[0] ?? '') !== ''
      const gap = index === 0 ? '' : isItem && isInList ? '\n' : '\n\n'
      isInList = isItem
      return (
        gap + lines.map((line) => (kind === 'code' ? line : inlineText(line.replace(/^#+ */, ''), base))).join('\n')
      )
    })
    .join('')
}

function inlineText(line: string, base: string): string {
  return line.replaceAll(
    inlineMarks,
    (_mark, code?: string, bold?: string, label = '', target = '') =>
      code ?? bold ?? withTarget(label, linkTarget(target, base))
  )
}

function withTarget(label: string, url: string | null): string {
  const isSame = url === null || url === label || url === `mailto:${label}` || url === `tel:${label}`
  return isSame ? label : `${label} (${url})`
}
