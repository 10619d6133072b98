import { createConnection } from 'mysql2/promise'
import { afterAll, describe, expect, it } from 'vitest'
import { importWordPress } from '../../../src/operations/moving-in/wordpress/import-wordpress.ts'
import { loadDump } from '../../../src/operations/moving-in/wordpress/dump.ts'
import { openWordPress } from '../../../src/operations/moving-in/wordpress/database.ts'
import { finishSubscriptions } from '../../../src/operations/moving-in/wordpress/subscriptions.ts'
import { subscriptions } from '../../../src/shop/benefits/schema.ts'
import { mails } from '../../../src/shop/mail/schema.ts'
import { itemsOf } from '../../../src/shop/orders/find.ts'
import { orders } from '../../../src/shop/orders/schema.ts'
import { openTill } from '../../shop/payments/till.ts'
import { dumpOf, expectedOf } from './old-shop.ts'

const till = await openTill({ products: [] })
const { app } = till.shop
afterAll(() => till.close())
const onStep = () => undefined
const expected = expectedOf('a1')
const minorOf = (text: string): number => Math.round(Number(text) * 100)
const at = (utc: string): number => Date.parse(`${utc.replace(' ', 'T')}Z`)
const running = expected.subscriptions.filter(({ status }) => status === 'active')

/** Customers and cards at the sandbox, which the subscriptions of the old shop name from now on. */
async function givePaymentMethods(url: string, ids: readonly number[]): Promise<void> {
  const connection = await createConnection(url)
  const set = async (id: number, key: string, value: string) => {
    const sql = 'UPDATE wp_postmeta SET meta_value = ? WHERE post_id = ? AND meta_key = ?'
    await connection.query(sql, [value, id, key])
  }
  for (const id of ids) {
    await set(id, '_stripe_customer_id', (await till.stripe.customers.create({})).id)
    const method = await till.stripe.paymentMethods.create({ type: 'card', card: { token: 'tok_visa' } })
    await set(id, '_stripe_source_id', method.id)
  }
  await connection.end()
}

const orderOf = (id: number): number =>
  Number(
    app.db.sqlite
      .prepare("SELECT target_id FROM moved_rows WHERE kind = 'subscription' AND source_id = ?")
      .pluck()
      .get(String(id))
  )
const renewalsOf = (id: number) =>
  app.db.orm
    .select()
    .from(orders)
    .all()
    .filter(({ renewalOf }) => renewalOf === orderOf(id))

describe('the subscriptions of WooCommerce', { timeout: 300_000 }, () => {
  it('move in with their states and dates, and Stripe renews the running ones on their old dates', async () => {
    await using dump = await loadDump(dumpOf('a1'))
    const possible = running.filter(({ period }) => period !== 'week').map(({ id }) => id)
    const gone = possible.at(-1) ?? 0
    await givePaymentMethods(dump.url, possible.slice(0, -1))
    till.clock.set(at('2026-11-20 18:30:00'))
    const source = await openWordPress(dump.url)
    await importWordPress(app, source, { isDryRun: false, onStep })

    const states = app.db.orm.select().from(subscriptions).all()
    for (const { id, status, nextPaymentGmt, endGmt } of expected.subscriptions) {
      const row = states.find(({ orderId }) => orderId === orderOf(id))
      // Never paid, in the trash, and a rhythm that does not exist here.
      if (['pending', 'trash'].includes(status) || [251, 338].includes(id)) expect(row).toBeUndefined()
      else
        expect(row).toMatchObject({
          currentPeriodEnd: at(nextPaymentGmt || String(endGmt)),
          cancelAtPeriodEnd: status === 'pending-cancel',
          gatewayId: null
        })
    }

    const planned = await finishSubscriptions(app, source, { isDryRun: true, onStep })
    expect(planned.map(({ id, amount, state }) => [Number(id), minorOf(amount), state])).toEqual(
      running.map(({ id, total, period }) => [id, minorOf(total), period === 'week' ? 'impossible' : 'planned'])
    )
    expect((await till.stripe.subscriptions.list({ limit: 100 })).data).toEqual([])

    const done = await finishSubscriptions(app, source, { isDryRun: false, onStep })
    const stateOf = new Map(done.map(({ id, state, why }) => [Number(id), [state, why]]))
    expect(stateOf.get(gone)).toEqual(['impossible', expect.stringContaining('Stripe refused it')])
    const taken = possible.filter((id) => id !== gone)
    expect(taken.length).toBeGreaterThanOrEqual(5)
    for (const id of taken) expect(stateOf.get(id)).toEqual(['done', null])
    // A second run takes nothing over twice.
    const again = await finishSubscriptions(app, source, { isDryRun: false, onStep })
    expect(again.filter(({ state }) => state === 'before').map(({ id }) => Number(id))).toEqual(taken)
    expect((await till.stripe.subscriptions.list({ limit: 100 })).data).toHaveLength(taken.length)
    await source.close()

    const due = running
      .filter(({ id }) => taken.includes(id))
      .map(({ id, nextPaymentGmt, total, lines }) => ({ id, at: at(nextPaymentGmt), total: minorOf(total), lines }))
      .toSorted((a, b) => a.at - b.at)
    for (const { id, at: dueAt, total, lines } of due) {
      // One was due when the old shop was switched off. It is charged an hour later.
      const chargedAt = Math.max(dueAt, at('2026-11-20 19:30:00'))
      till.clock.set(chargedAt - 60_000)
      await till.stripe.balance.retrieve()
      await till.deliver()
      expect(renewalsOf(id)).toEqual([])
      till.clock.set(chargedAt + 1000)
      await till.stripe.balance.retrieve()
      await till.deliver()
      await till.settle()
      const [renewal] = renewalsOf(id)
      expect(renewal).toMatchObject({ totalMinor: total, status: expect.stringMatching(/processing|completed/) })
      expect(itemsOf(app.db, renewal?.id ?? 0).map(({ quantity }) => quantity)).toEqual(
        lines.map(({ quantity }) => quantity)
      )
      const row = app.db.orm
        .select()
        .from(subscriptions)
        .all()
        .find(({ orderId }) => orderId === orderOf(id))
      expect(row?.currentPeriodEnd).toBeGreaterThan(chargedAt + 27 * 86_400_000)
    }
    const sent = app.db.orm.select().from(mails).all()
    expect(new Set(sent.map(({ template }) => template))).toEqual(new Set(['order_receipt']))
  })
})
