import { existsSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import sharp from 'sharp'
import { expect, it, onTestFinished } from 'vitest'
import { write } from '../../../../src/platform/db/database.ts'
import { cleanUp } from '../../../../src/operations/housekeeping.ts'
import { exportCatalog } from '../../../../src/shop/catalog/export-catalog.ts'
import { fetchImages } from '../../../../src/shop/catalog/images/fetch-images.ts'
import { addImage, listImages, orderImages, removeImage } from '../../../../src/shop/catalog/images/manage-images.ts'
import { recordPicture, storePicture } from '../../../../src/shop/catalog/images/stored-images.ts'
import { imagesOf } from '../../../../src/shop/catalog/public/image.ts'
import { openTestShop } from '../../../support/shop-context.ts'
import { apply } from '../support.ts'

const mug = { slug: 'mug', name: 'Mug', price: 12 }
const anyAddress = { mayConnect: () => true }

function png(colour: string, width = 10): Promise<Buffer> {
  return sharp({ create: { width, height: 10, channels: 3, background: colour } })
    .png()
    .toBuffer()
}

/** A folder with the pictures red.png and blue.png. */
async function pictures(dataDir: string): Promise<string> {
  const folder = join(dataDir, 'file')
  mkdirSync(folder, { recursive: true })
  for (const colour of ['red', 'blue']) writeFileSync(join(folder, `${colour}.png`), await png(colour))
  return folder
}

function altsOf(shop: ReturnType<typeof openTestShop>, variationId: number | null = null): string[] {
  return imagesOf(shop.db, { productId: 1, variationId }, 'https://shop.example').map(({ alt }) => alt)
}

it('stores the pictures of an import once, in its order, and shows them with all sizes', async () => {
  using shop = openTestShop()
  const { dataDir } = shop.config
  const folder = await pictures(dataDir)
  writeFileSync(join(folder, 'wide.png'), await png('green', 900))
  const variations = [
    { sku: 'S', name: 'Small', price: 9, images: [{ src: 'red.png', alt: 'A small mug' }] },
    { sku: 'L', name: 'Large', price: 10 }
  ]
  const images = [{ src: 'wide.png', alt: 'Two mugs' }, { src: 'red.png' }]
  apply(shop.db, [{ ...mug, images, variations }], { folder })
  expect(altsOf(shop)).toEqual([])
  expect(await fetchImages(shop, {})).toEqual({ stored: 3, failed: [] })
  const [first, second] = imagesOf(shop.db, { productId: 1, variationId: null }, 'https://shop.example')
  expect(first).toMatchObject({
    alt: 'Two mugs',
    width: 900,
    height: 10,
    sizes: [{ width: 400 }, { width: 800 }, { width: 900 }]
  })
  expect(first?.url).toMatch(/^https:\/\/shop\.example\/media\/[0-9a-f]{32}-900\.webp$/)
  expect(first?.url).toBe(first?.sizes[2]?.url)
  expect([second?.alt, altsOf(shop, 1), altsOf(shop, 2)]).toEqual(['Mug', ['A small mug'], []])
  expect(readdirSync(join(dataDir, 'media'))).toHaveLength(4)
  expect(await fetchImages(shop, { retry: true })).toEqual({ stored: 0, failed: [] })
})

it('an import again changes nothing, and one with other pictures replaces them', async () => {
  using shop = openTestShop()
  const folder = await pictures(shop.config.dataDir)
  const entry = {
    ...mug,
    images: [
      { src: 'red.png', alt: 'Red' },
      { src: 'blue.png', alt: 'Blue' }
    ]
  }
  apply(shop.db, [entry], { folder })
  await fetchImages(shop, {})
  for (const again of [[entry], [mug], exportCatalog(shop.db, 'EUR')])
    expect(apply(shop.db, again, { folder }).products).toMatchObject({ updated: 0, unchanged: 1 })
  const changed = { ...mug, images: [{ src: 'blue.png', alt: 'Dark blue' }] }
  expect(apply(shop.db, [changed], { folder }).changes).toMatchObject([{ fields: [{ field: 'images' }] }])
  expect([altsOf(shop), await fetchImages(shop, {})]).toEqual([['Dark blue'], { stored: 0, failed: [] }])
  apply(shop.db, [{ ...mug, images: [] }])
  expect(altsOf(shop)).toEqual([])
})

it('reports a picture that cannot be had, keeps the reason and tries again when asked', async () => {
  using shop = openTestShop()
  const folder = await pictures(shop.config.dataDir)
  writeFileSync(join(folder, 'page.jpg'), '<html>')
  const images = ['page.jpg', 'missing.jpg', 'http://127.0.0.1/x.png', 'red.png'].map((src) => ({ src }))
  apply(shop.db, [{ ...mug, images }], { folder })
  const { stored, failed } = await fetchImages(shop, {})
  expect([stored, failed.map(({ slug, src, problem }) => [slug, src, problem])]).toEqual([
    1,
    [
      ['mug', 'page.jpg', 'The file is a web page, not a picture.'],
      ['mug', 'missing.jpg', 'The file cannot be read (ENOENT).'],
      ['mug', 'http://127.0.0.1/x.png', expect.stringContaining('private network')]
    ]
  ])
  expect(await fetchImages(shop, {})).toEqual({ stored: 0, failed: [] })
  expect(listImages(shop, 'mug').map(({ problem }) => problem === null)).toEqual([false, false, false, true])
  writeFileSync(join(folder, 'missing.jpg'), await png('green'))
  expect(await fetchImages(shop, { retry: true })).toMatchObject({ stored: 1, failed: [{ id: 1 }, { id: 3 }] })
  expect(altsOf(shop)).toHaveLength(2)
})

it('reads no device, folder or file over 20 MB', async () => {
  using shop = openTestShop()
  const folder = await pictures(shop.config.dataDir)
  const large = join(folder, 'large.png')
  writeFileSync(large, '')
  truncateSync(large, 20 * 1024 * 1024 + 1)
  apply(shop.db, [{ ...mug, images: [{ src: '/dev/tty' }, { src: '.' }, { src: 'large.png' }] }], { folder })
  const { failed } = await fetchImages(shop, {})
  expect(failed.map(({ problem }) => problem)).toEqual([
    'The path is not a file.',
    'The path is not a file.',
    'The file is larger than 20 MB.'
  ])
})

it('fetches at most eight pictures at a time, each address once', async () => {
  using shop = openTestShop()
  const bytes = await png('red')
  const counts = { now: 0, most: 0, all: 0 }
  const waiting: (() => void)[] = []
  const server = createServer((_, response) => {
    counts.now += 1
    counts.all += 1
    counts.most = Math.max(counts.most, counts.now)
    waiting.push(() => {
      counts.now -= 1
      response.end(bytes)
    })
    if (counts.all >= 8) for (const answer of waiting.splice(0)) answer()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const images = Array.from({ length: 20 }, (_, index) => ({ src: `http://127.0.0.1:${port}/${index}.png` }))
  apply(shop.db, [
    { ...mug, images },
    { ...mug, slug: 'cup', images }
  ])
  const steps: number[] = []
  expect(await fetchImages(shop, { ...anyAddress, onProgress: (done) => steps.push(done) })).toMatchObject({
    stored: 40
  })
  expect([counts.most, counts.all, steps.at(-1), readdirSync(join(shop.config.dataDir, 'media')).length]).toEqual([
    8, 20, 20, 1
  ])
})

it('continues where an interrupted run stopped', async () => {
  using shop = openTestShop()
  const folder = await pictures(shop.config.dataDir)
  apply(shop.db, [{ ...mug, images: [{ src: 'red.png' }] }], { folder })
  await fetchImages(shop, {})
  apply(shop.db, [{ ...mug, images: [{ src: 'red.png' }, { src: 'blue.png' }] }], { folder })
  expect(await fetchImages(shop, {})).toEqual({ stored: 1, failed: [] })
})

it('deletes what a killed process left half written', async () => {
  using shop = openTestShop()
  const folder = join(shop.config.dataDir, 'media')
  mkdirSync(folder, { recursive: true })
  // Process ids end at 4,194,304.
  writeFileSync(join(folder, '.unfinished-4194305-abcdef'), 'half')
  await fetchImages(shop, {})
  expect(readdirSync(folder)).toEqual([])
})

it('stores pictures again whose files are missing, as after a restore without media/', async () => {
  using shop = openTestShop()
  const folder = await pictures(shop.config.dataDir)
  apply(shop.db, [{ ...mug, images: [{ src: 'red.png' }] }], { folder })
  await fetchImages(shop, {})
  const file = join(shop.config.dataDir, 'media', readdirSync(join(shop.config.dataDir, 'media'))[0] ?? '')
  rmSync(file)
  expect(await fetchImages(shop, {})).toEqual({ stored: 0, failed: [] })
  expect(await fetchImages(shop, { retry: true })).toEqual({ stored: 1, failed: [] })
  expect(existsSync(file)).toBe(true)
})

it('stores all pictures when two runs store the same ones at the same time', async () => {
  using shop = openTestShop()
  const folder = await pictures(shop.config.dataDir)
  apply(shop.db, [{ ...mug, images: [{ src: 'red.png' }, { src: 'blue.png' }] }], { folder })
  const both = await Promise.all([fetchImages(shop, { retry: true }), fetchImages(shop, { retry: true })])
  expect(both).toEqual([
    { stored: 2, failed: [] },
    { stored: 2, failed: [] }
  ])
  expect([altsOf(shop).length, readdirSync(join(shop.config.dataDir, 'media')).length]).toEqual([2, 2])
})

it('writes the files of a picture again when the nightly cleaning deleted them before it was shown', async () => {
  using shop = openTestShop()
  const folder = await pictures(shop.config.dataDir)
  apply(shop.db, [{ ...mug, images: [{ src: 'red.png' }] }], { folder })
  await fetchImages(shop, {})
  apply(shop.db, [{ ...mug, images: [] }])
  const picture = await storePicture(shop, { src: 'red.png', folder }, {})
  await cleanUp(shop)
  expect(readdirSync(join(shop.config.dataDir, 'media'))).toEqual([])
  write(shop.db, (tx) => recordPicture(tx, shop, picture))
  expect(readdirSync(join(shop.config.dataDir, 'media'))).toHaveLength(1)
})

it('adds and changes nothing when the files cannot be written', async () => {
  using shop = openTestShop()
  const { dataDir } = shop.config
  const folder = await pictures(dataDir)
  apply(shop.db, [{ ...mug, images: [{ src: 'red.png' }] }], { folder })
  writeFileSync(join(dataDir, 'media'), 'A file instead of the folder.')
  const refused = { code: 'DEPENDENCY_UNAVAILABLE', message: expect.stringContaining('(EEXIST)') }
  const blue = { src: join(folder, 'blue.png'), alt: '', sku: undefined }
  await expect(addImage(shop, 'mug', blue, {})).rejects.toMatchObject(refused)
  await expect(fetchImages(shop, {})).rejects.toMatchObject(refused)
  expect(listImages(shop, 'mug')).toMatchObject([{ src: 'red.png', image: null, problem: null }])
  rmSync(join(dataDir, 'media'))
  expect(await fetchImages(shop, {})).toEqual({ stored: 1, failed: [] })
})

it('adds, orders and removes pictures of a product', async () => {
  using shop = openTestShop()
  const folder = await pictures(shop.config.dataDir)
  apply(shop.db, [{ ...mug, variations: [{ sku: 'S', name: 'Small', price: 9 }] }])
  const add = (src: string, alt: string, sku?: string) =>
    addImage(shop, 'mug', { src: join(folder, src), alt, sku }, {})
  await add('red.png', 'Red')
  await add('blue.png', 'Blue')
  await add('blue.png', 'Small', 'S')
  expect([altsOf(shop), altsOf(shop, 1)]).toEqual([['Red', 'Blue'], ['Small']])
  orderImages(shop.db, 'mug', [2])
  expect(altsOf(shop)).toEqual(['Blue', 'Red'])
  removeImage(shop.db, 'mug', 2)
  expect([altsOf(shop), listImages(shop, 'mug').map(({ sku }) => sku)]).toEqual([['Red'], [null, 'S']])
  await expect(add('blue.png', 'None', 'XL')).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
  await expect(add('none.png', 'None')).rejects.toMatchObject({
    message: expect.stringMatching(/none\.png: The file cannot be read \(ENOENT\)\.$/)
  })
  expect(() => removeImage(shop.db, 'mug', 2)).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }))
  expect(() => listImages(shop, 'cup')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
  expect(listImages(shop, 'mug')).toHaveLength(2)
})

it('deletes the files of a removed picture in the nightly cleaning, unless another product shows it', async () => {
  using shop = openTestShop()
  const folder = await pictures(shop.config.dataDir)
  const files = () => readdirSync(join(shop.config.dataDir, 'media')).length
  apply(
    shop.db,
    [
      { ...mug, images: [{ src: 'red.png' }, { src: 'blue.png' }] },
      { ...mug, slug: 'cup', images: [{ src: 'red.png' }] }
    ],
    { folder }
  )
  await fetchImages(shop, {})
  apply(shop.db, [{ ...mug, images: [] }])
  expect(files()).toBe(2)
  await cleanUp(shop)
  expect(files()).toBe(1)
  write(shop.db, (tx) => tx.sqlite.exec('DELETE FROM product_images'))
  await cleanUp(shop)
  expect(files()).toBe(0)
})
