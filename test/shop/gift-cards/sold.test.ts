import { asc, eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { giftCardsReport } from '../../../src/operations/reports/gift-cards.ts'
import { productsReport } from '../../../src/operations/reports/products.ts'
import { salesOf } from '../../../src/operations/reports/sales.ts'
import { taxReport } from '../../../src/operations/reports/tax.ts'
import { eraseGuest } from '../../../src/shop/customers/erase-person.ts'
import { blockCard, entriesOf, findCard, getCard, stateOf } from '../../../src/shop/gift-cards/cards.ts'
import { readCode } from '../../../src/shop/gift-cards/code.ts'
import { giftCards } from '../../../src/shop/gift-cards/schema.ts'
import { currentDocuments } from '../../../src/shop/invoices/find.ts'
import { mails } from '../../../src/shop/mail/schema.ts'
import { write } from '../../../src/platform/db/database.ts'
import { moveOrder } from '../../../src/shop/orders/transition.ts'
import { getOrder, itemsOf } from '../../../src/shop/orders/find.ts'
import { taxesOfOrder } from '../../../src/shop/orders/totals.ts'
import { refundOrder } from '../../../src/shop/payments/refund.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { eventOf, openQuietTill } from '../payments/till.ts'

const till = await openQuietTill({
  products: [
    { slug: 'voucher', name: 'Gift card 25', price: '25.00', type: 'gift_card' },
    { slug: 'file', name: 'File', price: '10.00', type: 'digital' }
  ],
  coupons: [{ code: 'TEN', percent: 10 }],
  tax: [{ country: 'DE', class: 'standard', ratePercent: 19, name: 'VAT' }]
})
const { app } = till.shop
beforeEach(() => till.clock.advance(1000))

async function sell(quantity: number, body: object = {}): Promise<number> {
  const { id, sessionId } = await till.redirect({ slug: 'voucher', quantity, body })
  await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
  await till.settle()
  return id
}
const soldBy = (orderId: number) =>
  app.db.orm.select().from(giftCards).where(eq(giftCards.orderId, orderId)).orderBy(asc(giftCards.id)).all()
const codeOf = (id: number): string => readCode(app.db, getCard(app.db, id)) ?? ''
const spend = (id: number) => till.redirect({ slug: 'file', body: { giftCards: [codeOf(id)] } })

describe('a product of the type gift_card', () => {
  it('issues a card for each unit when the order is paid, and mails them to the recipient on the day', async () => {
    const giftRecipient = { email: 'lena@example.com', message: 'For you', sendOn: '2026-12-24' }
    const { id, sessionId } = await till.redirect({ slug: 'voucher', quantity: 2, body: { giftRecipient } })
    expect(soldBy(id)).toEqual([])
    await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
    await till.settle()
    await till.settle()
    expect(getOrder(app.db, id).status).toBe('completed')
    const cards = soldBy(id)
    const sent = {
      recipientEmail: 'lena@example.com',
      message: 'For you',
      sendAt: Date.UTC(2026, 11, 24),
      mailedAt: null
    }
    expect(cards).toMatchObject([1, 2].map(() => ({ balanceMinor: 2500, expiresAt: null, ...sent })))
    expect(findCard(app.db, codeOf(cards[0]?.id ?? 0))?.id).toBe(cards[0]?.id)
  })

  it('mails the cards to the buyer without a recipient, and limits their validity', async () => {
    setSetting(app.db, 'giftCards.validYears', '3', till.clock.now())
    const id = await sell(1)
    setSetting(app.db, 'giftCards.validYears', '0', till.clock.now())
    const [card] = soldBy(id)
    expect(card).toMatchObject({ recipientEmail: 'ada@example.com', expiresAt: Date.UTC(2030, 0, 1) })
    const queued = app.db.orm.select().from(mails).where(eq(mails.template, 'gift_card')).all()
    expect(queued.at(-1)).toMatchObject({ recipient: 'ada@example.com', data: { giftCardId: card?.id } })
  })

  it('shows its code on the page of the order, unless it is for somebody else or is not usable', async () => {
    const id = await sell(1)
    const [card] = soldBy(id)
    const read = async (orderId: number): Promise<string[]> => {
      const { publicToken } = getOrder(app.db, orderId)
      const page = await fetch(`${app.publicUrl()}/checkout/done/${publicToken}`)
      const html = await page.text()
      const order = await till.shop.visitor().get<{ giftCards: { code: string }[] }>(`/store/orders/${publicToken}`)
      expect(order.data.giftCards.every(({ code }) => html.includes(code))).toBe(true)
      return order.data.giftCards.map(({ code }) => code)
    }
    const [code = ''] = await read(id)
    expect(findCard(app.db, code)?.id).toBe(card?.id)
    blockCard(app.db, card?.id ?? 0, true, till.clock.now())
    const sent = await sell(1, { giftRecipient: { email: 'lena@example.com' } })
    expect([await read(id), await read(sent)]).toEqual([[], []])
    eraseGuest(app.db, 'lena@example.com')
    expect(await read(sent)).toEqual([])
  })

  it('is not taxed, takes no coupon, and is a liability in the reports', async () => {
    const day = { from: '2026-01-01', to: '2026-12-31' }
    const before = salesOf(app.db, day, 'month')[0]
    const items = [
      { productId: till.productId('voucher'), quantity: 1 },
      { productId: till.productId('file'), quantity: 1 }
    ]
    const { id, sessionId } = await till.redirect({ slug: 'file', body: { items, couponCode: 'TEN' } })
    await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
    await till.settle()
    expect(getOrder(app.db, id)).toMatchObject({ totalMinor: 3400, discountMinor: 100, taxMinor: 144 })
    expect(taxesOfOrder(app.db, id)).toMatchObject([
      { category: 'voucher', baseMinor: 2500, amountMinor: 0 },
      { category: 'taxed', baseMinor: 756, amountMinor: 144 }
    ])
    const after = salesOf(app.db, day, 'month')[0]
    const gained = (key: 'goodsMinor' | 'giftCardsMinor' | 'totalMinor'): number =>
      (after?.[key] ?? 0) - (before?.[key] ?? 0)
    expect([gained('goodsMinor'), gained('giftCardsMinor'), gained('totalMinor')]).toEqual([900, 2500, 900])
    const { totals: sold } = await productsReport.make(app, { ...day, limit: 10 }, till.clock.now())
    const { totals: owed } = await giftCardsReport.make(app, day, till.clock.now())
    const cents = (amount: unknown): number => Math.round(Number(amount) * 100)
    const { totals: taxed } = await taxReport.make(app, day, till.clock.now())
    const net = (after?.totalMinor ?? 0) - (after?.refundedMinor ?? 0)
    expect(cents(taxed?.[0]?.['gross'])).toBe(net + (after?.giftCardsMinor ?? 0))
    expect(cents(sold?.[0]?.['total'])).toBe((after?.goodsMinor ?? 0) + cents(owed?.[0]?.['sold']))
    expect(currentDocuments(app.db, id).invoice?.document.taxes.map(({ category }) => category)).toEqual([
      'voucher',
      'taxed'
    ])
  })

  it('is not paid by another gift card', async () => {
    const [card] = soldBy(await sell(1))
    const quote = await till.shop.visitor().post('/store/quote', {
      items: [{ productId: till.productId('voucher'), quantity: 1 }],
      giftCards: [codeOf(card?.id ?? 0)]
    })
    expect(quote.data).toMatchObject({ asksGiftRecipient: true, problems: [{ code: 'gift_card_not_for_cart' }] })
    const items = [
      { productId: till.productId('voucher'), quantity: 1 },
      { productId: till.productId('file'), quantity: 1 }
    ]
    const both = await till.shop.visitor().post('/store/quote', { items, giftCards: [codeOf(card?.id ?? 0)] })
    expect(both.data).toMatchObject({ total: 35, due: 25 })
  })

  it('is refunded while its cards are unused, which cancels them', async () => {
    const id = await sell(3)
    const [first, second, third] = soldBy(id)
    await spend(first?.id ?? 0)
    await expect(refundOrder(app, id, {}, 'operator')).rejects.toThrow(
      expect.objectContaining({
        details: expect.objectContaining({ fieldErrors: { items: [expect.stringContaining('2 are unused')] } })
      })
    )
    await expect(refundOrder(app, id, { amountMinor: 100 }, 'operator')).rejects.toThrow()
    await refundOrder(app, id, { items: [{ line: 1, quantity: 2 }] }, 'operator')
    await till.settle()
    expect([first, second, third].map((card) => getCard(app.db, card?.id ?? 0).balanceMinor)).toEqual([1500, 0, 0])
    expect(entriesOf(app.db, third?.id ?? 0).map(({ kind }) => kind)).toEqual(['sold', 'cancelled'])
    expect(stateOf(getCard(app.db, second?.id ?? 0), till.clock.now())).toBe('empty')
    expect([getOrder(app.db, id).refundedMinor, itemsOf(app.db, id)[0]?.quantity]).toEqual([5000, 3])
  })

  it('is refunded as a whole while its order is on hold, when no card is issued yet', async () => {
    const { id } = await till.redirect({ slug: 'voucher', quantity: 2 })
    const late = { by: 'operator', reason: 'a late payment', latePayment: true }
    write(app.db, (tx) => moveOrder(tx, id, 'on-hold', late, till.clock.now()))
    expect(soldBy(id)).toEqual([])
    await refundOrder(app, id, { items: [{ line: 1, quantity: 1 }] }, 'operator', { byHand: true })
    await refundOrder(app, id, {}, 'operator', { byHand: true })
    expect([getOrder(app.db, id).status, soldBy(id)]).toEqual(['refunded', []])
  })

  it('cannot be spent while the bank takes its time over the refund', async () => {
    await till.handOff('pm_card_pendingRefund', { slug: 'voucher', quantity: 2 })
    const { id } = till.ofNewest().order
    const [first, second] = soldBy(id)
    await refundOrder(app, id, { items: [{ line: 1, quantity: 1 }] }, 'operator')
    expect(getOrder(app.db, id).refundedMinor).toBe(0)
    await expect(spend(first?.id ?? 0)).rejects.toThrow('gift_card_empty')
    till.clock.advance(60_000)
    await till.settle()
    expect(getOrder(app.db, id).refundedMinor).toBe(2500)
    expect([first, second].map((card) => getCard(app.db, card?.id ?? 0).balanceMinor)).toEqual([0, 2500])
  })

  it('can be used again when the gateway refuses the refund, and be refunded later', async () => {
    const id = await sell(2)
    const cards = soldBy(id)
    const stand = () => cards.map((card) => getCard(app.db, card.id).balanceMinor)
    till.sandbox.addFault({ target: 'refunds.create', fault: '402' })
    await expect(refundOrder(app, id, { items: [{ line: 1, quantity: 1 }] }, 'operator')).rejects.toThrow('refused')
    expect(stand()).toEqual([2500, 2500])
    await refundOrder(app, id, { items: [{ line: 1, quantity: 1 }] }, 'operator')
    await till.settle()
    expect(stand()).toEqual([0, 2500])
    await refundOrder(app, id, {}, 'operator')
    await till.settle()
    expect([stand(), getOrder(app.db, id).status]).toEqual([[0, 0], 'refunded'])
  })

  it('can be refunded again after the bank has sent the money of a refund back', async () => {
    await till.handOff('pm_card_refundFail', { slug: 'voucher', quantity: 2 })
    const { id } = till.ofNewest().order
    await refundOrder(app, id, { items: [{ line: 1, quantity: 1 }] }, 'operator')
    till.clock.advance(60_000)
    await till.settle()
    expect(getOrder(app.db, id).refundedMinor).toBe(0)
    await refundOrder(app, id, {}, 'operator', { byHand: true })
    expect(getOrder(app.db, id).status).toBe('refunded')
    expect(soldBy(id).map(({ balanceMinor }) => balanceMinor)).toEqual([0, 0])
  })

  it('cancels what is left on its cards when the order is refunded at the gateway', async () => {
    const id = await sell(2)
    const [first, second] = soldBy(id)
    await spend(first?.id ?? 0)
    const refund = await till.stripe.refunds.create({ payment_intent: till.attempt(id).paymentIntentId ?? '' })
    await till.webhook(eventOf('refund.created', refund))
    expect(getOrder(app.db, id).status).toBe('refunded')
    expect([first, second].map((card) => getCard(app.db, card?.id ?? 0).balanceMinor)).toEqual([0, 0])
  })

  it('loses recipient and message with the order', async () => {
    const id = await sell(1, { giftRecipient: { email: 'lena@example.com', message: 'Secret' } })
    eraseGuest(app.db, 'ada@example.com')
    expect(getOrder(app.db, id).giftRecipient).toBeNull()
    expect(soldBy(id)).toMatchObject([{ message: null, recipientEmail: null, balanceMinor: 2500 }])
  })
})
