/** A picture that cannot be used. The message says why and is shown to the operator. */
export class PictureError extends Error {
  override readonly name = 'PictureError'
}

export const maxPictureBytes = 20 * 1024 * 1024

/**
 * Recognises a picture by its first bytes, so that the decoder never reads another kind of file. The name and the
 * Content-Type of a file are not trusted.
 *
 * @throws PictureError for an empty file, a file over 20 MB, a web page, an SVG or another kind of file
 */
export function assertPicture(bytes: Uint8Array): void {
  if (bytes.length === 0) throw new PictureError('The file is empty.')
  if (bytes.length > maxPictureBytes) throw tooLarge()
  const head = Buffer.from(bytes.subarray(0, 512)).toString('latin1')
  if (kinds.some((pattern) => pattern.test(head))) return
  const text = head.replace(/^(?:\u00EF\u00BB\u00BF)?\s*/, '').toLowerCase()
  if (text.startsWith('<svg') || (text.startsWith('<?xml') && text.includes('<svg'))) {
    throw new PictureError('SVG files are not accepted, because they can contain scripts. Convert it to PNG or WebP.')
  }
  if (text.startsWith('<')) throw new PictureError('The file is a web page, not a picture.')
  throw new PictureError('The file is not a JPEG, PNG, WebP, AVIF or GIF picture.')
}

/** The error for a file that is larger than the limit. */
export function tooLarge(): PictureError {
  return new PictureError('The file is larger than 20 MB.')
}

const kinds = [
  /^\u00FF\u00D8\u00FF/, // JPEG
  /^\u0089PNG\r\n/,
  /^RIFF[^]{4}WEBP/,
  /^GIF8[79]a/,
  /^[^]{4}ftyp(?:avif|avis|mif1)/ // AVIF
]
