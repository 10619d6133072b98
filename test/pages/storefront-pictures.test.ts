import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fetchImages } from '../../src/shop/catalog/images/fetch-images.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

const pictures = join(import.meta.dirname, '../../seeds/demo/pictures')
const imageOf = (name: string, alt: string) => ({ src: join(pictures, `${name}.webp`), alt })

let shop: RunningShop
beforeAll(async () => {
  const variations = [
    { sku: 'RED', options: { Colour: 'Red' }, price: 5, images: [imageOf('watch-cap', 'A red cap')] },
    { sku: 'BLUE', options: { Colour: 'Blue' }, price: 7 }
  ]
  const images = [imageOf('enamel-mug', 'Two caps'), imageOf('fog-lamp', 'The label')]
  const mug = { slug: 'mug', name: 'Mug', price: 5, images: [imageOf('enamel-mug', 'A mug')] }
  shop = await startShop({ seed: { products: [{ slug: 'cap', name: 'Cap', price: 5, images, variations }, mug] } })
  await fetchImages(shop.app, {})
  setSetting(shop.app.db, 'storefront.enabled', 'true', Date.now())
})
afterAll(() => shop.stop())

const html = async (path: string): Promise<string> => (await fetch(`${shop.url}${path}`)).text()

it('a page shows pictures by their path, which the content security policy allows under each name of the host', async () => {
  for (const path of ['/', '/products/cap', '/products/mug']) {
    const sources = [...(await html(path)).matchAll(/<img src="([^"]*)" srcset="([^"]*)"/g)].flat()
    expect(sources.length).toBeGreaterThan(0)
    expect(sources.filter((source) => source.includes(shop.app.publicUrl()))).toEqual([])
  }
})

it('a product page shows the picture of the chosen variation and all of the product', async () => {
  const page = await html('/products/cap')
  expect([...page.matchAll(/<img [^>]* alt="([^"]*)"/g)].map(([, alt]) => alt)).toEqual([
    'A red cap',
    'Two caps',
    'The label'
  ])
  const [, json = ''] = /data-variations="([^"]*)"/.exec(page) ?? []
  expect(JSON.parse(json.replaceAll('&quot;', '"'))).toMatchObject([
    { values: ['Red'], picture: { alt: 'A red cap', url: expect.stringMatching(/^\/media\//) } },
    { values: ['Blue'], picture: { alt: 'Two caps' } }
  ])
})
