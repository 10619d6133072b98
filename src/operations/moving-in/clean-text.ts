import { withoutInvisible } from '../../platform/text.ts'

/** What the shop refuses in a line of text: control and private characters, and marks of writing direction. */
const refused = /[\p{Cc}\p{Co}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu

/** A text of another shop as one line of at most `max` code points; null if nothing is left. */
export function lineOf(text: string, max: number): string | null {
  const clean = withoutInvisible(text.normalize('NFC').replaceAll(refused, ' ')).trim()
  const line = Array.from(clean).slice(0, max).join('').trim()
  return line === '' ? null : line
}
