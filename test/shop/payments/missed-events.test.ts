import { beforeEach, describe, expect, it } from 'vitest'
import { idOf } from '../../../src/shop/payments/gateway-state.ts'
import { applyMissedEvents } from '../../../src/shop/payments/webhook.ts'
import type { EventCursor } from '../../../src/shop/payments/webhook.ts'
import { openQuietTill } from './till.ts'

const minute = 60_000
const day = 24 * 60 * minute

const till = await openQuietTill()
beforeEach(() => {
  till.shop.app.db.sqlite.exec('DELETE FROM webhook_inbox')
  // Nothing of the test before is looked back at.
  till.clock.advance(40 * day)
})

const catchUp = (cursor: EventCursor) => applyMissedEvents(till.shop.app, till.stripe, cursor)
const statusOf = (id: number) => till.order(id).status

/** A paid order that was refunded in the gateway's dashboard, and whose webhook was lost. */
async function refundedUnheard(): Promise<number> {
  const { data } = await till.handOff('pm_card_visa')
  const id = Number(data.orderId)
  await till.stripe.refunds.create({ payment_intent: till.attempt(id).objectId ?? '' })
  return id
}

describe('the first list of events', () => {
  it('goes back three days', async () => {
    const older = await refundedUnheard()
    till.clock.advance(2_000)
    const newer = await refundedUnheard()
    till.clock.advance(3 * day - 1_000)
    const cursor: EventCursor = { since: null }
    const { applied, failed } = await catchUp(cursor)
    expect([statusOf(older), statusOf(newer)]).toEqual(['processing', 'refunded'])
    expect([applied > 0, failed]).toEqual([true, 0])
    expect(cursor.since).toBe(till.clock.now() - 10 * minute)
  })

  it('goes back to the newest known event and ten minutes more, if that is longer', async () => {
    const before = await refundedUnheard()
    till.clock.advance(9 * minute)
    const meanwhile = await refundedUnheard()
    till.clock.advance(2 * minute)
    till.shop.app.db.sqlite
      .prepare("INSERT INTO webhook_inbox VALUES ('evt_known', 'refund.created', null, 'applied', ?, ?)")
      .run(till.clock.now(), till.clock.now())
    till.clock.advance(20 * day)
    await catchUp({ since: null })
    expect([before, meanwhile].map(statusOf)).toEqual(['processing', 'refunded'])
  })
})

describe('the first list after the shop was closed for longer than Stripe delivers events', () => {
  it('goes back to the time before, even when newer webhooks arrive first', async () => {
    const known = (id: string): void =>
      void till.shop.app.db.sqlite
        .prepare("INSERT INTO webhook_inbox VALUES (?, 'refund.created', null, 'applied', ?, ?)")
        .run(id, till.clock.now(), till.clock.now())
    known('evt_before')
    till.clock.advance(day)
    const unheard = await refundedUnheard()
    till.clock.advance(5 * day)
    known('evt_after')
    till.clock.advance(minute)
    await catchUp({ since: null })
    expect(statusOf(unheard)).toBe('refunded')
  })
})

describe('a later list of events', () => {
  it('starts where the last one ended', async () => {
    const earlier = await refundedUnheard()
    till.clock.advance(minute)
    const since = till.clock.now()
    const later = await refundedUnheard()
    till.clock.advance(day)
    await catchUp({ since })
    expect([statusOf(earlier), statusOf(later)]).toEqual(['processing', 'refunded'])
  })

  it('starts at most ten minutes ago after a list with a clock that was ahead', async () => {
    const id = await refundedUnheard()
    till.clock.advance(9 * minute)
    const cursor = { since: till.clock.now() + day }
    await catchUp(cursor)
    expect(statusOf(id)).toBe('refunded')
    expect(cursor.since).toBe(till.clock.now() - 10 * minute)
  })

  it('goes back at most thirty days', async () => {
    const gone = await refundedUnheard()
    till.clock.advance(2_000)
    const kept = await refundedUnheard()
    till.clock.advance(30 * day - 1_000)
    await catchUp({ since: 0 })
    expect([statusOf(gone), statusOf(kept)]).toEqual(['processing', 'refunded'])
  })

  it('applies the oldest event first, and counts what it applied', async () => {
    const { id, sessionId } = await till.redirect()
    await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
    till.clock.advance(minute)
    const { payment_intent: intent } = await till.stripe.checkout.sessions.retrieve(sessionId)
    await till.stripe.refunds.create({ payment_intent: idOf(intent) ?? '' })
    const { applied } = await catchUp({ since: till.clock.now() - day })
    expect(statusOf(id)).toBe('refunded')
    const events = till.shop.app.db.sqlite
      .prepare<[], { at: number; outcome: string }>('SELECT event_created_at AS at, outcome FROM webhook_inbox')
      .all()
    const times = events.map(({ at }) => at)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect(applied).toBe(events.filter(({ outcome }) => outcome === 'applied').length)
    expect(await catchUp({ since: till.clock.now() - day })).toEqual({ applied: 0, failed: 0 })
  })

  it('lists an event again that could not be applied, and logs it', async () => {
    const id = await refundedUnheard()
    const at = Math.floor(till.clock.now() / 1000) * 1000
    till.clock.advance(day)
    const cursor = { since: at - minute }
    till.sandbox.addFault({ target: 'refunds.list', fault: '500', times: -1 })
    const { failed } = await catchUp(cursor)
    expect(failed).toBeGreaterThan(0)
    expect(cursor.since).toBe(at)
    expect(till.logged).toHaveLength(failed)
    expect(till.logged[0]?.fields).toEqual({
      event: expect.stringMatching(/^evt_/),
      type: expect.stringMatching(/refund/),
      error: expect.anything()
    })
    till.sandbox.clearFaults()
    await catchUp(cursor)
    expect(statusOf(id)).toBe('refunded')
  })
})
