import { quay } from '../../support/addresses.ts'
import { numbers, people } from '../generated-shop.ts'
import type { Person } from '../generated-shop.ts'
import type { Question } from '../measure/request-cpu.ts'

/** Something that a shop has more of every year, or that a stranger can make more of. */
export type Dimension = {
  /** Plural, after a number. */
  name: string
  many: number
  /** The SQL that adds so many to a small shop. */
  fill(count: number): string
  /** What each request is called beside the name. */
  requests: readonly (Question<Person> & { about: string })[]
}

/** The first id of what is added, above those of the small shop. */
const first = 10_000_000
const now = Date.now()
const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** The product that everybody buys. */
const productId = 7
const address = '198.51.100.7'

const items = [{ productId, quantity: 1 }]
const guest = { items, shippingAddress: quay, customer: { email: 'guest-{guest}@shop.example' } }
const checkout = { about: 'a checkout', path: '/api/v1/store/checkout-session', body: guest }
const quote = { about: 'a quote', path: '/api/v1/store/quote', body: { items, shippingAddress: quay } }
const product = { about: 'the product', path: `/api/v1/store/products/product-${productId}` }
const list = { about: 'a list of products', path: '/api/v1/store/products?page={page}&perPage=5' }
const orderPage = { about: 'the page of an order', path: '/checkout/done/token-20' }
const me = { about: 'GET /me', path: '/api/v1/me', person: 'member' } as const
const orders = { about: 'GET /orders', path: '/api/v1/orders', person: 'member' } as const
const memberCheckout = {
  ...checkout,
  about: 'a checkout of the customer',
  person: 'member',
  body: { items, shippingAddress: quay }
} as const
const affiliate = [
  { about: 'GET /affiliates/me', path: '/api/v1/affiliates/me', person: 'affiliate' },
  { about: 'GET /affiliates/stats', path: '/api/v1/affiliates/stats', person: 'affiliate' },
  { about: 'GET /affiliates/referrals', path: '/api/v1/affiliates/referrals', person: 'affiliate' }
] as const

type OrderFields = { status: string; userId?: number; holdEndsAt?: number; holder?: string }

/** Orders with a line each, one a minute until now. */
function ordersOf(count: number, { status, userId, holdEndsAt, holder }: OrderFields): string {
  const at = `${now} - (${count} - i) * 1000`
  const email = userId === undefined ? `'many-' || i || '@shop.example'` : 'NULL'
  const taken = holdEndsAt === undefined ? 0 : 1
  return `
    INSERT INTO orders (id, user_id, email, email_key, status, currency, subtotal_minor, discount_minor, total_minor, strategy,
        contact, public_token, hold_ends_at, paid_at, created_at, updated_at)
      ${numbers(count)} SELECT ${first} + i, ${userId ?? 'NULL'}, ${email}, ${email}, '${status}', 'EUR', 1000, 0, 1000,
        'redirect_to_store', '{}', 'many-' || i, ${holdEndsAt ?? 'NULL'}, ${status === 'completed' ? at : 'NULL'}, ${at}, ${at} FROM n;
    INSERT INTO order_items (order_id, product_id, name, quantity, unit_price_minor, discount_minor, total_minor, type, grants,
        stock_taken)
      ${numbers(count)} SELECT ${first} + i, ${productId}, 'Lantern', 1, 1000, 0, 1000, 'physical', '[]', ${taken} FROM n;
    INSERT INTO order_attributions (order_id, affiliate_ref, affiliate_campaign, source_type, candidates)
      ${numbers(count)} SELECT ${first} + i, '', '', 'typein', '[]' FROM n;
    INSERT INTO order_history (order_id, to_status, by, reason, at)
      ${numbers(count)} SELECT ${first} + i, '${status}', 'bench', 'made up', ${at} FROM n;
    ${
      holder === undefined
        ? ''
        : `INSERT INTO order_holders (order_id, buyer, cart_key, is_guest, address_key)
             ${numbers(count)} SELECT ${first} + i, 'many-' || i, 'cart-' || i, 1, ${holder} FROM n;`
    }`
}

const limitsOff = (bucket: string): string =>
  `INSERT INTO settings (key, value, updated_at) VALUES ('limits.${bucket}', '"off"', ${now});`

/**
 * What grows. There is no table of translations. The page of a product with 2,000 variations and the list of
 * 5,000 categories are not here, because they send all of them.
 */
export const dimensions: readonly Dimension[] = [
  {
    name: 'unpaid orders of guests',
    many: 100_000,
    fill: (count) =>
      `UPDATE products SET stock = 10000000 WHERE id = ${productId};` +
      ordersOf(count, {
        status: 'pending',
        holdEndsAt: now + 10 * dayMs,
        holder: `'10.9.' || (i >> 8 & 255) || '.' || (i & 255)`
      }),
    requests: [checkout, quote, product, orderPage]
  },
  {
    name: 'orders of one customer',
    many: 50_000,
    fill: (count) => ordersOf(count, { status: 'completed', userId: people.member }),
    requests: [me, orders, { ...orders, about: 'their second page', path: `${orders.path}?page=2` }, memberCheckout]
  },
  {
    name: 'carts of one address on one day',
    many: 10_000,
    fill: (count) => ordersOf(count, { status: 'cancelled', holder: `'${address}'` }) + limitsOff('checkout_ip'),
    requests: [{ ...quote, address }]
  },
  {
    name: 'accounts',
    many: 100_000,
    fill: (count) => `
      INSERT INTO users (id, email, email_key, username, username_key, display_name, password_hash, status, created_at, updated_at)
        ${numbers(count)} SELECT ${first} + i, 'm' || i || '@shop.example', 'm' || i || '@shop.example', 'm' || i, 'm' || i,
          'Person ' || i, 'x' || i, 'active', ${now}, ${now} FROM n;`,
    requests: [
      me,
      checkout,
      { about: 'a lost password', path: '/api/v1/auth/forgot-password', body: { email: 'user-{guest}@shop.example' } }
    ]
  },
  {
    name: 'sessions',
    many: 100_000,
    fill: (count) => `
      INSERT INTO sessions (token_hash, user_id, remember_me, created_at, last_seen_at, ends_at)
        ${numbers(count)} SELECT hex(randomblob(32)), i % 2000 + 1, 1, ${now}, ${now}, ${now + 30 * dayMs} FROM n;`,
    requests: [me, orders]
  },
  {
    name: 'referrals of an affiliate',
    many: 100_000,
    fill: (count) => `
      INSERT INTO visits (id, affiliate_id, order_id, created_at) ${numbers(count)} SELECT ${first} + i, 1, ${first} + i, ${now} FROM n;
      INSERT INTO referrals (affiliate_id, order_id, visit_id, status, rate_bps, shop_rate_bps, amount_minor, currency, day, created_at, updated_at)
        ${numbers(count)} SELECT 1, ${first} + i, ${first} + i, 'unpaid', 1000, 1000, 100, 'EUR',
          date(${now} / 1000 - i % 300 * 86400, 'unixepoch'), ${now}, ${now} FROM n;`,
    requests: [...affiliate, { ...checkout, about: 'a checkout by their link', path: `${checkout.path}?ref=code4` }]
  },
  {
    name: 'visits of an affiliate',
    many: 1_000_000,
    fill: (count) => `
      INSERT INTO visits (id, affiliate_id, order_id, campaign, created_at)
        ${numbers(count)} SELECT ${first} + i, 1, ${first} + i, 'campaign-' || i % 50, ${now} FROM n;`,
    requests: [...affiliate, { ...checkout, about: 'a checkout by their link', path: `${checkout.path}?ref=code4` }]
  },
  {
    name: 'coupons',
    many: 100_000,
    fill: (count) => `
      INSERT INTO coupons (id, code, code_key, percent_bps, created_at)
        ${numbers(count)} SELECT ${first} + i, 'Z' || i, 'z' || i, 1000, ${now} FROM n;`,
    requests: [{ ...quote, about: 'a quote with a coupon', body: { ...quote.body, couponCodes: ['Z77'] } }]
  },
  {
    name: 'uses of a coupon once per customer',
    many: 100_000,
    fill: (count) => `
      INSERT INTO coupons (id, code, code_key, percent_bps, max_uses_per_customer, used, created_at)
        VALUES (1, 'ONCE', 'once', 1000, 1, ${count}, ${now});
      INSERT INTO order_coupons (order_id, coupon_id, code, discount_minor, customer_key, counted)
        ${numbers(count)} SELECT ${first} + i, 1, 'ONCE', 100, 'many-' || i || '@shop.example', 1 FROM n;`,
    requests: [{ ...quote, about: 'a quote with it', person: 'member', body: { ...quote.body, couponCodes: ['ONCE'] } }]
  },
  {
    name: 'variations of a product',
    many: 2_000,
    fill: (count) => `
      INSERT INTO variations (id, product_id, sku, name, options, price_minor, is_default, position)
        ${numbers(count)} SELECT ${first} + i, 9, 'sku-' || i, 'Size ' || i, '{"Size":"' || i || '"}', 1000 + i, i = 1, i FROM n;`,
    requests: [quote, checkout].map((request) => {
      const one = { items: [{ productId: 9, variationId: first + 1, quantity: 1 }] }
      return { ...request, about: `${request.about} of one of them`, body: { ...request.body, ...one } }
    })
  },
  {
    name: 'categories',
    many: 5_000,
    fill: (count) => `
      INSERT INTO categories (id, slug, name) ${numbers(count)} SELECT ${first} + i, 'shelf-' || i, 'Shelf ' || i FROM n;
      INSERT INTO product_categories (product_id, category_id, position) ${numbers(count)} SELECT i % 1000 + 1, ${first} + i, 1 FROM n;`,
    requests: [list, quote]
  },
  {
    name: 'redirects',
    many: 100_000,
    fill: (count) => `
      INSERT INTO redirects (path, product_id, created_at)
        ${numbers(count)} SELECT '/old/' || i, i % 1000 + 1, ${now} FROM n;`,
    requests: [{ about: 'an old address', path: '/api/v1/store/redirects?path=/old/7' }, product]
  },
  {
    name: 'documents',
    many: 100_000,
    fill: (count) => `
      INSERT INTO invoices (order_id, kind, year, sequence, number, date, currency, total_minor, document, issued_at)
        ${numbers(count)} SELECT ${first} + i, 'invoice', 2026, i, 'R-' || i, '2026-01-01', 'EUR', 1000, '{}', ${now} FROM n;`,
    requests: [orders, orderPage]
  },
  {
    name: 'events',
    many: 1_000_000,
    fill: (count) => `
      INSERT INTO events (id, type, payload, created_at)
        ${numbers(count)} SELECT ${first} + i, 'order.paid', '{"orderId":' || i || '}', ${now} - (${count} - i) FROM n;`,
    requests: [checkout]
  },
  {
    name: 'idempotency keys',
    many: 100_000,
    fill: (count) => `
      INSERT INTO idempotency_keys (scope, key, fingerprint, body_fingerprint, buyer, state, owner, created_at, expires_at)
        ${numbers(count)} SELECT 'checkout', 'key-' || i, 'x', 'x', 'many-' || i, 'answered', 'x', ${now}, ${now + dayMs} FROM n;`,
    requests: [checkout]
  },
  {
    name: 'emails that wait',
    many: 100_000,
    fill: (count) => `
      INSERT INTO mails (template, recipient, data, state, attempts, next_attempt_at, created_at)
        ${numbers(count)} SELECT 'order-placed', 'm' || i || '@shop.example', '{}', 'queued', 1, ${now + dayMs}, ${now} FROM n;`,
    requests: [checkout, orderPage]
  },
  {
    name: 'open warnings',
    many: 100_000,
    fill: (count) => `
      INSERT INTO payment_warnings (order_id, kind, object_id, message, created_at)
        ${numbers(count)} SELECT i % 2000 + 1, 'dispute', 'dp_' || i, 'The buyer disputes the payment.', ${now} FROM n;`,
    requests: [checkout, orderPage, orders]
  },
  {
    name: 'webhooks of a receiver that does not answer',
    many: 100_000,
    fill: (count) => `
      INSERT INTO webhook_endpoints (id, url, secret, created_at) VALUES (1, 'http://127.0.0.1:9/hook', 'whsec_AAAA', 0);
      INSERT INTO events (id, type, payload, created_at)
        ${numbers(count)} SELECT ${first} + i, 'order.paid', '{"orderId":' || i || '}', ${now} FROM n;
      INSERT INTO webhook_deliveries (endpoint_id, event_id, state, attempts, next_attempt_at, created_at)
        ${numbers(count)} SELECT 1, ${first} + i, 'queued', 5, ${now + dayMs}, ${now} FROM n;`,
    requests: [checkout, quote]
  }
]
