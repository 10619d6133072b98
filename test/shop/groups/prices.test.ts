import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { grantByHand } from '../../../src/shop/benefits/operator-grants.ts'
import { applyPlans } from '../../../src/shop/benefits/plans.ts'
import { createSale } from '../../../src/shop/catalog/manage/sales.ts'
import { productBySlug, variationsOfProduct } from '../../../src/shop/catalog/stored-product.ts'
import { placeOrder } from '../../../src/shop/checkout/checkout.ts'
import { checkoutBody, checkoutQuery, quoteBody } from '../../../src/shop/checkout/input.ts'
import { createPhoneOrder } from '../../../src/shop/checkout/phone-order.ts'
import { quoteCart } from '../../../src/shop/checkout/quote.ts'
import { changeOrder } from '../../../src/shop/corrections/change-order.ts'
import { erasePerson } from '../../../src/shop/customers/erase-person.ts'
import { exportPerson } from '../../../src/shop/customers/export-person.ts'
import { createGroup, setGroup } from '../../../src/shop/groups/groups.ts'
import { addMembers, groupsOf } from '../../../src/shop/groups/members.ts'
import { setGroupPrice } from '../../../src/shop/groups/price-lists.ts'
import type { CardGateway } from '../../../src/shop/context.ts'
import { buyerPrices } from '../../../src/shop/groups/prices.ts'
import { getOrder, itemsOf } from '../../../src/shop/orders/find.ts'
import { recurringOfOrder } from '../../../src/shop/orders/renewal-order.ts'
import { payOrder } from '../../../src/shop/orders/transition.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { quay } from '../../support/addresses.ts'
import { openTestShop } from '../../support/shop-context.ts'
import { apply } from '../catalog/support.ts'
import { makeUser } from '../orders/support.ts'

const seed = {
  products: [
    { slug: 'mug', name: 'Mug', price: '12.50', type: 'digital' },
    { slug: 'bowl', name: 'Bowl', price: '10.00', type: 'digital' },
    {
      slug: 'shirt',
      name: 'Shirt',
      price: '20.00',
      variations: [
        { sku: 'S', name: 'Small', price: '19.99' },
        { sku: 'L', name: 'Large', price: '21.00' }
      ]
    },
    {
      slug: 'club',
      name: 'Club',
      price: '8.00',
      type: 'digital',
      grants: [{ kind: 'subscription', interval: 'month' }]
    },
    { slug: 'card', name: 'Gift card', price: '50.00', type: 'gift_card' }
  ],
  coupons: [{ code: 'TENTH', percent: 10 }]
}

const cards: CardGateway = {
  name: 'sandbox',
  livemode: false,
  webhookSecret: undefined,
  client: () => Promise.reject(new Error('the gateway was asked'))
}

function openShop() {
  const shop = { ...openTestShop(), cards }
  apply(shop.db, seed)
  const now = shop.clock.now()
  for (const bucket of ['checkout_ip', 'coupon_failure'] as const) setSetting(shop.db, `limits.${bucket}`, 'off', now)
  const lena = makeUser(shop.db, 'lena@shop.example')
  return { shop, db: shop.db, now, lena }
}

type Opened = ReturnType<typeof openShop>

const callerOf = (user: Opened['lena'] | null) => {
  const who = user === null ? 'guest' : `user:${user.id}`
  const holder = { buyer: who, isGuest: user === null, cookieBuyer: null, addressKey: who }
  return { user, holder, mailbox: null, addressKey: who }
}

const idsOf = ({ db }: Opened, slug: string, sku?: string) => {
  const product = productBySlug(db, slug)
  if (product === undefined) throw new Error(slug)
  const variation = variationsOfProduct(db, product.id).find((each) => each.sku === sku)
  return { product, variation: variation ?? null }
}

function priceFor(opened: Opened, slug: string, sku?: string, at = opened.now) {
  const { product, variation } = idsOf(opened, slug, sku)
  const { unitPriceMinor, originalMinor, group } = buyerPrices(opened.db, opened.lena.id, at)(product, variation)
  return [unitPriceMinor, originalMinor, group?.slug ?? null]
}

function item(opened: Opened, slug: string, sku?: string, quantity = 1) {
  const { product, variation } = idsOf(opened, slug, sku)
  return { productId: product.id, quantity, ...(variation === null ? {} : { variationId: variation.id }) }
}

const quote = ({ shop, now }: Opened, body: object, user: Opened['lena'] | null) =>
  quoteCart(shop, quoteBody.parse({ shippingAddress: quay, ...body }), callerOf(user), now)

const buy = async ({ shop, now }: Opened, body: object, user: Opened['lena'] | null) => {
  const input = { body: checkoutBody.parse({ shippingAddress: quay, ...body }), query: checkoutQuery.parse({}) }
  return (await placeOrder(shop, input, { ...callerOf(user), takeKey: null }, now)).order
}

describe('the price of a group', () => {
  it('is its percentage off the regular price, and less only where the price list says so', () => {
    const opened = openShop()
    using _closed = opened.shop
    const { db, now, lena } = opened
    createGroup(db, { slug: 'wholesale', percent: 30 }, now)
    expect(priceFor(opened, 'mug')).toEqual([1250, null, null])
    addMembers(db, 'wholesale', [lena.email], now)
    expect(priceFor(opened, 'mug')).toEqual([875, null, 'wholesale'])
    expect(priceFor(opened, 'shirt', 'S')).toEqual([1399, null, 'wholesale'])
    setGroupPrice(db, 'wholesale', { slug: 'shirt', sku: null, price: '15' })
    setGroupPrice(db, 'wholesale', { slug: 'shirt', sku: 'L', price: '16.40 EUR' })
    expect(priceFor(opened, 'shirt', 'S')).toEqual([1500, null, 'wholesale'])
    expect(priceFor(opened, 'shirt', 'L')).toEqual([1640, null, 'wholesale'])
    setGroupPrice(db, 'wholesale', { slug: 'mug', sku: null, price: '99' })
    expect(priceFor(opened, 'mug')).toEqual([1250, null, null])
    setGroupPrice(db, 'wholesale', { slug: 'mug', sku: null, price: null })
    expect(priceFor(opened, 'mug')).toEqual([875, null, 'wholesale'])
    expect(priceFor(opened, 'card')).toEqual([5000, null, null])
  })

  it('gives way to a sale that is lower, which keeps its price to strike out, and does not add up with it', () => {
    const opened = openShop()
    using _closed = opened.shop
    const { db, now, lena } = opened
    createGroup(db, { slug: 'wholesale', percent: 30 }, now)
    addMembers(db, 'wholesale', [lena.email], now)
    createSale(db, { name: 'A', percent: 20, slugs: ['mug'], to: '2026-03-01' }, now)
    createSale(db, { name: 'B', percent: 40, slugs: ['bowl'], to: '2026-03-01' }, now)
    expect(priceFor(opened, 'mug')).toEqual([875, null, 'wholesale'])
    expect(priceFor(opened, 'bowl')).toEqual([600, 1000, null])
  })

  it('is the lowest of several groups, and ends with the membership that gave it', () => {
    const opened = openShop()
    using _closed = opened.shop
    const { db, now, lena } = opened
    write(db, (tx) => applyPlans(tx, [{ slug: 'circle', name: 'Circle', module: 'A', rank: 1, pro: false }]))
    createGroup(db, { slug: 'wholesale', percent: 10 }, now)
    createGroup(db, { slug: 'members', name: 'Members', percent: 25, membership: 'circle' }, now)
    addMembers(db, 'wholesale', [String(lena.id)], now)
    expect(priceFor(opened, 'bowl')).toEqual([900, null, 'wholesale'])
    grantByHand(db, lena.id, { kind: 'membership', plan: 'circle', period: 'P1M' }, now)
    expect(priceFor(opened, 'bowl')).toEqual([750, null, 'members'])
    expect(priceFor(opened, 'bowl', undefined, now + 40 * 86_400_000)).toEqual([900, null, 'wholesale'])
    expect(exportPerson(db, lena, now).groups).toEqual(['wholesale', 'Members'])
    erasePerson(db, lena.id, now)
    expect(groupsOf(db, lena.id, now).map(({ slug }) => slug)).not.toContain('wholesale')
  })
})

describe('a buyer of a group', () => {
  it('pays its price in the quote, at the checkout and by phone; a guest with the same email does not', async () => {
    const opened = openShop()
    using _closed = opened.shop
    const { shop, db, now, lena } = opened
    createGroup(db, { slug: 'wholesale', percent: 30 }, now)
    addMembers(db, 'wholesale', [lena.email], now)
    const items = [item(opened, 'mug', undefined, 2), item(opened, 'shirt', 'L')]
    const customer = { email: lena.email }
    expect(await quote(opened, { items, customer }, lena)).toMatchObject({ total: 17.5 + 14.7 })
    expect(await quote(opened, { items, customer }, null)).toMatchObject({ total: 25 + 21 })
    expect(await buy(opened, { items }, lena)).toMatchObject({ totalMinor: 3220 })
    expect(await buy(opened, { items, customer }, null)).toMatchObject({ totalMinor: 4600 })
    const phone = { body: checkoutBody.parse({ items }), email: lena.email, holdMinutes: 60, mailed: false, ref: null }
    expect(createPhoneOrder(shop, phone, now).order).toMatchObject({ totalMinor: 3220 })
    expect(await quote(opened, { items: [{ productId: items[1]?.productId, quantity: 1 }] }, lena)).toMatchObject({
      problems: [{ choices: [{ price: 13.99 }, { price: 14.7 }] }]
    })
  })

  it('pays coupons on top, and renews a subscription at the price at which it began', async () => {
    const opened = openShop()
    using _closed = opened.shop
    const { db, now, lena } = opened
    createGroup(db, { slug: 'wholesale', percent: 30 }, now)
    addMembers(db, 'wholesale', [lena.email], now)
    const items = [item(opened, 'mug')]
    expect(await quote(opened, { items, couponCodes: ['TENTH'] }, lena)).toMatchObject({ discount: 0.88, total: 7.87 })
    const { id } = await buy(opened, { items: [item(opened, 'club')] }, lena)
    setGroup(db, 'wholesale', { percent: null })
    expect(recurringOfOrder(db, getOrder(db, id))?.totals.totalMinor).toBe(560)
  })

  it('pays its price for what is added to an order, before and after it is paid', async () => {
    const opened = openShop()
    using _closed = opened.shop
    const { shop, db, now, lena } = opened
    createGroup(db, { slug: 'wholesale', percent: 30 }, now)
    addMembers(db, 'wholesale', [lena.email], now)
    const { id } = await buy(opened, { items: [item(opened, 'shirt', 'S')] }, lena)
    const edit = { buyer: {}, lines: [], add: [item(opened, 'mug')], holdMinutes: 60 }
    await changeOrder(shop, id, edit, 'operator')
    expect(itemsOf(db, id).map((line) => line.unitPriceMinor)).toEqual([1399, 875])
    write(db, (tx) => payOrder(tx, id, { by: 'gateway', reason: 'paid' }, now))
    const exchange = { lines: [{ line: 1, quantity: 0 }], add: [item(opened, 'shirt', 'L')] }
    const { addition, dueMinor } = await changeOrder(shop, id, { ...edit, ...exchange }, 'operator')
    expect([addition?.totalMinor, dueMinor]).toEqual([1470, 71])
  })

  it('has one price everywhere, the lowest by another calculation, whatever the sales, lists and groups', async () => {
    const opened = openShop()
    using _closed = opened.shop
    const { db, now, lena } = opened
    db.sqlite.pragma('synchronous = OFF')
    for (const slug of ['a', 'b']) {
      createGroup(db, { slug, percent: 50 }, now)
      addMembers(db, slug, [lena.email], now)
    }
    const price = fc.option(fc.integer({ min: 0, max: 3000 }), { nil: null })
    const group = fc.record({
      percent: fc.option(fc.integer({ min: 1, max: 10_000 }), { nil: null }),
      mug: price,
      shirt: price,
      large: price
    })
    const anyShop = fc.record({
      groups: fc.tuple(group, group),
      regular: fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 2, maxLength: 2 }),
      sale: price,
      quantity: fc.integer({ min: 1, max: 9 })
    })
    const decimal = (minor: number | null) => (minor === null ? null : (minor / 100).toFixed(2))
    await fc.assert(
      fc.asyncProperty(anyShop, async ({ groups, regular: [mug = 0, large = 0], sale, quantity }) => {
        db.sqlite.exec("UPDATE orders SET status = 'cancelled' WHERE paid_at IS NULL")
        db.sqlite.prepare("UPDATE products SET price_minor = ?, sale_price_minor = ? WHERE slug = 'mug'").run(mug, sale)
        db.sqlite.prepare("UPDATE variations SET price_minor = ? WHERE sku = 'L'").run(large)
        for (const [index, each] of groups.entries()) {
          const slug = index === 0 ? 'a' : 'b'
          setGroup(db, slug, { percent: each.percent === null ? null : each.percent / 100 })
          setGroupPrice(db, slug, { slug: 'mug', sku: null, price: decimal(each.mug) })
          setGroupPrice(db, slug, { slug: 'shirt', sku: null, price: decimal(each.shirt) })
          setGroupPrice(db, slug, { slug: 'shirt', sku: 'L', price: decimal(each.large) })
        }
        const less = (minor: number, percent: number | null) => {
          if (percent === null || minor === 0) return minor
          const exact = Math.floor((minor * (10_000 - percent) + 5000) / 10_000)
          return percent === 10_000 ? 0 : Math.max(1, exact)
        }
        const wanted = [
          Math.min(mug, sale ?? mug, ...groups.map((each) => each.mug ?? less(mug, each.percent))),
          Math.min(large, ...groups.map((each) => each.large ?? each.shirt ?? less(large, each.percent)))
        ]
        const total = wanted.reduce((sum, minor) => sum + minor * quantity, 0)
        const items = [item(opened, 'mug', undefined, quantity), item(opened, 'shirt', 'L', quantity)]
        const quoted = await quote(opened, { items }, lena)
        expect(quoted.lines.map((line) => Math.round((line.unitPrice ?? 0) * 100))).toEqual(wanted)
        expect(Math.round(quoted.total * 100)).toBe(total)
        if (!quoted.payable) return
        const order = await buy(opened, { items }, lena)
        expect(order.totalMinor).toBe(total)
        expect(itemsOf(db, order.id).map((line) => line.unitPriceMinor)).toEqual(wanted)
      }),
      { numRuns: 150, seed: 40 }
    )
  })
})
