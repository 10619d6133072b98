import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { AppError } from '../../../src/errors.ts'
import { placeOrder } from '../../../src/shop/checkout/checkout.ts'
import type { PlacedOrder } from '../../../src/shop/checkout/continue-order.ts'
import { checkoutBody, checkoutQuery, quoteBody } from '../../../src/shop/checkout/input.ts'
import { quoteCart } from '../../../src/shop/checkout/quote.ts'
import type { QuoteCaller } from '../../../src/shop/checkout/quote.ts'
import type { Quote } from '../../../src/shop/checkout/shapes.ts'
import type { CardGateway, ShopContext } from '../../../src/shop/context.ts'
import type { Holder } from '../../../src/shop/orders/holds.ts'
import { payOrder } from '../../../src/shop/orders/transition.ts'
import { itemsOf } from '../../../src/shop/orders/find.ts'
import type { Problem } from '../../../src/shop/orders/shapes.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { apply } from '../catalog/support.ts'
import { makeUser } from '../orders/support.ts'

/** A longer run with random carts: QUOTE_RUNS=20000 npm test -- test/shop/checkout/quote-property.test.ts */
const longerRuns = Number(process.env['QUOTE_RUNS'] ?? 0)
const numRuns = longerRuns || 250

const subscription = (interval: 'month' | 'year') => ({
  type: 'digital',
  grants: [{ kind: 'subscription', interval }]
})
const catalog = {
  products: [
    { slug: 'mug', name: 'Mug', price: '12.50', categories: ['Kitchen'] },
    { slug: 'sheet', name: 'Sheet', price: '0.40', type: 'digital' },
    {
      slug: 'shirt',
      name: 'Shirt',
      price: '20.00',
      stock: 5,
      variations: [
        { sku: 'S', name: 'Small', price: '19.99' },
        { sku: 'M', name: 'Middle', price: '20.01', default: true },
        { sku: 'L', name: 'Large', price: '21.00', stock: 2 }
      ]
    },
    { slug: 'club', name: 'Club', price: '8.00', ...subscription('month') },
    { slug: 'letter', name: 'Letter', price: '3.33', ...subscription('year') }
  ],
  coupons: [
    { code: 'PART', percent: 33.33 },
    { code: 'FIXED', amount: '7.77', categories: ['Kitchen'] },
    { code: 'FREE', percent: 100 },
    { code: 'ALONE', amount: '1.00', exclusive: true }
  ]
}

/** Product and variation ids of the catalog. */
const known = [[1], [2], [3], [3, 1], [3, 2], [3, 3], [4], [5]] as const

const item = fc
  .record({
    what: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom<readonly [number, number?]>(...known) },
      { weight: 1, arbitrary: fc.constantFrom<readonly [number, number?]>([9], [1, 1], [3, 9]) }
    ),
    quantity: fc.integer({ min: 1, max: 4 })
  })
  .map(({ what: [productId, variationId], quantity }) => ({
    productId,
    quantity,
    ...(variationId === undefined ? {} : { variationId })
  }))

const stock = fc.option(fc.integer({ min: 0, max: 12 }), { freq: 2 })
const changes = fc.record({
  prices: fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 5, maxLength: 5 }),
  stocks: fc.array(stock, { minLength: 5, maxLength: 5 }),
  stocksOfVariations: fc.array(stock, { minLength: 3, maxLength: 3 }),
  isPublished: fc.nat(5).map((chance) => chance > 0),
  coupons: fc.array(
    fc.record({
      minTotalMinor: fc.option(fc.integer({ min: 0, max: 4_000 }), { freq: 2 }),
      maxUses: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 2 }),
      maxUsesPerCustomer: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 2 }),
      isOver: fc.nat(5).map((chance) => chance === 0)
    }),
    { minLength: 4, maxLength: 4 }
  )
})

const handoff = { returnUrl: 'https://front.example/done', paymentToken: 'pm_card_visa' }
const body = fc.record(
  {
    items: fc.array(item, { minLength: 1, maxLength: 3 }),
    couponCodes: fc.oneof(
      { weight: 8, arbitrary: fc.subarray(['part', 'FIXED', 'FREE', 'alone'], { maxLength: 2 }) },
      { weight: 1, arbitrary: fc.constant(['NOPE']) }
    ),
    strategy: fc.constantFrom('redirect_to_store', 'token_handoff'),
    customer: fc.record({ email: fc.constantFrom('ada@example.com', null) }),
    subscribeAgain: fc.boolean()
  },
  { requiredKeys: ['items'] }
)

const cards: CardGateway = {
  name: 'sandbox',
  livemode: false,
  webhookSecret: undefined,
  client: () => Promise.reject(new Error('the gateway was asked'))
}

function change({ db, clock }: TestShop, changed: Changes): void {
  const { prices, stocks, stocksOfVariations, isPublished, coupons } = changed
  const product = db.sqlite.prepare('UPDATE products SET price_minor = ?, stock = ?, published = ? WHERE id = ?')
  const variation = db.sqlite.prepare('UPDATE variations SET stock = ? WHERE id = ?')
  const coupon = db.sqlite.prepare(`
    UPDATE coupons SET min_total_minor = ?, used = 0, max_uses = ?, max_uses_per_customer = ?, ends_at = ? WHERE id = ?`)
  write(db, () => {
    db.sqlite.exec("UPDATE orders SET status = 'cancelled' WHERE paid_at IS NULL")
    for (const [index, price] of prices.entries())
      product.run(price, stocks[index], Number(isPublished || index > 0), index + 1)
    for (const [index, left] of stocksOfVariations.entries()) variation.run(left, index + 1)
    for (const [index, { minTotalMinor, maxUses, maxUsesPerCustomer, isOver }] of coupons.entries())
      coupon.run(minTotalMinor, maxUses, maxUsesPerCustomer, isOver ? clock.now() : null, index + 1)
  })
}
type Changes = typeof changes extends fc.Arbitrary<infer T> ? T : never

/** What a quote says about the order, in the order's terms. */
function promised({ lines, ...quote }: Quote): object {
  const major = { subtotal: quote.subtotal, discount: quote.discount, total: quote.total }
  return {
    ...major,
    currency: quote.currency,
    lines: lines.map(({ productId, variationId, name, quantity, unitPrice, total }) => ({
      ids: [productId, variationId],
      name,
      quantity,
      unitPrice,
      total
    }))
  }
}

function ordered(shop: TestShop, { order }: PlacedOrder): object {
  return {
    subtotal: order.subtotalMinor / 100,
    discount: order.discountMinor / 100,
    total: order.totalMinor / 100,
    currency: order.currency,
    lines: itemsOf(shop.db, order.id).map(({ productId, variationId, name, quantity, unitPriceMinor, totalMinor }) => ({
      ids: [productId, variationId],
      name,
      quantity,
      unitPrice: unitPriceMinor / 100,
      total: totalMinor / 100
    }))
  }
}

test('a quote and the order of the same cart agree, and payable is true if and only if checkout accepts the cart', async () => {
  using shop = openTestShop()
  apply(shop.db, catalog)
  const now = shop.clock.now()
  for (const bucket of ['checkout_ip', 'coupon_failure'] as const) setSetting(shop.db, `limits.${bucket}`, 'off', now)
  shop.db.sqlite.pragma('synchronous = OFF')
  const opened = { ...shop, cards }
  const user = makeUser(shop.db, 'lena@shop.example')
  const customer = { user, addressKey: 'customer', holder: holderOf('customer'), mailbox: null }
  const club = { ...handoff, items: [{ productId: 4, quantity: 1 }], strategy: 'token_handoff' }
  const { order: paid } = await buy(opened, club, customer)
  write(shop.db, (tx) => payOrder(tx, paid.id, { by: 'gateway', reason: 'paid' }, now))
  const seen = { accepted: 0, refused: new Set<string>() }

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(body, fc.constantFrom('a', 'b', 'customer')), { minLength: 1, maxLength: 4 }),
      changes,
      async (purchases, changed) => {
        change(shop, changed)
        for (const [sent, who] of purchases) {
          const caller =
            who === 'customer' ? customer : { user: null, addressKey: who, holder: holderOf(who), mailbox: null }
          const quote = await quoteCart(opened, quoteBody.parse(sent), caller, now)
          const before = countWrites(shop)
          const placed = await buy(
            opened,
            { ...(sent.strategy === 'token_handoff' ? handoff : {}), ...sent },
            caller
          ).catch((error: unknown) => error)
          if (placed instanceof AppError) {
            const found = placed.details['problems'] as Problem[]
            expect([quote.payable, quote.problems]).toEqual([false, found])
            expect(countWrites(shop)).toBe(before)
            for (const { code } of found) seen.refused.add(code)
          } else if (placed instanceof Error) {
            throw placed
          } else {
            expect(quote.problems).toEqual([])
            expect(promised(quote)).toEqual(ordered(shop, placed as PlacedOrder))
            seen.accepted += 1
          }
        }
      }
    ),
    longerRuns > 0 ? { numRuns } : { numRuns, seed: 24 }
  )
  expect(seen.accepted).toBeGreaterThan(numRuns / 10)
  expect([...seen.refused].toSorted()).toEqual([
    'already_subscribed',
    'below_minimum',
    'choose_variation',
    'coupon_expired',
    'coupon_minimum',
    'coupon_not_combined',
    'coupon_not_for_cart',
    'coupon_unknown',
    'coupon_used',
    'interval_mixed',
    'login_needed',
    'not_enough',
    'sold_out',
    'unavailable',
    'unknown_product'
  ])
})

const holderOf = (who: string) => ({ buyer: who, isGuest: who !== 'customer', cookieBuyer: null, addressKey: who })

function buy(shop: ShopContext, body: object, caller: QuoteCaller & { holder: Holder }): Promise<PlacedOrder> {
  const input = { body: checkoutBody.parse(body), query: checkoutQuery.parse({}) }
  return placeOrder(shop, input, { ...caller, takeKey: null }, shop.clock.now())
}

function countWrites({ db }: TestShop): unknown {
  return db.sqlite.prepare('SELECT (SELECT count(*) FROM orders) || (SELECT count(*) FROM events)').pluck().get()
}
