import type Database from 'better-sqlite3'
import { answerJson, meta } from './answer.ts'
import type { Handler } from './answer.ts'

type Product = { id: number; name: string; priceMinor: number; stock: number | null; published: 0 | 1 }
type Cart = { items: { productId: number; quantity: number }[] }

/** Quotes a cart of products without problems, in one snapshot: a product, its variations and its benefits for each line. */
export function answerQuotes(sqlite: Database.Database): Handler {
  const product = sqlite.prepare<[number], Product>(
    'SELECT id, name, price_minor AS priceMinor, stock, published FROM products WHERE id = +?'
  )
  const variations = sqlite.prepare<[number], { id: number; stock: number | null }>(
    'SELECT id, stock FROM variations WHERE product_id = +? AND available ORDER BY position, id'
  )
  const grants = sqlite.prepare<[number], { spec: string }>(
    'SELECT spec FROM product_grants WHERE product_id = +? ORDER BY position'
  )
  const pictures = sqlite.prepare<[number], { hash: string }>(`
    SELECT m.hash FROM product_images i JOIN media m ON m.hash = i.media_hash
    WHERE i.product_id = +? AND i.variation_id IS NULL ORDER BY i.position, i.id`)
  const held = sqlite.prepare<[string], { count: number }>(`
    SELECT count(*) AS count FROM order_holders h JOIN orders o ON o.id = h.order_id
    WHERE h.address_key = +? AND o.status IN ('pending', 'on-hold', 'failed')`)
  const quote = sqlite.transaction(({ items }: Cart): object => {
    const lines = items.flatMap(({ productId, quantity }) => {
      const found = product.get(productId)
      if (found?.published !== 1 || variations.all(productId).length > 0 || grants.all(productId).length > 0) return []
      if (pictures.all(productId).length > 0) return []
      const unitPrice = found.priceMinor / 100
      const total = (found.priceMinor * quantity) / 100
      const ids = { productId, variationId: null }
      return [{ ...ids, name: found.name, quantity, unitPrice, total, image: null, problem: null }]
    })
    const total = lines.reduce((sum, line) => sum + line.total * 100, 0) / 100
    const payable = lines.length === items.length && (held.get('nobody')?.count ?? 0) < 20
    return {
      currency: 'EUR',
      lines,
      coupons: [],
      subtotal: total,
      discount: 0,
      shipping: { required: true, methods: [], chosen: null, amount: 0 },
      tax: { included: true, amount: 0, lines: [] },
      total,
      payable,
      problems: []
    }
  })
  return (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const data = quote.deferred(JSON.parse(Buffer.concat(chunks).toString()) as Cart)
      answerJson(response, JSON.stringify({ data, meta: meta() }))
    })
  }
}
