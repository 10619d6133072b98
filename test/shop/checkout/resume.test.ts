import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { placeOrder } from '../../../src/shop/checkout/checkout.ts'
import type { CheckoutCaller } from '../../../src/shop/checkout/continue-order.ts'
import { checkoutBody, checkoutQuery } from '../../../src/shop/checkout/input.ts'
import type { CheckoutBody } from '../../../src/shop/checkout/input.ts'
import { payPlaced, continueOrder } from '../../../src/shop/checkout/continue-order.ts'
import { historyOf } from '../../../src/shop/orders/find.ts'
import { moveOrder } from '../../../src/shop/orders/transition.ts'
import { attemptsOf, updateAttempt } from '../../../src/shop/payments/attempts.ts'
import { failAttempt } from '../../../src/shop/payments/settle.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { refusal } from '../../support/accounts.ts'
import { openQuietTill } from '../payments/till.ts'

const till = await openQuietTill()

const caller: CheckoutCaller = {
  user: null,
  addressKey: '192.0.2.7',
  holder: { buyer: 'guest:a', isGuest: true, cookieBuyer: null, addressKey: 'a' },
  mailbox: null,
  takeKey: null
}
const handoff = { strategy: 'token_handoff', returnUrl: 'https://site.example/thanks', paymentToken: 'pm_card_visa' }

let buyers = 0

type Left = { id: number; body: CheckoutBody }

/** An order that a request left behind before the gateway heard of it. */
async function leave(fields: object = handoff, slug = 'mug'): Promise<Left> {
  const body = checkoutBody.parse({ items: [{ productId: till.productId(slug), quantity: 1 }], ...fields })
  buyers += 1
  const buyer = { ...caller, holder: { ...caller.holder, buyer: `guest:${buyers}` } }
  const { order } = await placeOrder(till.shop.app, { body, query: checkoutQuery.parse({}) }, buyer, till.clock.now())
  return { id: order.id, body }
}

const again = ({ id, body }: Left) => continueOrder(till.shop.app, id, body, caller)
const move = (id: number, to: 'cancelled' | 'pending') =>
  write(till.shop.app.db, (tx) => moveOrder(tx, id, to, { by: 'operator', reason: 'test' }, till.clock.now()))
const fail = (id: number) =>
  write(till.shop.app.db, (tx) => failAttempt(tx, till.attempt(id).id, 'test', till.clock.now()))
const attemptsAt = (id: number) => attemptsOf(till.shop.app.db, id)
const chargesOf = (id: number) =>
  till.sandbox.ledger().charges.filter(({ paid, metadata }) => paid && metadata.shopstead_order === String(id))
const nothingAnswers = () => void till.sandbox.addFault({ target: '*', fault: 'html', times: -1 })

describe('an unfinished order of an earlier request', () => {
  it('is paid by its own attempt, which this request takes over', async () => {
    const left = await leave()
    till.clock.advance(30_000)
    const arrived = till.slowDown('payment_intents.create')
    const paying = again(left)
    await arrived
    expect(till.attempt(left.id).updatedAt).toBe(till.clock.now())
    expect(await paying).toMatchObject({
      order: { id: left.id },
      result: { paymentStatus: 'succeeded', status: 'processing' }
    })
    expect(attemptsAt(left.id)).toHaveLength(1)
    expect(chargesOf(left.id)).toHaveLength(1)
  })

  it('is returned without a call of the gateway when it is paid', async () => {
    const left = await leave()
    await again(left)
    nothingAnswers()
    expect(await again(left)).toMatchObject({ result: { paymentStatus: 'succeeded', status: 'processing' } })
    const page = await leave({})
    till.shop.app.db.sqlite.prepare('UPDATE orders SET paid_at = 1 WHERE id = ?').run(page.id)
    expect(await again(page)).toMatchObject({ result: { checkoutUrl: expect.stringContaining('/checkout/done/') } })
  })

  it('is not paid again when its payment arrived but the order is not marked as paid yet', async () => {
    const left = await leave()
    write(till.shop.app.db, (tx) =>
      updateAttempt(tx, till.attempt(left.id).id, { outcome: 'paid', gatewayStatus: 'succeeded' }, till.clock.now())
    )
    move(left.id, 'cancelled')
    expect(await again(left)).toMatchObject({ result: { paymentStatus: 'succeeded', status: 'cancelled' } })
    expect(chargesOf(left.id)).toEqual([])
  })

  it('needs no gateway when it is free or waits for a choice of payment method', async () => {
    const left = await leave({})
    const { sqlite } = till.shop.app.db
    nothingAnswers()
    sqlite.prepare("UPDATE payment_attempts SET kind = 'none', outcome = 'paid' WHERE order_id = ?").run(left.id)
    const page = { result: { checkoutUrl: expect.stringMatching(/\/checkout\/[^/]+$/) } }
    expect(await again(left)).toMatchObject(page)
    sqlite.prepare('DELETE FROM payment_attempts WHERE order_id = ?').run(left.id)
    expect(await again(left)).toMatchObject(page)
  })

  it('is reopened after a failed payment and paid by a new attempt', async () => {
    const left = await leave()
    fail(left.id)
    expect(till.order(left.id).status).toBe('failed')
    expect(await again(left)).toMatchObject({ order: { status: 'pending' }, result: { status: 'processing' } })
    expect(attemptsAt(left.id).map(({ outcome }) => outcome)).toEqual(['paid', 'failed'])
    expect(attemptsAt(left.id)[0]).toMatchObject({ gateway: 'sandbox', kind: 'payment_intent', livemode: false })
    expect(historyOf(till.shop.app.db, left.id).map(({ to, by, reason }) => [to, by, reason])).toContainEqual([
      'pending',
      'checkout',
      'the checkout was repeated'
    ])
  })

  it('is undefined after a failed payment when its stock is no longer available', async () => {
    const left = await leave(handoff, 'last')
    fail(left.id)
    await leave({}, 'last')
    expect(await again(left)).toBeUndefined()
    expect(till.order(left.id).status).toBe('failed')
  })

  it('is undefined when it waited for a choice of payment method and was cancelled', async () => {
    const left = await leave({})
    till.shop.app.db.sqlite.prepare('DELETE FROM payment_attempts WHERE order_id = ?').run(left.id)
    move(left.id, 'cancelled')
    expect(await again(left)).toBeUndefined()
  })

  it('is undefined when its payment has ended and it was cancelled', async () => {
    const left = await leave()
    move(left.id, 'cancelled')
    fail(left.id)
    expect(await again(left)).toBeUndefined()
    expect(attemptsAt(left.id)).toHaveLength(1)
  })

  it('is CHECKOUT_FAILED when it was cancelled before the outcome of its payment was known', async () => {
    const left = await leave()
    move(left.id, 'cancelled')
    await expect(again(left)).rejects.toThrow(refusal('CHECKOUT_FAILED', { step: 'confirm_intent' }))
    await expect(again(left)).rejects.toMatchObject({ status: 504 })
  })
})

describe('an attempt that was called off in the meantime', () => {
  /** Its intent was made and cancelled at the gateway, of which the shop has not heard. */
  async function calledOff(): Promise<Left> {
    const left = await leave()
    till.sandbox.addFault({ target: 'payment_intents.confirm', fault: 'html', times: 3 })
    const order = till.order(left.id)
    await expect(
      payPlaced(till.shop.app, { order, attempt: till.attempt(left.id) }, left.body, caller)
    ).rejects.toMatchObject({ status: 504 })
    till.sandbox.clearFaults()
    await till.stripe.paymentIntents.cancel(till.attempt(left.id).objectId ?? '')
    return left
  }

  it('is followed by a new one immediately, and charges once', async () => {
    const left = await calledOff()
    expect(await again(left)).toMatchObject({ result: { paymentStatus: 'succeeded', status: 'processing' } })
    expect(attemptsAt(left.id).map(({ outcome }) => outcome)).toEqual(['paid', 'failed'])
    expect(chargesOf(left.id)).toHaveLength(1)
  })
})

describe('a second try', () => {
  it('does not start after a declined card', async () => {
    const left = await leave({ ...handoff, paymentToken: 'pm_card_visa_chargeDeclined' })
    await expect(again(left)).rejects.toMatchObject({ code: 'CHECKOUT_FAILED', status: 402 })
    expect(attemptsAt(left.id)).toHaveLength(1)
  })

  it('counts as a checkout', async () => {
    const left = await leave()
    setSetting(till.shop.app.db, 'limits.checkout_ip', '1/60', till.clock.now())
    const elsewhere = { ...caller, addressKey: '192.0.2.99' }
    const ask = () => continueOrder(till.shop.app, left.id, left.body, elsewhere)
    await ask()
    await expect(ask()).rejects.toThrow(refusal('RATE_LIMITED', { bucket: 'checkout_ip' }))
    setSetting(till.shop.app.db, 'limits.checkout_ip', 'off', till.clock.now())
  })

  it('is refused after too many declined cards', async () => {
    const { app } = till.shop
    const [card, page] = [await leave(), await leave({})]
    const declined = await leave({ ...handoff, paymentToken: 'pm_card_visa_chargeDeclined' })
    const elsewhere = { ...caller, addressKey: '192.0.2.98' }
    setSetting(app.db, 'limits.checkout_decline', '1/60', till.clock.now())
    await expect(continueOrder(app, declined.id, declined.body, elsewhere)).rejects.toMatchObject({ status: 402 })
    await expect(continueOrder(app, card.id, card.body, elsewhere)).rejects.toThrow(
      refusal('RATE_LIMITED', { bucket: 'checkout_decline' })
    )
    expect(await continueOrder(app, page.id, page.body, elsewhere)).toMatchObject({ order: { id: page.id } })
    setSetting(app.db, 'limits.checkout_decline', 'off', till.clock.now())
  })
})
