import { isUtf8 } from 'node:buffer'
import { refuseFile } from './file-errors.ts'

export type Encoding = 'UTF-8' | 'UTF-16' | 'Windows-1252'

/**
 * Decodes the content of a file: UTF-8, UTF-16 with or without a byte order mark, or Windows-1252, which includes the
 * characters of Latin-1. Spreadsheets write all of them.
 *
 * @throws AppError VALIDATION_FAILED for JSON, and for text that is partly UTF-8, when it is not valid UTF-8
 */
export function decodeText(content: string | Uint8Array): { text: string; encoding: Encoding } {
  if (typeof content === 'string') return { text: content.replace(/^\ufeff/, ''), encoding: 'UTF-8' }
  const utf16 = utf16Of(content)
  if (utf16 !== undefined) return { text: new TextDecoder(utf16).decode(content), encoding: 'UTF-16' }
  if (isUtf8(content)) return { text: new TextDecoder().decode(content), encoding: 'UTF-8' }
  const text = new TextDecoder('windows-1252').decode(content)
  // JSON is always UTF-8. In Windows-1252, a text with accents almost never contains a valid sequence of UTF-8.
  if (/^\s*[[{]/.test(text) || hasUtf8Sequence(text)) {
    refuseFile(lineOfBadByte(content), null, 'The file is not UTF-8 text. Save it with the encoding UTF-8.')
  }
  return { text, encoding: 'Windows-1252' }
}

/** By the byte order mark, or by the zero bytes that UTF-16 has in each letter of the header. */
function utf16Of(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  const start = bytes.subarray(0, 64)
  if (start.length < 4 || start.length % 2 === 1) return undefined
  const zeros = [0, 0]
  for (const [index, byte] of start.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  const half = start.length / 2
  if (even === 0 && odd > half * 0.7) return 'utf-16le'
  return odd === 0 && even > half * 0.7 ? 'utf-16be' : undefined
}

/** The characters that Windows-1252 makes of a letter of two bytes in UTF-8: `Ã¤` instead of `ä`. */
function hasUtf8Sequence(text: string): boolean {
  return /[ÂÃ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]/.test(text)
}

function lineOfBadByte(bytes: Uint8Array): number {
  let line = 1
  for (let from = 0; from < bytes.length; line += 1) {
    const end = bytes.indexOf(10, from)
    const next = end === -1 ? bytes.length : end + 1
    if (!isUtf8(bytes.subarray(from, next))) return line
    from = next
  }
  return line
}
