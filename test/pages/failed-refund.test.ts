import { expect, it } from 'vitest'
import { getOrder } from '../../src/shop/orders/find.ts'
import { getOrderView } from '../../src/shop/orders/view.ts'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import { shopstead } from '../support/command-line.ts'
import { enableDesk, personAtDesk } from '../support/desk-visitor.ts'
import { openQuietTill } from '../shop/payments/till.ts'

const till = await openQuietTill()

/** An order of a guest, what its page says, and the state of its refund. */
async function bought(card: string) {
  const { data } = await till.handOff(card)
  const id = Number(data.orderId)
  const { db } = till.shop.app
  return {
    id,
    total: getOrderView(db, id).total,
    page: async () => (await fetch(`${till.shop.url}/checkout/done/${getOrder(db, id).publicToken}`)).text(),
    money: () => {
      const { refundState, refundOwed } = getOrderView(db, id)
      return [refundState, refundOwed]
    }
  }
}

it('the page and the API say that a full refund failed at the bank, and what the shop still owes', async () => {
  const { id, total, page, money } = await bought('pm_card_refundFail')
  expect(money()).toEqual(['none', 0])
  await refundOrder(till.shop.app, id, {}, 'operator')
  // The bank's failure, and the webhook about it.
  for (let round = 0; round < 2; round += 1) {
    till.clock.advance(60_000)
    await till.deliver()
    await till.settle()
  }
  expect(getOrder(till.shop.app.db, id).status).toBe('refunded')
  expect(money()).toEqual(['failed', total])
  const html = await page()
  expect(html).toContain('Your refund did not arrive')
  expect(html).toContain(`still owes you €${total.toFixed(2)}`)
  expect(html).not.toContain('This order was refunded')
})

it('the command line and the desk say so, too', async () => {
  const { app, dataDir } = till.shop
  const { id, total } = await bought('pm_card_refundFail')
  await refundOrder(app, id, {}, 'operator')
  for (let round = 0; round < 2; round += 1) {
    till.clock.advance(60_000)
    await till.deliver()
    await till.settle()
  }
  const owed = `€${total.toFixed(2)}`
  const state = `refunded, but ${owed} is still owed`
  expect((await shopstead(dataDir, ['orders', 'show', String(id)])).stdout).toContain(`Order ${id}: ${state}`)
  expect((await shopstead(dataDir, ['orders', 'list'])).stdout).toMatch(new RegExp(`^${id} +${state} `, 'm'))
  enableDesk(app)
  const anna = await personAtDesk(till.shop, 'owner')
  expect((await anna.get('/desk/orders')).html).toContain('Refund failed')
  expect((await anna.get(`/desk/orders/${id}`)).html).toMatch(new RegExp(`Still owed to the buyer[^€]*${owed}`))
})

it('the page and the API say what was given back in part and in full', async () => {
  const { id, total, page, money } = await bought('pm_card_visa')
  await refundOrder(till.shop.app, id, { amountMinor: 100 }, 'operator')
  expect(money()).toEqual(['partial', 0])
  expect(await page()).not.toContain('did not reach you')
  await refundOrder(till.shop.app, id, {}, 'operator')
  expect([money(), total > 1]).toEqual([['done', 0], true])
  expect(await page()).toContain('This order was refunded')
})
