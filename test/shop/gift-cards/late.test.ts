import { beforeEach, describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { cardsSoldBy, entriesOf, getCard } from '../../../src/shop/gift-cards/cards.ts'
import { readCode } from '../../../src/shop/gift-cards/code.ts'
import { issueByOperator } from '../../../src/shop/gift-cards/issue.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import { cancelOrder, moveToCancelled } from '../../../src/shop/payments/end-hold.ts'
import { refundOrder } from '../../../src/shop/payments/refund.ts'
import { acceptPayment, findUncountedPayment } from '../../../src/shop/payments/unexpected-payment.ts'
import { openQuietTill } from '../payments/till.ts'

const till = await openQuietTill({
  products: [
    { slug: 'mug', name: 'Mug', price: '12.50' },
    { slug: 'voucher', name: 'Gift card 25', price: '25.00', type: 'gift_card' }
  ]
})
const { app } = till.shop
beforeEach(() => till.clock.advance(1000))

const issue = (amount: number) => {
  const { card, code } = issueByOperator(app.db, { amount, reason: 'test' }, till.clock.now())
  return { id: card.id, code }
}
const stand = (id: number): number[] => {
  const { balanceMinor, heldMinor } = getCard(app.db, id)
  return [balanceMinor, heldMinor]
}
const buy = (quantity: number, giftCards: string[], slug = 'mug') =>
  till.redirect({ slug, quantity, body: { giftCards } })

async function pay(sessionId: string): Promise<void> {
  await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
  await till.settle()
}

/** The buyer pays on a page that is still open, although the order was given up a moment ago. */
async function giveUpAndPay(id: number, sessionId: string): Promise<void> {
  await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
  write(app.db, (tx) => moveToCancelled(tx, id, 'checkout', till.clock.now()))
}

async function refundAtGateway(id: number, amount?: number): Promise<void> {
  const intent = till.attempt(id).paymentIntentId ?? ''
  await till.stripe.refunds.create({ payment_intent: intent, ...(amount === undefined ? {} : { amount }) })
  await till.settle()
}

/** What the gateway has charged for an order and not returned. */
async function keptAtGateway(id: number): Promise<number> {
  const { data } = await till.stripe.charges.list({ payment_intent: till.attempt(id).paymentIntentId ?? '' })
  return data.reduce((sum, { amount, amount_refunded: back }) => sum + amount - back, 0)
}

const documented = (id: number): unknown =>
  app.db.sqlite
    .prepare(`SELECT sum(iif(kind = 'invoice', total_minor, -total_minor)) FROM invoices WHERE order_id = ?`)
    .pluck()
    .get(id)

describe('a late payment of an order that two gift cards paid in part', () => {
  it('takes both cards again, and a refund gives each its own part back', async () => {
    const cards = [issue(10), issue(10)]
    const late = await buy(
      3,
      cards.map(({ code }) => code)
    )
    await giveUpAndPay(late.id, late.sessionId)
    expect(cards.map(({ id }) => stand(id))).toEqual([
      [1000, 0],
      [1000, 0]
    ])
    await till.settle()
    expect(getOrder(app.db, late.id)).toMatchObject({ status: 'processing', totalMinor: 3750 })
    expect(cards.map(({ id }) => stand(id))).toEqual([
      [0, 0],
      [0, 0]
    ])
    await refundOrder(app, late.id, {}, 'operator')
    await till.settle()
    expect(cards.map(({ id }) => stand(id))).toEqual([
      [1000, 0],
      [1000, 0]
    ])
    expect([await keptAtGateway(late.id), documented(late.id)]).toEqual([0, 0])
  })

  it('costs no more than card and payment give when one of them has paid another order', async () => {
    const cards = [issue(10), issue(10)]
    const late = await buy(
      3,
      cards.map(({ code }) => code)
    )
    await giveUpAndPay(late.id, late.sessionId)
    await buy(1, [cards[0]?.code ?? '', issue(5).code])
    await till.settle()
    expect(getOrder(app.db, late.id).paidAt).toBeNull()
    const found = await findUncountedPayment(app, late.id)
    if (found === undefined) throw new Error('the payment is missing')
    await acceptPayment(app, found, 'operator')
    const order = getOrder(app.db, late.id)
    expect(order.totalMinor).toBe(2750)
    expect(cards.map(({ id }) => stand(id))).toEqual([
      [0, 0],
      [0, 0]
    ])
    expect(documented(late.id)).toBe(2750)
    await refundOrder(app, late.id, {}, 'operator')
    await till.settle()
    expect(cards.map(({ id }) => stand(id))).toEqual([
      [0, 0],
      [1000, 0]
    ])
    expect([await keptAtGateway(late.id), documented(late.id)]).toEqual([0, 0])
  })
})

describe('a gift card that was sold', () => {
  it('has what was paid for it on it when the operator accepts less than its price', async () => {
    const { id, sessionId } = await buy(2, [], 'voucher')
    app.db.sqlite.prepare('UPDATE orders SET total_minor = 6000, subtotal_minor = 6000 WHERE id = ?').run(id)
    app.db.sqlite
      .prepare('UPDATE order_items SET unit_price_minor = 3000, total_minor = 6000 WHERE order_id = ?')
      .run(id)
    await pay(sessionId)
    const found = await findUncountedPayment(app, id)
    if (found === undefined) throw new Error('the payment is missing')
    await acceptPayment(app, found, 'operator')
    expect(getOrder(app.db, id).totalMinor).toBe(5000)
    expect(cardsSoldBy(app.db, id).map(({ balanceMinor }) => balanceMinor)).toEqual([2500, 2500])
  })

  it('stays cancelled when an order that held it, or that it paid, gives it back after the refund of its price', async () => {
    const sold = await buy(1, [], 'voucher')
    await pay(sold.sessionId)
    const [card] = cardsSoldBy(app.db, sold.id)
    if (card === undefined) throw new Error('no card was sold')
    const code = readCode(app.db, card) ?? ''
    const paid = await buy(1, [code])
    const held = await buy(2, [code])
    expect(stand(card.id)).toEqual([1250, 1250])
    await refundAtGateway(sold.id)
    await cancelOrder(app, held.id, 'operator')
    expect(stand(card.id)).toEqual([0, 0])
    await refundOrder(app, paid.id, {}, 'operator')
    expect(stand(card.id)).toEqual([0, 0])
    expect(entriesOf(app.db, card.id).map(({ kind }) => kind)).toEqual([
      'sold',
      'used',
      'cancelled',
      'returned',
      'cancelled'
    ])
    expect(documented(paid.id)).toBe(0)
  })
})

it('a cart whose gift card has less on it than before is a new order, whose payment takes what is due', async () => {
  const card = issue(20)
  const visitor = till.shop.visitor()
  const body = { giftCards: [card.code], customer: { email: 'ada@example.com' } }
  const declined = await till.handOff('pm_card_chargeDeclined', { quantity: 2, visitor, body })
  expect(declined.status).toBe(402)
  await buy(1, [card.code])
  expect(stand(card.id)).toEqual([750, 0])
  const items = [{ productId: till.productId('mug'), quantity: 2 }]
  const quote = await visitor.post('/store/quote', { items, ...body })
  expect(quote.data).toMatchObject({ total: 25, due: 17.5 })
  const paid = await till.handOff('pm_card_visa', { quantity: 2, visitor, body })
  expect(paid.status).toBe(200)
  expect([till.ofNewest().attempt.amountMinor, stand(card.id)]).toEqual([1750, [0, 0]])
})
