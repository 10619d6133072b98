import { crc32 } from 'node:zlib'
import { expect, it } from 'vitest'
import sharp from 'sharp'
import { encodePicture } from '../../../src/platform/pictures/encode-picture.ts'
import { PictureError } from '../../../src/platform/pictures/picture-kind.ts'

const red = { r: 200, g: 30, b: 30 }

function picture(width: number, height = width) {
  return sharp({ create: { width, height, channels: 3, background: red } })
}

async function problemOf(bytes: Uint8Array): Promise<string> {
  const error: unknown = await encodePicture(bytes).catch((error: unknown) => error)
  return error instanceof PictureError ? error.message : 'accepted'
}

it.each(['jpeg', 'png', 'webp', 'avif', 'gif'] as const)('encodes %s as WebP', async (format) => {
  const encoded = await encodePicture(await picture(40, 20).toFormat(format).toBuffer())
  expect(encoded).toMatchObject({ width: 40, height: 20, files: [{ width: 40 }] })
  expect(await sharp(encoded.files[0]?.bytes).metadata()).toMatchObject({ format: 'webp', width: 40, height: 20 })
})

it.each([
  [300, [300]],
  [400, [400]],
  [1000, [400, 800, 1000]],
  [1700, [400, 800, 1600]]
])('stores a picture of %i pixels in the widths %j', async (width, widths) => {
  const { files } = await encodePicture(await picture(width, 10).png().toBuffer())
  expect(files.map((file) => file.width)).toEqual(widths)
})

it('limits the height of a very tall picture', async () => {
  const encoded = await encodePicture(await picture(400, 20_000).png().toBuffer())
  expect(encoded).toMatchObject({ width: 64, height: 3200 })
})

it('applies the orientation and removes the metadata of a photo', async () => {
  const photo = await picture(60, 40)
    .withExif({ IFD0: { Copyright: 'A person' }, IFD3: { GPSLatitude: '52/1 31/1 0/1', GPSLatitudeRef: 'N' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer()
  expect((await sharp(photo).metadata()).exif?.length).toBeGreaterThan(0)
  const { width, height, files } = await encodePicture(photo)
  const stored = await sharp(files[0]?.bytes).metadata()
  expect([width, height, stored.exif, stored.xmp, stored.iptc, stored.orientation]).toEqual([
    40,
    60,
    undefined,
    undefined,
    undefined,
    undefined
  ])
})

it('keeps the transparency of a logo', async () => {
  const logo = sharp({ create: { width: 8, height: 8, channels: 4, background: { ...red, alpha: 0 } } })
  const { files } = await encodePicture(await logo.png().toBuffer())
  expect(await sharp(files[0]?.bytes).metadata()).toMatchObject({ hasAlpha: true })
})

it.each([
  ['', 'The file is empty.'],
  ['<!doctype html><title>Not found</title>', 'The file is a web page, not a picture.'],
  [
    '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    'SVG files are not accepted, because they can contain scripts. Convert it to PNG or WebP.'
  ],
  [
    '\uFEFF<?xml version="1.0"?>\n<!-- a logo -->\n<svg/>',
    'SVG files are not accepted, because they can contain scripts. Convert it to PNG or WebP.'
  ],
  ['%PDF-1.7', 'The file is not a JPEG, PNG, WebP, AVIF or GIF picture.'],
  ['GIF89a', 'The picture is damaged: its size could not be read.']
])('refuses a file that starts with %j', async (text, problem) => {
  expect(await problemOf(Buffer.from(text))).toBe(problem)
})

it('refuses a truncated JPEG', async () => {
  const noise = sharp({
    create: { width: 300, height: 300, channels: 3, background: red, noise: { type: 'gaussian', mean: 99, sigma: 50 } }
  })
  const bytes = await noise.jpeg().toBuffer()
  expect(await problemOf(bytes)).toBe('accepted')
  expect(await problemOf(bytes.subarray(0, bytes.length / 2))).toBe(
    'The picture is damaged: it could not be decoded to its end.'
  )
})

/** Small pictures with a large size in their headers, because encoding so many pixels takes seconds. */
const bombs = {
  async png(width: number, height: number, progressive = false) {
    const bytes = await picture(8).png({ progressive }).toBuffer()
    bytes.writeUInt32BE(width, 16)
    bytes.writeUInt32BE(height, 20)
    bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29)
    return bytes
  },
  async gif(width: number, height: number) {
    const bytes = await picture(8).gif().toBuffer()
    const frame = bytes.indexOf(Buffer.from([0x2c, 0, 0, 0, 0, 8, 0, 8, 0]))
    for (const at of [6, frame + 5]) {
      bytes.writeUInt16LE(width, at)
      bytes.writeUInt16LE(height, at + 2)
    }
    return bytes
  },
  async jpeg(width: number, height: number) {
    const bytes = await picture(8).jpeg({ progressive: true, chromaSubsampling: '4:4:4' }).toBuffer()
    const frame = bytes.indexOf(Buffer.from([0xff, 0xc2]))
    bytes.writeUInt16BE(height, frame + 5)
    bytes.writeUInt16BE(width, frame + 7)
    return bytes
  }
}

it('refuses a picture of over 50 megapixels before it decodes it', async () => {
  const bomb = await bombs.png(10_000, 6_000)
  expect(await problemOf(bomb)).toBe('The picture has 60 megapixels. At most 50 are accepted.')
})

it.each([
  ['a GIF', 30, 25, () => bombs.gif(6_000, 5_000)],
  ['an AVIF', 9, 8, () => picture(3_000, 3_000).avif({ effort: 0 }).toBuffer()],
  ['a progressive JPEG', 26, 25, () => bombs.jpeg(5_200, 5_000)],
  ['an interlaced PNG', 39, 38, () => bombs.png(6_500, 6_000, true)]
])('refuses %s of %i megapixels, because it is decoded as a whole', async (kind, megapixels, most, bomb) => {
  expect(await problemOf(await bomb())).toBe(
    `The picture has ${megapixels} megapixels. At most ${most} are accepted in ${kind}.`
  )
})

it('refuses a file of over 20 MB', async () => {
  expect(await problemOf(Buffer.alloc(20 * 1024 * 1024 + 1))).toBe('The file is larger than 20 MB.')
})

it('takes the first frame of an animation', async () => {
  const frames = await sharp([await picture(30).png().toBuffer(), await picture(30).negate().png().toBuffer()], {
    join: { animated: true }
  })
    .gif()
    .toBuffer()
  expect(await encodePicture(frames)).toMatchObject({ width: 30, height: 30, files: [{ width: 30 }] })
})
