import { inflateSync } from 'node:zlib'

/** A text of a page: its left and right edge and its baseline, in points from the left and the bottom. */
export type PdfText = { page: number; text: string; left: number; right: number; y: number }

type Font = { letters: string[]; widths: number[] }

/** Reads the texts of a PDF that pdfkit wrote, with their places. */
export function readPdf(pdf: Uint8Array): PdfText[] {
  const objects = objectsOf(Buffer.from(pdf).toString('latin1'))
  const pages = [...objects.values()].filter((object) => /\/Type \/Page\b/.test(object))
  return pages.flatMap((object, page) => {
    const resources = objects.get(referenceOf(object, 'Resources')) ?? ''
    const fonts = new Map(
      [...resources.matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name = '', id]) => [name, fontOf(objects, Number(id))])
    )
    const content = streamOf(objects.get(referenceOf(object, 'Contents')) ?? '')
    return textsOf(content, fonts).map((text) => ({ page, ...text }))
  })
}

function objectsOf(source: string): Map<number, string> {
  const found = source.matchAll(/^(\d+) 0 obj\n([^]*?)\nendobj$/gm)
  return new Map([...found].map(([, id, body = '']) => [Number(id), body]))
}

function referenceOf(object: string, name: string): number {
  return Number(new RegExp(`/${name} \\[?(\\d+) 0 R`).exec(object)?.[1])
}

function streamOf(object: string): string {
  const bytes = Buffer.from(/stream\n([^]*)\nendstream/.exec(object)?.[1] ?? '', 'latin1')
  return (object.includes('/FlateDecode') ? inflateSync(bytes) : bytes).toString('latin1')
}

function fontOf(objects: Map<number, string>, id: number): Font {
  const font = objects.get(id) ?? ''
  const letters =
    /beginbfrange\n.*\[(.*)\]/.exec(streamOf(objects.get(referenceOf(font, 'ToUnicode')) ?? ''))?.[1] ?? ''
  const widths = /\/W \[0 \[([^\]]*)\]/.exec(objects.get(referenceOf(font, 'DescendantFonts')) ?? '')?.[1] ?? ''
  return {
    // A ligature has several letters, with spaces between them.
    letters: [...letters.matchAll(/<([\w ]+)>/g)].map(([, hex = '']) =>
      Buffer.from(hex.replaceAll(' ', ''), 'hex').swap16().toString('utf16le')
    ),
    widths: widths.split(' ').map(Number)
  }
}

function textsOf(content: string, fonts: Map<string, Font>): Omit<PdfText, 'page'>[] {
  return [...content.matchAll(/1 0 0 1 (\S+) (\S+) Tm\n\/(F\d+) (\S+) Tf\n\[(.*)\] TJ/g)].map((found) => {
    const [left, y, size] = [Number(found[1]), Number(found[2]), Number(found[4])]
    const { letters = [], widths = [] } = fonts.get(found[3] ?? '') ?? {}
    let [text, width] = ['', 0]
    for (const [, hex, kerning] of (found[5] ?? '').matchAll(/<(\w+)>|(-?[\d.]+)/g)) {
      width -= Number(kerning ?? 0)
      for (const [code] of (hex ?? '').matchAll(/.{4}/g)) {
        text += letters[Number.parseInt(code, 16)] ?? ''
        width += widths[Number.parseInt(code, 16)] ?? 0
      }
    }
    return { text, left, right: left + (width * size) / 1000, y }
  })
}
