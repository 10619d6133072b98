import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { idOf } from '../../src/sandbox/store/ids.ts'
import { compareLedger } from './ledger.ts'
import { MoneyShop } from './money-shop.ts'
import { someMoneyRuns } from './money-matrix.ts'
import { askRefund, stepNames } from './money-steps.ts'

let shop: MoneyShop

beforeAll(() => {
  shop = MoneyShop.open()
})

afterAll(() => shop.close())

/** What the comparison finds after a change of the books, which is taken back. */
function found(change: string): string[] {
  const { sqlite } = shop.app.db
  sqlite.exec('BEGIN')
  try {
    sqlite.exec(change)
    return compareLedger(shop).violations
  } finally {
    sqlite.exec('ROLLBACK')
  }
}

describe('the comparison of the ledger with the books', () => {
  it('finds money that the books miss or invent', async () => {
    const { orderId, subscription } = await shop.subscribe()
    shop.sandbox.renewSubscription(subscription, 'paid')
    await shop.settle()
    await askRefund(shop, orderId, 300)
    await shop.settle()
    expect(compareLedger(shop)).toEqual({ charges: 2, refunds: 1, disputes: 0, violations: [] })
    expect(found(`UPDATE payment_attempts SET outcome = 'failed' WHERE kind = 'invoice'`)).toEqual([
      expect.stringMatching(/^ch_\w+: charged, but no order$/)
    ])
    expect(found(`UPDATE payment_attempts SET payment_intent_id = 'pi_invented' WHERE kind = 'invoice'`)).toContain(
      `order ${orderId + 1} is paid, but was never charged`
    )
    expect(found(`UPDATE orders SET refunded_minor = 0 WHERE id = ${orderId}`)).toEqual([
      `order ${orderId} counts 0 as refunded, but 300 went back`
    ])
    expect(found(`UPDATE refunds SET state = 'requested'`)).toEqual([
      `a refund of order ${orderId} was promised, but never finished`
    ])
    expect(found(`UPDATE refunds SET state = 'failed', gateway_key = 'lost'`)).toContain(
      `a refund of order ${orderId} was given up, but the gateway would make it`
    )
    expect(found(`UPDATE subscriptions SET current_period_end = 0`)).toEqual([
      expect.stringMatching(/^sub_\w+: is paid until .*, but 1970-01-01T00:00:00.000Z in the shop$/)
    ])
    expect(found(`UPDATE subscriptions SET cancelled_at = 1`)).toEqual([
      expect.stringMatching(/^sub_\w+: is active, but has ended in the shop$/)
    ])
  })

  it('finds a warning about a payment of other software, and accepts those of orders that it does not compare', async () => {
    await shop.subscribe()
    const { charges } = shop.sandbox.ledger()
    const { id } = shop.sandbox.openDispute(idOf(charges.at(-1)?.payment_intent) ?? '', { amount: 100 })
    await shop.settle()
    expect(compareLedger(shop, new Set(charges.map((charge) => charge.id))).violations).toEqual([])
    const warning = `'foreign_object', 'ch_other', 'A payment of other software.', 0`
    expect(found(`INSERT INTO payment_warnings (kind, object_id, message, created_at) VALUES (${warning})`)).toEqual([
      'ch_other: an unexpected warning (foreign_object)'
    ])
    shop.sandbox.decideDispute(id, 'won')
    await shop.settle()
  })

  it('finds a dispute without a warning', async () => {
    const { orderId } = await shop.subscribe()
    const { charges } = shop.sandbox.ledger()
    shop.sandbox.openDispute(idOf(charges.at(-1)?.payment_intent) ?? '')
    await shop.settle()
    expect(shop.app.db.sqlite.prepare('SELECT status FROM orders WHERE id = ?').pluck().get(orderId)).toBe('on-hold')
    expect(compareLedger(shop).violations).toEqual([])
    expect(found('DELETE FROM payment_warnings')).toEqual([
      expect.stringMatching(/^dp_\w+: is needs_response, but its warning is not open$/)
    ])
  })
})

it('the short matrix contains every step', () => {
  expect(new Set(someMoneyRuns(1).map(({ step }) => step))).toEqual(new Set(stepNames))
})
