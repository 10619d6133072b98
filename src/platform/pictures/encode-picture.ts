import type { Sharp, SharpOptions } from 'sharp'
import { assertPicture, PictureError } from './picture-kind.ts'

/** The widths in which a picture is stored. A smaller picture is also stored in its own width, and never enlarged. */
export const pictureWidths = [400, 800, 1600] as const
const largest = { width: 1600, height: 3200 }
const maxPixels = 50_000_000
/** These formats are decoded as a whole: 50 megapixels would take 340 MB. */
const maxWholePixels = 25_000_000

export type EncodedPicture = {
  /** The size of the largest file, in pixels. */
  width: number
  height: number
  /** WebP files, the smallest first. */
  files: { width: number; bytes: Buffer }[]
}

/** Loads sharp at first use: a server does not decode pictures. One thread and no cache keep the memory small. */
async function loadSharp() {
  const { default: sharp } = await import('sharp')
  sharp.concurrency(1)
  sharp.cache(false)
  return sharp
}

/**
 * Decodes a picture and encodes it again as WebP in up to three widths: orientation is applied, metadata such as the place
 * of a photo is removed, and of a GIF the first frame counts.
 *
 * Decoding one picture takes up to 200 MB of memory, so callers decode one at a time.
 *
 * @throws PictureError with the reason when the file is not a picture that can be used
 */
export async function encodePicture(bytes: Uint8Array): Promise<EncodedPicture> {
  assertPicture(bytes)
  const open = await loadSharp()
  const input: SharpOptions = { failOn: 'error', limitInputPixels: maxPixels, sequentialRead: true, pages: 1 }
  await assertSize(open(bytes, { ...input, limitInputPixels: false }))
  try {
    const { data, info } = await open(bytes, input)
      .autoOrient()
      .resize({ ...largest, fit: 'inside', withoutEnlargement: true })
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true })
    const { width, height, channels } = info
    const files: EncodedPicture['files'] = []
    for (const target of widthsOf(width)) {
      const decoded = open(data, { raw: { width, height, channels } })
      files.push({ width: target, bytes: await decoded.resize({ width: target }).webp({ quality: 80 }).toBuffer() })
    }
    return { width, height, files }
  } catch (cause) {
    throw new PictureError('The picture is damaged: it could not be decoded to its end.', { cause })
  }
}

/** The widths in which a picture of this width is stored, the smallest first. */
export function widthsOf(width: number): number[] {
  return [...pictureWidths.filter((target) => target < width), width]
}

async function assertSize(picture: Sharp): Promise<void> {
  const { width, height, format, isProgressive } = await picture.metadata().catch((cause: unknown) => {
    throw new PictureError('The picture is damaged: its size could not be read.', { cause })
  })
  const isWhole = format === 'gif' || (format === 'png' && isProgressive)
  const limit = isWhole ? maxWholePixels : maxPixels
  if (width * height <= limit) return
  const megapixels = Math.ceil((width * height) / 1_000_000)
  const kind = isWhole ? ' in a GIF or interlaced PNG' : ''
  throw new PictureError(`The picture has ${megapixels} megapixels. At most ${limit / 1_000_000} are accepted${kind}.`)
}
