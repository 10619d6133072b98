import { afterAll, beforeAll, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { addEntry, getCard } from '../../src/shop/gift-cards/cards.ts'
import { issueByOperator } from '../../src/shop/gift-cards/issue.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({
    seed: {
      products: [{ slug: 'file', name: 'File', price: 30, type: 'digital' }],
      coupons: [{ code: 'TEN', percent: 10 }]
    }
  })
  setSetting(shop.app.db, 'storefront.enabled', 'true', Date.now())
})
afterAll(() => shop.stop())

/** The cart of a browser without script, which sends its form. */
function cart() {
  const buyer = shop.visitor()
  return async (fields: Record<string, string>) => {
    const response = await buyer.form(`${shop.url}/cart`, fields)
    return { status: response.status, location: response.headers.get('location'), text: await response.text() }
  }
}

const issue = (amount: number) => issueByOperator(shop.app.db, { amount, reason: 'test' }, shop.app.clock.now())

it('takes a gift card beside a coupon in the field for codes, and shows what is left to pay', async () => {
  const { card, code } = issue(20)
  const send = cart()
  await send({ slug: 'file', quantity: '1' })
  const shown = (await send({ update: '1', couponCode: `TEN ${code.toLowerCase()}` })).text
  expect(shown).toMatch(
    new RegExp(`€27\\.00[\\s\\S]*Gift card …${card.lastFour}[\\s\\S]*€20\\.00[\\s\\S]*To pay[\\s\\S]*€7\\.00`)
  )
  const paid = await send({ pay: '1', couponCode: `TEN ${code}`, email: 'ada@example.com', total: '27' })
  expect([paid.status, paid.location]).toEqual([303, expect.stringContaining('/checkout/')])
  expect(getCard(shop.app.db, card.id).heldMinor).toBe(2000)
})

it('is paid at once by a gift card with enough on it', async () => {
  const { card, code } = issue(50)
  const send = cart()
  await send({ slug: 'file', quantity: '1' })
  const paid = await send({ pay: '1', couponCode: code, email: 'ada@example.com', total: '30' })
  expect([paid.status, paid.location]).toEqual([303, expect.stringContaining('/thanks')])
  expect(getCard(shop.app.db, card.id)).toMatchObject({ balanceMinor: 2000, heldMinor: 0 })
})

it('says above its button what the gift card leaves to pay, and asks again if that is more by now', async () => {
  setSetting(shop.app.db, 'law.eu', 'on', Date.now())
  const { card, code } = issue(20)
  const send = cart()
  await send({ slug: 'file', quantity: '1' })
  const shown = (await send({ update: '1', couponCode: code })).text
  expect(shown).toContain('You pay €10.00 now.')
  expect(shown).toContain('name="total" value="10"')
  const used = { giftCardId: card.id, kind: 'used', amountMinor: -500, orderId: null, by: 'test' } as const
  write(shop.app.db, (tx) => addEntry(tx, used, shop.app.clock.now()))
  const fields = { couponCode: code, email: 'ada@example.com', total: '10' }
  const refused = await send({ ...fields, pay: '1' })
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('€15.00')])
  setSetting(shop.app.db, 'law.eu', 'auto', Date.now())
})

it('says at the field that a gift card does not exist, and sends the code once', async () => {
  const send = cart()
  await send({ slug: 'file', quantity: '1' })
  const refused = await send({ update: '1', couponCode: '0123-4567-89ABC-DEFGH-JKMN-PQRS' })
  expect(refused.text).toContain('There is no gift card with this code.')
  expect(refused.text).toContain('name="pay"')
})
