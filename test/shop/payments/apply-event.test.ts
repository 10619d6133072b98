import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import type { LogFields } from '../../../src/platform/log.ts'
import { applyEvent, dropOldEvents } from '../../../src/shop/payments/webhook.ts'
import { readEvent } from '../../../src/shop/payments/gateway-state.ts'
import { webhookInbox } from '../../../src/shop/payments/schema.ts'
import { eventOf, openTill } from './till.ts'
import type { Till } from './till.ts'

let till: Till
beforeAll(async () => {
  till = await openTill()
  till.loseWebhooks()
})
afterAll(() => till.close())

const logged: { message: string; fields: LogFields }[] = []
const info = (message: string, fields: LogFields = {}) => void logged.push({ message, fields })
const apply = (event: object) => {
  const { app } = till.shop
  return applyEvent({ ...app, log: { ...app.log, info } }, till.stripe, readEvent(event), 'reconciler')
}
const inbox = () => till.shop.app.db.orm.select().from(webhookInbox).all()
const kept = (eventId: string) => inbox().filter((row) => row.eventId === eventId)

async function paidPage() {
  const { id, sessionId } = await till.redirect()
  await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
  return { id, sessionId, event: eventOf('checkout.session.completed', { id: sessionId }) }
}

describe('an event', () => {
  it('is applied once, and is known when it is delivered again', async () => {
    const { id, sessionId, event } = await paidPage()
    till.clock.advance(5_000)
    expect(await apply(event)).toBe('applied')
    expect(till.order(id).status).toBe('processing')
    expect(await apply(event)).toBe('known')
    expect(kept(event.id)).toEqual([
      {
        eventId: event.id,
        type: 'checkout.session.completed',
        objectId: sessionId,
        outcome: 'applied',
        eventCreatedAt: Date.UTC(2026, 0, 15, 12),
        appliedAt: till.clock.now()
      }
    ])
  })

  it('is applied by one of two concurrent deliveries', async () => {
    const { event } = await paidPage()
    const outcomes = await Promise.all([apply(event), apply(event)])
    expect(outcomes.toSorted()).toEqual(['applied', 'known'])
    expect(kept(event.id)).toHaveLength(1)
  })

  it('is stored as ignored when it does not concern the shop', async () => {
    const event = eventOf('product.created', {}, { data: undefined })
    expect(await apply(event)).toBe('ignored')
    expect(kept(event.id)).toMatchObject([{ objectId: null, outcome: 'ignored' }])
  })

  it('is logged with its outcome and the actor', async () => {
    logged.length = 0
    const event = eventOf('product.created', { id: 'prod_1' })
    await apply(event)
    const fields = { event: event.id, type: 'product.created', outcome: 'ignored', by: 'reconciler' }
    expect(logged).toMatchObject([{ fields }])
  })
})

it('deletes an event after sixty days, when Stripe can no longer deliver it', async () => {
  const { db } = till.shop.app
  const before = inbox().length
  const event = eventOf('product.created', { id: 'prod_2' })
  till.clock.advance(1)
  await apply(event)
  const day = 24 * 60 * 60_000
  const drop = (at: number) => write(db, (tx) => dropOldEvents(tx, at, 9))
  expect(drop(till.clock.now() + 60 * day)).toBe(before)
  expect(inbox().map(({ eventId }) => eventId)).toEqual([event.id])
  expect(drop(till.clock.now() + 60 * day + 1)).toBe(1)
  expect(inbox()).toEqual([])
})
