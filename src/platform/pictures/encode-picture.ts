import type { Metadata, Sharp, SharpOptions } from 'sharp'
import { assertPicture, PictureError } from './picture-kind.ts'

/** The widths in which a picture is stored. A smaller picture is also stored in its own width, and never enlarged. */
export const pictureWidths = [400, 800, 1600] as const
const largest = { width: 1600, height: 3200 }
const maxPixels = 50_000_000
/** With the 116 MB of the command itself, an import takes less than 300 MB. */
const maxDecodedBytes = 175_000_000

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
 * Decoding one picture takes up to 180 MB of memory, so callers decode one at a time.
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
  const metadata = await picture.metadata().catch((cause: unknown) => {
    throw new PictureError('The picture is damaged: its size could not be read.', { cause })
  })
  const whole = decodedAsWhole(metadata)
  const limit = whole === undefined ? maxPixels : Math.min(maxPixels, maxDecodedBytes / whole.bytesPerPixel)
  const pixels = metadata.width * metadata.height
  if (pixels <= limit) return
  const [megapixels, most] = [Math.ceil(pixels / 1_000_000), Math.floor(limit / 1_000_000)]
  const kind = whole === undefined ? '' : ` in ${whole.kind}`
  throw new PictureError(`The picture has ${megapixels} megapixels. At most ${most} are accepted${kind}.`)
}

/** The kinds of pictures that are not decoded row by row, with the memory that they take, as measured. */
function decodedAsWhole({
  format,
  isProgressive,
  channels,
  depth,
  chromaSubsampling
}: Metadata): { kind: string; bytesPerPixel: number } | undefined {
  const bytesPerSample = depth === 'uchar' ? 1 : 2
  if (format === 'heif') return { kind: 'an AVIF', bytesPerPixel: bytesPerSample === 1 ? 20 : 27 }
  if (format === 'gif') return { kind: 'a GIF', bytesPerPixel: 7 }
  if (!isProgressive) return undefined
  if (format === 'png') return { kind: 'an interlaced PNG', bytesPerPixel: 1.5 * channels * bytesPerSample }
  return { kind: 'a progressive JPEG', bytesPerPixel: chromaSubsampling === '4:2:0' ? 3.5 : 2.3 * channels }
}
