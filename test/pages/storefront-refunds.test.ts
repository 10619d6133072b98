import { expect, it } from 'vitest'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { openQuietTill } from '../shop/payments/till.ts'

const till = await openQuietTill()
const { app } = till.shop
setSetting(app.db, 'storefront.enabled', 'true', app.clock.now())

/** A paid order of a customer, and what the storefront shows them of it. */
async function bought(card: string) {
  const visitor = till.shop.visitor()
  await visitor.register({ email: `${card}@shop.example` })
  const { data } = await till.handOff(card, { visitor, slug: 'mug', quantity: 2 })
  const id = Number(data.orderId)
  const page = async (path: string): Promise<string> => {
    const response = await visitor.fetch(`${till.shop.url}${path}`)
    return (await response.text()).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
  }
  return { id, order: () => page(`/orders/${id}`), list: () => page('/orders') }
}

it('a customer sees on the pages of their orders what was refunded in part, and finds the credit note', async () => {
  const { id, order, list } = await bought('pm_card_visa')
  expect(await order()).toContain('Invoice Invoice 2026-1 ')
  expect(await list()).not.toMatch(/refunded/i)
  await refundOrder(app, id, { items: [{ line: 1, quantity: 1 }] }, 'operator')
  await till.settle()
  const text = await order()
  expect(text).toMatch(/Total €[\d.]+ .*Refunded: 1 × Mug -€12\.50/)
  expect(text).toContain('Paid, being packed, partly refunded')
  expect(text).toMatch(/Invoice 2026-1 Credit note 2026-2|Invoice 2026-1 Credit note/)
  expect(await list()).toContain('Paid, being packed, partly refunded')
  await refundOrder(app, id, { amountMinor: 100 }, 'operator')
  expect(await order()).toMatch(/Refunded: 1 × Mug -€12\.50 Refunded -€1\.00/)
})

it('a customer reads on the page of their order that a refund did not arrive, and what the shop owes them', async () => {
  const { id, order, list } = await bought('pm_card_refundFail')
  await refundOrder(app, id, {}, 'operator')
  for (let round = 0; round < 2; round += 1) {
    till.clock.advance(60_000)
    await till.deliver()
    await till.settle()
  }
  const text = await order()
  expect(text).toMatch(/Your refund did not arrive A refund did not reach you\. The shop still owes you €25\.00/)
  expect(text).not.toContain('This order was refunded')
  expect(await list()).toContain('Refund failed')
})
