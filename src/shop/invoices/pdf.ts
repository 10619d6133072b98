import { createRequire } from 'node:module'
import { arrayBuffer } from 'node:stream/consumers'
import type PDFDocument from 'pdfkit'
import type { InvoiceRow } from './find.ts'
import { toText } from './text.ts'
import type { InvoiceText, InvoiceTextLine } from './text.ts'

type Pdf = typeof PDFDocument.prototype

const page = { size: 'A4', margin: 50, width: 495, bottom: 770 } as const
const fonts = {
  regular: 'dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf',
  bold: 'dejavu-fonts-ttf/ttf/DejaVuSansCondensed-Bold.ttf'
} as const
const size = { title: 18, text: 9, small: 7.5 } as const
const grey = '#555555'
const rule = '#bbbbbb'

type Column = {
  title: string
  x: number
  width: number
  align: 'left' | 'right'
  of: (line: InvoiceTextLine) => string
}

const item: Column = {
  title: 'Item',
  x: 50,
  width: 210,
  align: 'left',
  of: ({ name, sku }) => (sku === null ? name : `${name} (${sku})`)
}
const rate: Column = { title: 'Tax', x: 410, width: 45, align: 'right', of: (line) => line.rate }

/** The columns of the lines: their left edge, width and alignment. */
function columnsOf({ hasRates }: InvoiceText): Column[] {
  return [
    item,
    { title: 'Quantity', x: 265, width: 55, align: 'right', of: ({ quantity }) => quantity },
    { title: 'Price', x: hasRates ? 325 : 370, width: 80, align: 'right', of: ({ unitPrice }) => unitPrice },
    ...(hasRates ? [rate] : []),
    { title: 'Amount', x: 460, width: 85, align: 'right', of: ({ amount }) => amount }
  ]
}

/**
 * Writes a document as a PDF on A4: the head of the table is repeated and each page has its number. The library and the
 * fonts load at the first call. The fonts have the letters of Latin, Greek, Cyrillic, Armenian and Georgian; a document
 * with other letters says where the page is, which has them all.
 *
 * @param pageUrl the address of the document's page
 */
export async function invoicePdf(row: InvoiceRow, pageUrl: string): Promise<Uint8Array<ArrayBuffer>> {
  const { default: Document } = await import('pdfkit')
  const text = toText(row)
  const pdf = new Document({
    size: page.size,
    margins: { top: page.margin, left: page.margin, right: page.margin, bottom: 0 },
    bufferPages: true,
    lang: 'en',
    info: { Title: `${text.title} ${text.number}`, Author: text.seller[0] ?? '', CreationDate: new Date(row.issuedAt) }
  })
  for (const [name, font] of await (parsedFonts ??= parseFonts())) pdf.registerFont(name, font)
  const written = arrayBuffer(pdf)
  let y = writeHead(pdf, text)
  y = writeLines(pdf, text, y)
  y = writeSums(pdf, text, y)
  writeNotes(pdf, isReadable(text) ? text.notes : [...text.notes, unreadableNote(pageUrl)], y)
  writeFooters(pdf, text)
  pdf.end()
  return new Uint8Array(await written)
}

let parsedFonts: Promise<[name: string, font: PDFKit.Mixins.PDFFontSource][]> | undefined

/** Parsing the fonts takes six times as long as writing a document, so it happens once. */
async function parseFonts(): Promise<[string, PDFKit.Mixins.PDFFontSource][]> {
  const { openSync } = await import('fontkit')
  const { resolve } = createRequire(import.meta.url)
  // pdfkit takes fonts of fontkit since 0.20, which its types do not say.
  return Object.entries(fonts).map(([name, file]) => [name, openSync(resolve(file)) as unknown as Uint8Array])
}

/** Seller and title, then buyer and facts. Returns where the next part begins. */
function writeHead(pdf: Pdf, { title, seller, buyer, facts }: InvoiceText): number {
  pdf.font('bold').fontSize(size.title).text(title, page.margin, page.margin, { width: page.width, align: 'right' })
  const [name = '', ...address] = seller
  pdf.font('bold').fontSize(size.text + 2)
  pdf.text(name, page.margin, page.margin, { width: 300 })
  pdf.font('regular').fontSize(size.text)
  for (const line of address) pdf.text(line, { width: 300 })
  const top = Math.max(pdf.y, page.margin + 40) + 30
  for (const [index, line] of buyer.entries()) pdf.text(line, page.margin, index === 0 ? top : pdf.y, { width: 240 })
  let y = top
  for (const { label, value } of facts) {
    pdf.fillColor(grey).text(label, 320, y, { width: 100 })
    pdf.fillColor('black').text(value, 420, y, { width: 125, align: 'right' })
    y = pdf.y + 2
  }
  return Math.max(y, buyer.length > 0 ? pdfBottom(pdf, buyer, top) : top) + 25
}

function pdfBottom(pdf: Pdf, lines: readonly string[], top: number): number {
  return lines.reduce((y, line) => y + pdf.heightOfString(line, { width: 240 }), top)
}

function writeLines(pdf: Pdf, text: InvoiceText, top: number): number {
  if (text.lines.length === 0) return top
  const columns = columnsOf(text)
  let y = writeTableHead(pdf, columns, top)
  for (const line of text.lines) {
    const height = pdf.heightOfString(item.of(line), { width: item.width })
    if (y + height > page.bottom) {
      pdf.addPage()
      y = writeTableHead(pdf, columns, page.margin)
    }
    for (const { of, x, width, align } of columns) pdf.text(of(line), x, y, { width, align })
    y += height + 5
  }
  return drawRule(pdf, y)
}

function writeTableHead(pdf: Pdf, columns: readonly Column[], y: number): number {
  pdf.font('bold').fontSize(size.text)
  for (const { title, x, width, align } of columns) pdf.text(title, x, y, { width, align })
  pdf.font('regular')
  return drawRule(pdf, y + 14)
}

function drawRule(pdf: Pdf, y: number): number {
  pdf
    .moveTo(page.margin, y)
    .lineTo(page.margin + page.width, y)
    .lineWidth(0.5)
    .stroke(rule)
  return y + 6
}

function writeSums(pdf: Pdf, { sums, taxes }: InvoiceText, top: number): number {
  let y = top
  for (const { label, amount, isTotal } of sums) {
    pdf.font(isTotal ? 'bold' : 'regular')
    const height = pdf.heightOfString(label, { width: 195 })
    y = keepOnPage(pdf, y, height)
    pdf.text(label, 260, y, { width: 195, align: 'right' })
    pdf.text(amount, 460, y, { width: 85, align: 'right' })
    y += height + 3
  }
  pdf.font('regular')
  for (const { label, base, amount } of taxes) {
    y = keepOnPage(pdf, y, 14)
    pdf.fillColor(grey)
    pdf.text(`${label} of ${base} net`, 210, y, { width: 245, align: 'right' })
    pdf.text(amount, 460, y, { width: 85, align: 'right' })
    pdf.fillColor('black')
    y += 14
  }
  return y + 20
}

function writeNotes(pdf: Pdf, notes: readonly string[], top: number): void {
  let y = top
  for (const note of notes) {
    const height = pdf.heightOfString(note, { width: page.width })
    y = keepOnPage(pdf, y, height)
    pdf.text(note, page.margin, y, { width: page.width })
    y += height + 4
  }
}

/** The same place, or the top of a new page when the height does not fit. */
function keepOnPage(pdf: Pdf, y: number, height: number): number {
  if (y + height <= page.bottom) return y
  pdf.addPage()
  return page.margin
}

function writeFooters(pdf: Pdf, { title, number, seller }: InvoiceText): void {
  const { start, count } = pdf.bufferedPageRange()
  pdf.font('regular').fontSize(size.small).fillColor(grey)
  for (let index = 0; index < count; index += 1) {
    pdf.switchToPage(start + index)
    pdf.text(`${seller[0] ?? ''} · ${title} ${number}`, page.margin, 800, { width: 380, height: 10, ellipsis: true })
    pdf.text(`Page ${index + 1} of ${count}`, 445, 800, { width: 100, align: 'right' })
  }
}

const covered =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Common}\p{Script=Inherited}]*$/u

/** Whether the fonts have all letters, and the text runs from left to right. */
function isReadable({ seller, buyer, lines, sums }: InvoiceText): boolean {
  const texts = [...seller, ...buyer, ...lines.map(({ name }) => name), ...sums.map(({ label }) => label)]
  return texts.every((text) => covered.test(text) && !/\p{Emoji_Presentation}/u.test(text))
}

function unreadableNote(pageUrl: string): string {
  return `This file cannot show some of the letters in names and addresses. The page has them: ${pageUrl}`
}
