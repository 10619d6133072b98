import { describe, expect, it } from 'vitest'
import { openTill } from '../payments/till.ts'
import { readCatalogFile } from '../../../src/shop/catalog/import/read-file.ts'

const products = [
  { slug: 'sticker', name: 'Sticker', price: '0.40' },
  { slug: 'card', name: 'Card', price: '1.00' }
]
const coupons = [
  { code: 'MOST', percent: 70 },
  { code: 'ALL', percent: 100 }
]

describe("a total below the gateway's minimum charge", () => {
  it('is refused at checkout with its code and the minimum, in both strategies, and creates no order', async () => {
    const till = await openTill({ products, coupons })
    const refused = {
      fieldErrors: { items: ['The total must be at least €0.50 to pay by card.'] },
      problems: [{ path: 'items', code: 'below_minimum', message: expect.any(String), minimum: 0.5 }]
    }
    const orders = till.shop.app.db.sqlite.prepare('SELECT count(*) FROM orders').pluck()
    for (const body of [{}, { items: [{ productId: till.productId('card'), quantity: 1 }], couponCode: 'MOST' }]) {
      const { status, error } = await till.handOff('pm_card_visa', { slug: 'sticker', body })
      expect([status, error.code, error.details]).toEqual([422, 'VALIDATION_FAILED', refused])
    }
    await expect(till.redirect({ slug: 'sticker' })).rejects.toThrow('below_minimum')
    expect(orders.get()).toBe(0)
    await till.close()
  })

  it('is accepted when the total reaches the minimum or is zero', async () => {
    const till = await openTill({ products, coupons })
    const two = await till.handOff('pm_card_visa', { slug: 'sticker', quantity: 2 })
    expect(two.status).toBe(200)
    const free = await till.handOff('pm_card_visa', { slug: 'sticker', body: { couponCode: 'ALL' } })
    expect(free.data.status).toBe('processing')
    await till.close()
  })

  it('can be paid by bank transfer if the shop offers it, and the page offers no card', async () => {
    const till = await openTill({ products, coupons }, { SHOPSTEAD_PAYMENTS: 'sandbox,manual' })
    const answer = await till.shop.visitor().post('/store/checkout-session', {
      items: [{ productId: till.productId('sticker'), quantity: 1 }]
    })
    const page = await (await fetch(String(answer.data.checkoutUrl))).text()
    expect(page).not.toContain('value="card"')
    await till.close()
  })

  it('causes a warning when a catalog file with such a price is imported', () => {
    const { report } = readCatalogFile(JSON.stringify({ products }), { currency: 'EUR', timeZone: 'UTC' })
    expect(report.warnings).toEqual([
      'Products that cost less than the minimum of €0.50 that Stripe charges by card (1): sticker'
    ])
  })
})
