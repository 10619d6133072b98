import { deepEqual, equal, ok } from 'node:assert/strict'
import { planPayouts } from '../../../src/shop/payouts/plan.ts'
import { balanceOf } from '../../../src/shop/referrals/ledger.ts'
import { wrongTotals } from '../../support/wrong-totals.ts'
import { dayMs } from './support.ts'
import { YearShop, firstDay } from './year-shop.ts'

/**
 * Lives through a year of ten affiliates: random orders, fraud, refunds that fail, disputes, renewals, payouts that come
 * back, restores, erasures and decisions, by the shop's own functions on a database on disk. A ledger of its own in BigInt
 * follows each event. On every day, for every affiliate: commissions less reversals are what was paid, and is due, less the
 * debts; and no case of fraud has earned anything.
 *
 * @param folder an empty folder for the shop
 */
export async function liveAffiliateYear(seed: number, folder: string, days = 365): Promise<Record<string, number>> {
  const shop = new YearShop(seed, folder)
  const counts = new Map<string, number>()
  const latest: string[] = []
  try {
    for (let day = 0; day < days; day += 1) {
      shop.now = firstDay + day * dayMs
      for (let left = shop.dice.between(0, 3); left > 0; left -= 1) {
        shop.now += 1000
        const [name, , act] = chooseEvent(shop)
        latest.push(name)
        if ((await act(shop)) !== false) counts.set(name, (counts.get(name) ?? 0) + 1)
      }
      check(shop, day)
    }
    return Object.fromEntries(counts)
  } catch (error) {
    const events = `after ${latest.slice(-8).join(', ')}`
    throw new Error(`seed ${seed}, ${new Date(shop.now).toISOString()}, ${events}`, { cause: error })
  } finally {
    shop.db.sqlite.close()
  }
}

function chooseEvent({ dice }: YearShop): Event {
  let left = dice.between(
    1,
    events.reduce((sum, [, weight]) => sum + weight, 0)
  )
  return events.find(([, weight]) => (left -= weight) <= 0) ?? ['order', 1, (shop) => shop.buy()]
}

const earnedByOrder = `
  SELECT r.order_id AS id, sum(e.amount_minor) AS minor FROM commission_entries e JOIN referrals r ON r.id = e.referral_id
  WHERE e.kind <> 'paid_out' GROUP BY 1`

function check({ db, ledger, now }: YearShop, day: number): void {
  const plans = planPayouts(db, now)
  for (const { id, successorId } of ledger.affiliates.values()) {
    if (successorId !== null) continue
    const balance = balanceOf(db, id)
    const [paidMinor, openMinor] = [BigInt(balance.paidMinor), BigInt(balance.unpaidMinor)]
    // Commissions less reversals, by the ledger's own sums, are what was paid and is due, less the debts.
    equal(ledger.earned(id), paidMinor + openMinor, `affiliate ${id}`)
    equal(ledger.paid(id), paidMinor, `what affiliate ${id} was paid`)
    const plan = plans.find(({ affiliateId }) => affiliateId === id)
    const { earnedMinor, setOffMinor, heldMinor } = plan ?? { earnedMinor: 0, setOffMinor: 0, heldMinor: 0 }
    equal(BigInt(earnedMinor + setOffMinor + heldMinor), openMinor, `the plan of affiliate ${id}`)
    ok(setOffMinor <= 0 && earnedMinor >= 0)
    equal(BigInt(earnedMinor + setOffMinor), ledger.dueOf(id, now), `what is due to affiliate ${id}`)
  }
  const rows = db.sqlite.prepare<[], { id: number; minor: number }>(earnedByOrder).all()
  const earnings = new Map(rows.map(({ id, minor }) => [id, BigInt(minor)]))
  for (const order of ledger.orders.values()) {
    equal(earnings.get(order.id) ?? 0n, ledger.earnedFor(order), `the commission of order ${order.id}`)
    if (order.isFraud) equal(earnings.get(order.id) ?? 0n, 0n, `the fraud of order ${order.id}`)
  }
  if (day % 30 === 0) deepEqual(wrongTotals(db.sqlite), [])
}

type Event = readonly [name: string, weight: number, act: (shop: YearShop) => void | false | Promise<void | false>]

/** Each event, how often it is chosen, and what it does. */
const events: readonly Event[] = [
  ['order', 30, (shop) => shop.buy()],
  ['payment', 30, (shop) => shop.pay()],
  ['missed order', 3, (shop) => shop.creditMissed()],
  ['failed payment', 4, (shop) => shop.fail()],
  ['cancellation', 3, (shop) => shop.cancel()],
  ['refund', 12, (shop) => shop.refund()],
  ['failed refund', 6, (shop) => shop.failRefund()],
  ['kept money', 2, (shop) => shop.keepMoney()],
  ['dispute', 4, (shop) => shop.dispute()],
  ['end of a dispute', 4, (shop) => shop.endDispute()],
  ['renewal', 8, (shop) => shop.renew()],
  ['decision', 8, (shop) => shop.decide()],
  ['bonus', 3, (shop) => shop.bonus()],
  ['rate', 1, (shop) => shop.changeRate()],
  ['caps', 2, (shop) => shop.changeCaps()],
  ['own rate', 2, (shop) => shop.changeOwnRate()],
  ['payout', 10, (shop) => shop.payOut()],
  ['failed payout', 4, (shop) => shop.failPayout()],
  ['erasure', 1, (shop) => shop.erase()],
  ['return', 1, (shop) => shop.comeBack()],
  ['verification', 1, (shop) => shop.verify()],
  ['deactivation', 2, (shop) => shop.deactivate()],
  ['backup', 2, (shop) => shop.backUp()],
  ['restore', 1, (shop) => shop.restore()]
]
