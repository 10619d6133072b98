import { randomBytes } from 'node:crypto'
import type Database from 'better-sqlite3'
import { answerJson, meta } from './answer.ts'
import type { Handler } from './answer.ts'

type Product = { name: string; priceMinor: number; type: string }
type Cart = {
  items: { productId: number; quantity: number }[]
  shippingAddress: object
  customer: { email: string }
}

const token = (): string => randomBytes(32).toString('base64url')
const holdMs = 3_600_000

/** Writes a guest's order and all rows that belong to it, as the shop does, in one durable transaction. */
export function answerCheckouts(sqlite: Database.Database): Handler {
  const product = sqlite.prepare<[number], Product>(
    'SELECT name, price_minor AS priceMinor, type FROM products WHERE id = +?'
  )
  const order = sqlite.prepare(
    `INSERT INTO orders (email, email_key, status, currency, subtotal_minor, discount_minor, total_minor, strategy, contact,
       shipping_address, public_token, hold_ends_at, created_at, updated_at)
     VALUES (?, ?, 'pending', 'EUR', ?, 0, ?, 'redirect_to_store', '{}', ?, ?, ?, ?, ?)`
  )
  const holder = sqlite.prepare(
    'INSERT INTO order_holders (order_id, buyer, cart_key, is_guest, address_key) VALUES (?, ?, ?, 1, ?)'
  )
  const item = sqlite.prepare(
    `INSERT INTO order_items (order_id, product_id, name, quantity, unit_price_minor, discount_minor, total_minor, type,
       grants, stock_taken) VALUES (?, ?, ?, ?, ?, 0, ?, ?, '[]', 0)`
  )
  const history = sqlite.prepare(
    "INSERT INTO order_history (order_id, to_status, by, reason, at) VALUES (?, 'pending', 'checkout', 'created', ?)"
  )
  const event = sqlite.prepare("INSERT INTO events (type, payload, created_at) VALUES ('order.created', ?, ?)")
  const attribution = sqlite.prepare(
    `INSERT INTO order_attributions (order_id, affiliate_ref, affiliate_campaign, source_type, candidates)
     VALUES (?, '', '', 'typein', '[]')`
  )
  const attempt = sqlite.prepare(
    `INSERT INTO payment_attempts (order_id, gateway, kind, token, create_key, confirm_key, amount_minor, currency,
       livemode, object_id, url, gateway_status, expires_at, created_at, updated_at)
     VALUES (?, 'sandbox', 'checkout_session', ?, ?, ?, ?, 'EUR', 0, ?, ?, 'open', ?, ?, ?)`
  )
  const buy = sqlite.transaction((sent: Cart, address: string): { checkoutUrl: string; orderId: string } => {
    const { items, shippingAddress, customer } = sent
    const now = Date.now()
    const lines = items.flatMap(({ productId, quantity }) => {
      const found = product.get(productId)
      return found === undefined ? [] : [{ ...found, productId, quantity, totalMinor: found.priceMinor * quantity }]
    })
    const total = lines.reduce((sum, line) => sum + line.totalMinor, 0)
    const { email } = customer
    const to = JSON.stringify(shippingAddress)
    const id = order.run(email, email, total, total, to, token(), now + holdMs, now, now).lastInsertRowid
    for (const { productId, name, quantity, priceMinor, totalMinor, type } of lines)
      item.run(id, productId, name, quantity, priceMinor, totalMinor, type)
    holder.run(id, token(), token(), address)
    history.run(id, now)
    event.run(JSON.stringify({ orderId: Number(id), totalMinor: total, currency: 'EUR' }), now)
    attribution.run(id)
    const session = `cs_test_${token()}`
    const checkoutUrl = `http://localhost:3000/sandbox/pay/${session}`
    const keys = [token(), `create-${token()}`, `confirm-${token()}`]
    attempt.run(id, ...keys, total, session, checkoutUrl, now + holdMs, now, now)
    return { checkoutUrl, orderId: String(id) }
  })
  return (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const cart = JSON.parse(Buffer.concat(chunks).toString()) as Cart
      const data = buy.immediate(cart, String(request.headers['x-forwarded-for']))
      answerJson(response, JSON.stringify({ data, meta: meta() }))
    })
  }
}
