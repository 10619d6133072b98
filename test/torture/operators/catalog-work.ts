import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { checkouts, shoppers } from './work.ts'
import type { Work } from './work.ts'

const many = (isFull: boolean): number => (isFull ? 100_000 : 500)

function productOf(number: number): object {
  const description = `Lantern ${number} of copper and glass for a table in the garden, with a wick and two handles. `
  return {
    slug: `imported-${number}`,
    name: `Garden lantern ${number}`,
    sku: `GL-${number}`,
    description: description.repeat(3),
    price: '24.90',
    stock: 10,
    categories: [`Garden > Room ${number % 40}`],
    tags: [`colour-${number % 20}`],
    ...(number % 5 === 0
      ? {
          variations: ['Small', 'Large'].map((name) => ({
            sku: `GL-${number}-${name}`,
            name,
            price: '29.90',
            options: { Size: name }
          }))
        }
      : {})
  }
}

/** Writes products.json, a catalog of so many products. */
export function writeProducts(dataDir: string, count: number): void {
  const products = Array.from({ length: count }, (_, index) => productOf(index + 1))
  writeFileSync(join(dataDir, 'products.json'), JSON.stringify({ products }))
}

/** Writes pictures.json, a catalog with pictures of 2 megapixels, each with a comment of its own, so that each is another file. */
export async function writePictures(dataDir: string, count: number): Promise<void> {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const
  const jpeg = await sharp({ create: { width: 1_600, height: 1_200, channels: 3, background: '#888', noise } })
    .jpeg()
    .toBuffer()
  mkdirSync(join(dataDir, 'photos'))
  const products = Array.from({ length: count }, (_, index) => {
    const src = join('photos', `${index}.jpg`)
    // A segment with a comment (COM) after the start of the image: marker, length with the two bytes of the length, text.
    const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, 10]), Buffer.from(String(index).padStart(8, '0'))])
    writeFileSync(join(dataDir, src), Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)]))
    return { slug: `photo-${index}`, name: `Photo ${index}`, price: '5.00', images: [{ src, alt: 'A photo' }] }
  })
  writeFileSync(join(dataDir, 'pictures.json'), JSON.stringify({ products }))
}

const importWork = (name: string, buyers: Work['buyers'], ...options: string[]): Work => ({
  name,
  buyers,
  prepare: ({ dataDir, isFull }) => writeProducts(dataDir, many(isFull)),
  run: ({ command, dataDir }) => command('offers', 'import', join(dataDir, 'products.json'), ...options)
})

/** Work on the catalog: imports of 100,000 products, and of 1,000 pictures. */
export const catalogWork: readonly Work[] = [
  importWork('dry run of an import', shoppers, '--dry-run'),
  importWork('import', shoppers),
  importWork('dry run of an import beside checkouts', checkouts, '--dry-run'),
  importWork('import beside checkouts', checkouts),
  {
    name: 'import of pictures',
    buyers: shoppers,
    prepare: ({ dataDir, isFull }) => writePictures(dataDir, isFull ? 1_000 : 20),
    run: ({ command, dataDir }) => command('offers', 'import', join(dataDir, 'pictures.json'))
  }
]
