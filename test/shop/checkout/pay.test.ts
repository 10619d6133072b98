import { describe, expect, it } from 'vitest'
import { placeOrder } from '../../../src/shop/checkout/checkout.ts'
import type { CheckoutCaller, PlacedOrder } from '../../../src/shop/checkout/continue-order.ts'
import { checkoutBody, checkoutQuery } from '../../../src/shop/checkout/input.ts'
import type { CheckoutBody } from '../../../src/shop/checkout/input.ts'
import { payPlaced } from '../../../src/shop/checkout/continue-order.ts'
import { assertPointsLeft } from '../../../src/shop/limits/points.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openQuietTill } from '../payments/till.ts'
import { quay } from '../../support/addresses.ts'

const till = await openQuietTill()

const handoff = { strategy: 'token_handoff', returnUrl: 'https://site.example/thanks', paymentToken: 'pm_card_visa' }
const caller = (addressKey = '192.0.2.7'): CheckoutCaller => ({
  user: null,
  addressKey,
  holder: { buyer: 'guest:a', isGuest: true, cookieBuyer: null, addressKey },
  mailbox: null,
  takeKey: null
})
const nothingAnswers = () => void till.sandbox.addFault({ target: '*', fault: 'html', times: -1 })

async function place(fields: object = {}, who = caller()): Promise<PlacedOrder & { body: CheckoutBody }> {
  const body = checkoutBody.parse({
    items: [{ productId: till.productId('mug'), quantity: 1 }],
    shippingAddress: quay,
    ...fields
  })
  const input = { body, query: checkoutQuery.parse({}) }
  return { ...(await placeOrder(till.shop.app, input, who, till.clock.now())), body }
}

const linkOf = ({ order: { publicToken: orderToken } }: PlacedOrder) => ({
  orderToken,
  statusUrl: `${till.shop.app.publicUrl()}/checkout/done/${orderToken}`
})

const pay = ({ body, ...placed }: PlacedOrder & { body: CheckoutBody }, shop = till.shop.app, who = caller()) =>
  payPlaced(shop, placed, body, who)

describe('a buyer who is sent to a page', () => {
  it('gets a new page of the gateway', async () => {
    const placed = await place()
    const result = await pay(placed)
    const { id } = placed.order
    expect(result).toEqual({ checkoutUrl: till.attempt(id).url, orderId: String(id), ...linkOf(placed) })
  })

  it('gets the open page, without a call of the gateway', async () => {
    const placed = await place()
    await pay(placed)
    nothingAnswers()
    const attempt = till.attempt(placed.order.id)
    expect(await pay({ ...placed, attempt })).toMatchObject({ checkoutUrl: attempt.url })
  })

  it('gets the hosted page to choose a payment method, and the thank-you page after paying', async () => {
    const placed = await place()
    nothingAnswers()
    const { publicToken } = placed.order
    const root = till.shop.app.publicUrl()
    expect(await pay({ ...placed, attempt: null })).toMatchObject({ checkoutUrl: `${root}/checkout/${publicToken}` })
    const order = { ...placed.order, paidAt: 1 }
    for (const attempt of [placed.attempt, null])
      expect(await pay({ ...placed, order, attempt })).toEqual({
        checkoutUrl: `${root}/checkout/done/${publicToken}`,
        orderId: String(order.id),
        ...linkOf(placed)
      })
  })
})

describe('a buyer who pays with a card token', () => {
  it("gets the status of the charge and the bank's redirect URL", async () => {
    const placed = await place(handoff)
    const handedOff = { mode: 'test', strategy: 'token_handoff', provider: 'stripe' }
    const common = { orderId: placed.order.id, ...linkOf(placed), ...handedOff }
    expect(await pay(placed)).toMatchObject({ ...common, paymentStatus: 'succeeded', status: 'processing' })
    const asked = await place({ ...handoff, paymentToken: 'pm_card_authenticationRequired' })
    expect(await pay(asked)).toMatchObject({
      paymentStatus: 'requires_action',
      status: 'pending',
      paymentId: expect.stringMatching(/^pi_/),
      redirectUrl: expect.stringMatching(/^http/)
    })
  })

  it('gets the status of a paid order without a call of the gateway', async () => {
    const placed = await place(handoff)
    nothingAnswers()
    const attempt = { ...till.attempt(placed.order.id), gatewayStatus: 'succeeded' }
    const paid = { ...placed.order, paidAt: 1, status: 'completed' as const }
    const { app } = till.shop
    expect(await pay({ ...placed, order: paid, attempt })).toMatchObject({
      mode: 'test',
      paymentStatus: 'succeeded',
      status: 'completed'
    })
    expect(await pay({ ...placed, attempt: { ...attempt, outcome: 'paid' } })).toMatchObject({
      paymentStatus: 'succeeded',
      status: 'pending'
    })
    expect(await pay({ ...placed, order: paid, attempt: null })).toMatchObject({ paymentStatus: 'not_required' })
    if (app.cards === null) throw new Error('this shop takes no cards')
    const live = { ...app, cards: { ...app.cards, livemode: true } }
    expect(await pay({ ...placed, order: paid, attempt }, live)).toMatchObject({ mode: 'live' })
  })

  it('is not charged without a token or a return URL', async () => {
    const placed = await place(handoff)
    await expect(pay({ ...placed, body: { ...placed.body, paymentToken: undefined } })).rejects.toThrow(
      'requires paymentToken and returnUrl'
    )
    await expect(pay({ ...placed, body: { ...placed.body, returnUrl: undefined } })).rejects.toThrow(
      'requires paymentToken and returnUrl'
    )
    expect(till.order(placed.order.id).status).toBe('pending')
  })

  it('counts a refused card as a decline, and a failure of the gateway as none', async () => {
    const { app } = till.shop
    setSetting(app.db, 'limits.checkout_decline', '1/60', till.clock.now())
    const check = (key: string) => assertPointsLeft(app, 'RATE_LIMITED', { bucket: 'checkout_decline', key })
    const unlucky = await place(handoff)
    till.sandbox.addFault({ target: 'payment_intents.create', fault: '503', times: 3 })
    await expect(pay(unlucky, app, caller('192.0.2.8'))).rejects.toMatchObject({ status: 502 })
    check('192.0.2.8')
    till.sandbox.clearFaults()
    const declined = await place({ ...handoff, paymentToken: 'pm_card_visa_chargeDeclined' })
    await expect(pay(declined, app, caller('192.0.2.9'))).rejects.toMatchObject({ status: 402 })
    expect(() => check('192.0.2.9')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
  })
})
