import { expect, it, onTestFinished } from 'vitest'
import { startShop } from '../support/running-shop.ts'

it('shows the pictures of products and variations in every list, on the product, its category and in the quote', async () => {
  const shop = await startShop()
  onTestFinished(() => shop.stop())
  const { sqlite } = shop.app.db
  const visitor = shop.visitor()
  const before = await visitor.get('/store/products')
  const [small, large] = ['a', 'b'].map((letter) => letter.repeat(32))
  sqlite.exec(`
    INSERT INTO media (hash, width, height, created_at) VALUES ('${small}', 300, 200, 0), ('${large}', 1600, 900, 0);
    INSERT INTO product_images (product_id, src, alt, position, media_hash, problem, created_at)
      VALUES (1, 'later', '', 0, NULL, 'The file is empty.', 0), (1, 'x', '', 1, '${large}', NULL, 0), (1, 'y', 'Back', 2, '${small}', NULL, 0)`)
  const base = `${shop.app.publicUrl()}/media/`
  const product = sqlite
    .prepare<[], { slug: string; name: string }>('SELECT slug, name FROM products WHERE id = 1')
    .get()
  const main = {
    url: `${base}${large}-1600.webp`,
    alt: product?.name,
    width: 1600,
    height: 900,
    sizes: [400, 800, 1600].map((width) => ({ url: `${base}${large}-${width}.webp`, width }))
  }
  const back = {
    url: `${base}${small}-300.webp`,
    alt: 'Back',
    width: 300,
    height: 200,
    sizes: [{ url: `${base}${small}-300.webp`, width: 300 }]
  }
  const { data } = await visitor.get<{ products: { productId: number; image: unknown }[] }>('/store/products')
  expect(before.data).not.toEqual(data)
  expect(data.products.find(({ productId }) => productId === 1)?.image).toEqual(main)
  const page = await visitor.get(`/store/products/${product?.slug ?? ''}`)
  expect(page.data).toMatchObject({ product: { image: main, images: [main, back] } })
  const offers = await visitor.get('/store/offers')
  expect(offers.data).toMatchObject({
    offers: expect.arrayContaining([expect.objectContaining({ productId: 1, image: main })])
  })
  const { data: tree } = await visitor.get<{ categories: { slug: string; image: unknown }[] }>('/store/categories')
  const own = sqlite
    .prepare<[], string>('SELECT slug FROM product_categories JOIN categories ON id = category_id WHERE product_id = 1')
    .pluck()
    .all()
  expect(own.length).toBeGreaterThan(0)
  expect(tree.categories.filter(({ image }) => image !== null)).toEqual(
    tree.categories.filter(({ slug }) => own.includes(slug)).map((category) => ({ ...category, image: main }))
  )
  const quote = await visitor.post('/store/quote', { items: [{ productId: 1, quantity: 1 }] })
  expect(quote.data).toMatchObject({ lines: [{ image: main }] })
  const placed = await visitor.post<{ orderToken: string }>('/store/checkout-session', {
    items: [{ productId: 1, quantity: 1 }],
    returnUrl: 'https://front.example/done'
  })
  const order = await visitor.get(`/store/orders/${placed.data.orderToken}`)
  expect(order.data).toMatchObject({ order: { images: [main] } })
  sqlite.exec('UPDATE products SET published = 0 WHERE id = 1')
  const hidden = await visitor.post('/store/quote', { items: [{ productId: 1, quantity: 1 }] })
  expect(hidden.data).toMatchObject({ lines: [{ name: null, image: null }] })
})
