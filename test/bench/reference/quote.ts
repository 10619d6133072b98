import Database from 'better-sqlite3'
import { answerJson, meta } from './answer.ts'
import type { Handler } from './answer.ts'

type Product = { id: number; name: string; priceMinor: number; stock: number | null; published: 0 | 1 }
/** A key that has no rows: a buyer without orders. */
const guest = 'guest'

type Cart = { items: { productId: number; quantity: number }[] }

/**
 * Quotes a cart of products without problems, in one snapshot, with every statement that a quote needs: the revision of the
 * settings, the buyer's unpaid orders, and for each line its product, variations, benefits, pictures and stock.
 *
 * @param limits a table in memory in place of the file of the rate limits; a quote reads one row of it
 */
export function answerQuotes(sqlite: Database.Database, limits = new Database(':memory:')): Handler {
  limits.exec('CREATE TABLE rate_limits (key TEXT PRIMARY KEY, points INTEGER, expire INTEGER) WITHOUT ROWID, STRICT')
  const points = limits.prepare<[string, number], { points: number }>(
    'SELECT points, expire FROM rate_limits WHERE key = ? AND expire > ?'
  )
  const revisions = sqlite.prepare<[], { settings: number; catalog: number }>(`
    SELECT (SELECT value FROM revisions WHERE name = 'settings') AS settings,
      (SELECT value FROM revisions WHERE name = 'catalog') AS catalog`)
  const pending = sqlite.prepare<[string], { id: number }>(`
    SELECT o.id FROM order_holders h JOIN orders o ON o.id = h.order_id
    WHERE h.buyer = +? AND o.status = 'pending' ORDER BY o.id`)
  const stock = sqlite.prepare<[number | null, number], { stock: number | null; ofVariation: 0 | 1 }>(`
    SELECT coalesce(v.stock, p.stock) AS stock, v.stock IS NOT NULL AS ofVariation
    FROM products p LEFT JOIN variations v ON v.id = +? AND v.product_id = p.id WHERE p.id = +?`)
  const product = sqlite.prepare<[number], Product>(
    `SELECT id, slug, name, description, url, type, price_minor AS priceMinor, sale_price_minor, sale_starts_at,
       sale_ends_at, stock, published, position, weight_grams, created_at, updated_at FROM products WHERE id = +?`
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
      if (pictures.all(productId).length > 0 || stock.get(null, productId)?.stock !== null) return []
      const unitPrice = found.priceMinor / 100
      const total = (found.priceMinor * quantity) / 100
      const ids = { productId, variationId: null }
      return [{ ...ids, name: found.name, quantity, unitPrice, total, image: null, problem: null }]
    })
    const total = lines.reduce((sum, line) => sum + line.total * 100, 0) / 100
    const isFree = (held.get(guest)?.count ?? 0) < 20 && points.get(guest, Date.now()) === undefined
    const payable = lines.length === items.length && isFree
    return {
      currency: 'EUR',
      lines,
      coupons: [],
      giftCards: [],
      subtotal: total,
      discount: 0,
      shipping: { required: true, methods: [], chosen: null, amount: 0 },
      tax: { included: true, amount: 0, lines: [] },
      total,
      due: total,
      vatId: null,
      recurring: null,
      asksDeliveryConsent: false,
      asksGiftRecipient: false,
      payable,
      problems: []
    }
  })
  return (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (revisions.get() === undefined || pending.all(guest).length > 0) throw new Error('This is another shop.')
      const data = quote.deferred(JSON.parse(Buffer.concat(chunks).toString()) as Cart)
      answerJson(response, JSON.stringify({ data, meta: meta() }))
    })
  }
}
