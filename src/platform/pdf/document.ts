import { createRequire } from 'node:module'
import { arrayBuffer } from 'node:stream/consumers'
import { readFileSync } from 'node:fs'
import type { Bidi } from 'bidi-js'
import type { Font } from 'fontkit'
import type PDFDocument from 'pdfkit'
import { breakLines, hasRightToLeft, visualRuns } from './bidi.ts'
import type { Texts, Translate } from '../texts/languages.ts'
import { element } from '../xml.ts'

/** A document of business as people read it. Amounts and days are text. */
export type DocumentText = {
  title: string
  number: string
  facts: { label: string; value: string }[]
  /** Name and address. */
  seller: string[]
  buyer: string[]
  table: DocumentTable
  sums: { label: string; amount: string; isTotal: boolean }[]
  /** Smaller sums below the total. */
  taxes: { label: string; amount: string }[]
  notes: string[]
}

/** Lines with a cell for each column. The text of the first column can have several lines. */
export type DocumentTable = { columns: readonly DocumentColumn[]; rows: readonly (readonly string[])[] }

/** A column from `x` on; the page has 495 points from 50 on. */
export type DocumentColumn = { title: string; x: number; width: number; align: 'left' | 'right' }

/** The data of a document that its PDF contains for programs; `metadata` describes them in XMP. */
export type EmbeddedData = { name: string; type: string; description: string; content: string; metadata: string }

/** A document of pdfkit, and the algorithm that orders Hebrew and Arabic, which pdfkit does not do. */
type Pdf = InstanceType<typeof PDFDocument> & { bidi: Bidi }
type Element = ReturnType<Pdf['struct']>

const page = { size: 'A4', margin: 50, width: 495, bottom: 770 } as const
/** Space below a line of the table, a sum and the rule, and the height of the row of a tax. */
const gap = { line: 5, sum: 3, rule: 6 } as const
const taxHeight = 14
const fonts = {
  regular: 'dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf',
  bold: 'dejavu-fonts-ttf/ttf/DejaVuSansCondensed-Bold.ttf'
} as const
const size = { title: 18, text: 9, small: 7.5 } as const
const grey = '#555555'
const rule = '#bbbbbb'

/** A text and its place. Without an alignment it is at the left. */
type Cell = { text: string; x: number; y: number; width: number; align?: 'left' | 'right' }

type Written = { issuedAt: number; unreadable: string; texts: Texts; data?: EmbeddedData }

/**
 * Writes a document as a PDF on A4: the head of the table is repeated, the sums are on the page of the last line, and
 * each page has its number. The PDF is tagged (ISO 32000-1, 14.8), so a screen reader knows its heading and its table.
 * The libraries and the fonts load at the first call. The fonts have the letters of Latin, Greek, Cyrillic, Armenian,
 * Georgian, Hebrew and Arabic.
 *
 * @param unreadable what a document with other letters says, such as where its page is, which has them all
 * @param data makes the PDF an archive format (ISO 19005-3, PDF/A-3b) that contains the data as another form of the document
 */
export async function documentPdf(
  text: DocumentText,
  { issuedAt, unreadable, texts: { t, lang }, data }: Written
): Promise<Uint8Array<ArrayBuffer>> {
  const { default: Document } = await import('pdfkit')
  const { default: createBidi } = await import('bidi-js')
  const parsed = await (parsedFonts ??= parseFonts())
  const document = new Document({
    size: page.size,
    margins: { top: page.margin, left: page.margin, right: page.margin, bottom: 0 },
    bufferPages: true,
    pdfVersion: '1.7',
    tagged: true,
    displayTitle: true,
    lang,
    ...(data === undefined ? {} : { subset: 'PDF/A-3b' }),
    // pdfkit does not escape the title in XMP, so the title must not contain names of people or companies.
    info: { Title: `${text.title} ${text.number}`, CreationDate: new Date(issuedAt) }
  })
  const pdf = Object.assign(document, { bidi: createBidi() })
  // pdfkit takes fonts of fontkit since 0.20, which its types do not say.
  for (const [name, font] of parsed) pdf.registerFont(name, font as unknown as Uint8Array)
  const written = arrayBuffer(pdf)
  const root = pdf.struct('Document')
  pdf.addStructure(root)
  let y = writeHead(pdf, root, text)
  y = writeLines(pdf, root, text, y)
  y = writeSums(pdf, root, text, y)
  writeNotes(pdf, root, isReadable(text, parsed) ? text.notes : [...text.notes, unreadable], y)
  root.end()
  writeFooters(pdf, text, t)
  pdf.appendXML(creator(text.seller[0] ?? ''))
  if (data !== undefined) embed(pdf, data, issuedAt)
  pdf.end()
  return new Uint8Array(await written)
}

/** Who made a document, in XMP. */
function creator(name: string): string {
  const names = element('dc:creator', [element('rdf:Seq', [element('rdf:li', name)])])
  const namespaces = { 'rdf:about': '', 'xmlns:dc': 'http://purl.org/dc/elements/1.1/' }
  return element('rdf:Description', [names], namespaces).markup
}

function embed(pdf: Pdf, { name, type, description, content, metadata }: EmbeddedData, issuedAt: number): void {
  const [creationDate, modifiedDate] = [new Date(issuedAt), new Date(issuedAt)]
  // pdfkit takes the relationship since 0.15, which its types do not say.
  const file = { name, type, description, relationship: 'Alternative', creationDate, modifiedDate }
  pdf.file(Buffer.from(content), file)
  pdf.appendXML(metadata)
}

let parsedFonts: Promise<ReadonlyMap<string, Font>> | undefined

/** Parsing the fonts takes six times as long as writing a document, so it happens once. */
async function parseFonts(): Promise<ReadonlyMap<string, Font>> {
  const { create } = await import('fontkit')
  const { resolve } = createRequire(import.meta.url)
  const parse = (file: string): Font => {
    const font = create(readFileSync(resolve(file)))
    if (font.type === 'TTF') return font
    throw new Error(`${file} is not a font`)
  }
  return new Map(Object.entries(fonts).map(([name, file]) => [name, parse(file)]))
}

/** Adds a text to the document's structure and writes it. A reader gets the letters in the order of reading. */
function tag(pdf: Pdf, parent: Element, type: string, cell: Cell): void {
  const options = hasRightToLeft(cell.text) ? { actual: cell.text } : {}
  parent.add(pdf.struct(type, options, () => writeText(pdf, cell)))
}

function writeText(pdf: Pdf, { text, x, y, width, align = 'left' }: Cell): void {
  if (!hasRightToLeft(text)) return void pdf.text(text, x, y, { width, align })
  const [first = '', ...others] = text.split('\n')
  if (others.length > 0) {
    writeText(pdf, { text: first, x, y, width, align })
    return writeText(pdf, { text: others.join('\n'), x, y: pdf.y, width, align })
  }
  const lines = linesOf(pdf, text, width)
  const height = pdf.currentLineHeight(true)
  for (const [index, runs] of visualRuns(pdf.bidi, text, lines).entries()) {
    const widths = runs.map((run) => pdf.widthOfString(run, shaped))
    let left = align === 'right' ? x + width - widths.reduce((sum, each) => sum + each, 0) : x
    for (const [at, run] of runs.entries()) {
      pdf.text(run, left, y + index * height, { ...shaped, lineBreak: false })
      left += widths[at] ?? 0
    }
  }
  pdf.x = x
  pdf.y = y + lines.length * height
}

/** With a list of features, pdfkit shapes a run as a whole; without one, it shapes each word and writes them from the left. */
const shaped = { features: [] as PDFKit.Mixins.OpenTypeFeatures[] }

function linesOf(pdf: Pdf, text: string, width: number): ReturnType<typeof breakLines> {
  return breakLines(text, (part) => pdf.widthOfString(part, shaped) <= width)
}

function heightOf(pdf: Pdf, text: string, width: number): number {
  if (!hasRightToLeft(text)) return pdf.heightOfString(text, { width })
  const lines = text.split('\n').flatMap((part) => linesOf(pdf, part, width))
  return lines.length * pdf.currentLineHeight(true)
}

/** Adds a part that has parts. */
function group(pdf: Pdf, parent: Element, type: string): Element {
  const element = pdf.struct(type)
  parent.add(element)
  return element
}

/** Writes what is not content, such as a rule: a screen reader leaves it out. */
function decorate(pdf: Pdf, type: 'Layout' | 'Pagination', write: () => void): void {
  pdf.markContent('Artifact', { type })
  write()
  pdf.endMarkedContent()
}

/** Seller and title, then buyer and facts. Returns where the next part begins. */
function writeHead(pdf: Pdf, root: Element, { title, seller, buyer, facts }: DocumentText): number {
  const [x, y] = [page.margin, page.margin]
  pdf.font('bold').fontSize(size.title)
  tag(pdf, root, 'H1', { text: title, x, y, width: page.width, align: 'right' })
  const [name = '', ...address] = seller
  pdf.fontSize(size.text + 2)
  tag(pdf, root, 'P', { text: name, x, y, width: 300 })
  pdf.font('regular').fontSize(size.text)
  for (const text of address) tag(pdf, root, 'P', { text, x, y: pdf.y, width: 300 })
  const top = Math.max(pdf.y, page.margin + 40) + 30
  pdf.y = top
  for (const text of buyer) tag(pdf, root, 'P', { text, x, y: pdf.y, width: 240 })
  return Math.max(writeFacts(pdf, root, facts, top), buyer.length > 0 ? pdfBottom(pdf, buyer, top) : top) + 25
}

function writeFacts(pdf: Pdf, root: Element, facts: DocumentText['facts'], top: number): number {
  const table = group(pdf, root, 'Table')
  let y = top
  for (const { label, value } of facts) {
    const row = group(pdf, table, 'TR')
    pdf.fillColor(grey)
    tag(pdf, row, 'TH', { text: label, x: 320, y, width: 100 })
    pdf.fillColor('black')
    tag(pdf, row, 'TD', { text: value, x: 420, y, width: 125, align: 'right' })
    y = pdf.y + 2
  }
  return y
}

function pdfBottom(pdf: Pdf, lines: readonly string[], top: number): number {
  return lines.reduce((y, line) => y + heightOf(pdf, line, 240), top)
}

function writeLines(pdf: Pdf, root: Element, text: DocumentText, top: number): number {
  const { columns, rows } = text.table
  if (rows.length === 0) return keepOnPage(pdf, top, sumsHeight(pdf, text))
  const table = group(pdf, root, 'Table')
  let y = writeTableHead(pdf, table, columns, top)
  for (const [index, row] of rows.entries()) {
    const height = heightOf(pdf, row[0] ?? '', columns[0]?.width ?? 0)
    const after = index === rows.length - 1 ? gap.line + gap.rule + sumsHeight(pdf, text) : 0
    if (y + height + after > page.bottom && y > page.margin + 50) {
      pdf.addPage()
      y = decorateTableHead(pdf, columns, page.margin)
    }
    const cells = columns.map((column, at) => ({ ...column, text: row[at] ?? '', y }))
    writeRow(pdf, table, 'TD', cells)
    y += height + gap.line
  }
  return drawRule(pdf, y)
}

function writeRow(pdf: Pdf, table: Element, type: 'TH' | 'TD', cells: readonly Cell[]): void {
  const row = group(pdf, table, 'TR')
  for (const cell of cells) tag(pdf, row, type, cell)
}

/** The head of the table, where it is part of the document. */
function writeTableHead(pdf: Pdf, table: Element, columns: readonly DocumentColumn[], y: number): number {
  pdf.font('bold').fontSize(size.text)
  writeRow(
    pdf,
    table,
    'TH',
    columns.map((column) => ({ ...column, text: column.title, y }))
  )
  pdf.font('regular')
  return drawRule(pdf, y + 14)
}

/** The head of the table again, on the next page. */
function decorateTableHead(pdf: Pdf, columns: readonly DocumentColumn[], y: number): number {
  pdf.font('bold').fontSize(size.text)
  decorate(pdf, 'Pagination', () => {
    for (const column of columns) writeText(pdf, { ...column, text: column.title, y })
  })
  pdf.font('regular')
  return drawRule(pdf, y + 14)
}

function drawRule(pdf: Pdf, y: number): number {
  const [left, right] = [page.margin, page.margin + page.width]
  decorate(pdf, 'Layout', () => pdf.moveTo(left, y).lineTo(right, y).lineWidth(0.5).stroke(rule))
  return y + gap.rule
}

/** The height of the sums and taxes, or 0 when they are too many for a page: then they can't stay together. */
function sumsHeight(pdf: Pdf, { sums, taxes }: DocumentText): number {
  const heights = sums.map((sum) => sumHeight(pdf, sum) + gap.sum)
  const height = heights.reduce((sum, each) => sum + each, taxes.length * taxHeight)
  return height > (page.bottom - page.margin) / 2 ? 0 : height
}

function sumHeight(pdf: Pdf, { label, isTotal }: DocumentText['sums'][number]): number {
  pdf.font(isTotal ? 'bold' : 'regular')
  const height = heightOf(pdf, label, 195)
  pdf.font('regular')
  return height
}

function writeSums(pdf: Pdf, root: Element, { sums, taxes }: DocumentText, top: number): number {
  const table = group(pdf, root, 'Table')
  const right = { x: 460, width: 85, align: 'right' } as const
  let y = top
  for (const sum of sums) {
    const height = sumHeight(pdf, sum)
    y = keepOnPage(pdf, y, height)
    pdf.font(sum.isTotal ? 'bold' : 'regular')
    const label = { text: sum.label, x: 260, y, width: 195, align: 'right' } as const
    writeRow(pdf, table, 'TD', [label, { ...right, text: sum.amount, y }])
    y += height + gap.sum
  }
  pdf.font('regular').fillColor(grey)
  for (const { label, amount } of taxes) {
    y = keepOnPage(pdf, y, taxHeight)
    const net = { text: label, x: 210, y, width: 245, align: 'right' } as const
    writeRow(pdf, table, 'TD', [net, { ...right, text: amount, y }])
    y += taxHeight
  }
  pdf.fillColor('black')
  return y + 20
}

function writeNotes(pdf: Pdf, root: Element, notes: readonly string[], top: number): void {
  let y = top
  for (const note of notes) {
    const height = heightOf(pdf, note, page.width)
    y = keepOnPage(pdf, y, height)
    tag(pdf, root, 'P', { text: note, x: page.margin, y, width: page.width })
    y += height + 4
  }
}

/** The same place, or the top of a new page when the height does not fit. */
function keepOnPage(pdf: Pdf, y: number, height: number): number {
  if (y + height <= page.bottom) return y
  pdf.addPage()
  return page.margin
}

function writeFooters(pdf: Pdf, { title, number, seller }: DocumentText, t: Translate): void {
  const { start, count } = pdf.bufferedPageRange()
  pdf.font('regular').fontSize(size.small).fillColor(grey)
  for (let index = 0; index < count; index += 1) {
    pdf.switchToPage(start + index)
    decorate(pdf, 'Pagination', () => {
      writeFirstLine(pdf, { text: `${seller[0] ?? ''} · ${title} ${number}`, x: page.margin, y: 800, width: 380 })
      pdf.text(t('doc.page', { page: index + 1, pages: count }), 445, 800, { width: 100, align: 'right' })
    })
  }
}

function writeFirstLine(pdf: Pdf, { text, x, y, width }: Cell): void {
  if (!hasRightToLeft(text)) return void pdf.text(text, x, y, { width, height: 10, ellipsis: true })
  writeText(pdf, { text: text.slice(0, linesOf(pdf, text, width)[0]?.end), x, y, width })
}

const covered =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Common}\p{Script=Inherited}]*$/u

/** Whether the fonts have all letters. Of Arabic they lack some, and of Hebrew the accents of the Bible. */
function isReadable({ seller, buyer, table, sums }: DocumentText, parsed: ReadonlyMap<string, Font>): boolean {
  const texts = [...seller, ...buyer, ...table.rows.map(([item = '']) => item), ...sums.map(({ label }) => label)]
  const letters = [...new Set(texts.join(''))].filter((letter) => hasRightToLeft(letter))
  const has = (letter: string): boolean =>
    [...parsed.values()].every((font) => font.hasGlyphForCodePoint(letter.codePointAt(0) ?? 0))
  return letters.every(has) && texts.every((text) => covered.test(text) && !/\p{Emoji_Presentation}/u.test(text))
}
