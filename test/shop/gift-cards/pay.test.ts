import { asc } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { changeOrder } from '../../../src/shop/corrections/change-order.ts'
import { choosePayment, takeCoupon } from '../../../src/shop/checkout/order-form.ts'
import { blockCard, entriesOf, getCard } from '../../../src/shop/gift-cards/cards.ts'
import { issueByOperator } from '../../../src/shop/gift-cards/issue.ts'
import { giftCards } from '../../../src/shop/gift-cards/schema.ts'
import { toEInvoice } from '../../../src/shop/invoices/e-invoice.ts'
import { currentDocuments } from '../../../src/shop/invoices/find.ts'
import type { InvoiceRow } from '../../../src/shop/invoices/find.ts'
import { invoicePdf } from '../../../src/shop/invoices/pdf.ts'
import { toText } from '../../../src/shop/invoices/text.ts'
import { dueMinor } from '../../../src/shop/orders/refunds/credits.ts'
import { getOrder, itemsOf } from '../../../src/shop/orders/find.ts'
import { summaryParts } from '../../../src/shop/orders/totals.ts'
import { paidBy } from '../../../src/shop/payments/attempts.ts'
import { cancelOrder, endHolds, moveToCancelled } from '../../../src/shop/payments/end-hold.ts'
import { planRefund, refundOrder } from '../../../src/shop/payments/refund.ts'
import { openWarnings } from '../../../src/shop/payments/warnings.ts'
import { textsIn } from '../../../src/platform/texts/languages.ts'
import { readPdf } from '../../support/pdf-text.ts'
import { quay } from '../../support/addresses.ts'
import { whoGave } from '../../support/visitors.ts'
import { openQuietTill, openTill, shelf } from '../payments/till.ts'

const till = await openQuietTill()
const { app } = till.shop
beforeEach(() => till.clock.advance(1000))

const issue = (amount: number | string, more: object = {}) => {
  const { card, code } = issueByOperator(app.db, { amount, reason: 'test', ...more }, till.clock.now())
  return { id: card.id, code }
}
const stand = (id: number): number[] => {
  const { balanceMinor, heldMinor } = getCard(app.db, id)
  return [balanceMinor, heldMinor]
}
const kinds = (id: number) => entriesOf(app.db, id).map(({ kind, amountMinor }) => [kind, amountMinor])
const buy = (quantity: number, codes: string[], body: object = {}) =>
  till.redirect({ slug: 'mug', quantity, body: { giftCards: codes, ...body } })
const quote = (quantity: number, codes: readonly string[], body: object = {}) =>
  till.shop
    .visitor()
    .post('/store/quote', { items: [{ productId: till.productId('mug'), quantity }], giftCards: codes, ...body })
async function pay(sessionId: string): Promise<void> {
  await till.sandbox.payCheckout(sessionId, { waitMs: 0 })
  await till.settle()
}

describe('an order that a gift card pays', () => {
  it('as a whole is paid at once, without the gateway', async () => {
    const card = issue(20)
    const { id, url } = await buy(1, [card.code])
    expect(url).toContain('/checkout/done/')
    expect(getOrder(app.db, id)).toMatchObject({ status: 'processing', totalMinor: 1250 })
    expect([paidBy(app.db, getOrder(app.db, id)), till.attempt(id).gateway]).toEqual(['gift_card', 'none'])
    expect(stand(card.id)).toEqual([750, 0])
    expect(kinds(card.id)).toEqual([
      ['issued', 2000],
      ['used', -1250]
    ])
  })

  it('as a whole asks on the page of the shop where to ship to, before it is paid', async () => {
    const card = issue(20)
    const items = [{ productId: till.productId('mug'), quantity: 1 }]
    const body = { items, customer: { email: 'ada@example.com' }, giftCards: [card.code] }
    const { data } = await till.shop.visitor().post('/store/checkout-session', body)
    const id = Number(data.orderId)
    expect([getOrder(app.db, id).status, stand(card.id)]).toEqual(['pending', [2000, 1250]])
    expect(String(data.checkoutUrl)).not.toContain('/done/')
    const known = { method: 'free', email: null, firstName: 'Ada', lastName: 'Lovelace' } as const
    const visitor = whoGave('ada@example.com')
    await expect(choosePayment(app, id, known, visitor)).rejects.toThrow()
    await choosePayment(app, id, { ...known, address: quay }, visitor)
    expect([getOrder(app.db, id).status, stand(card.id)]).toEqual(['processing', [750, 0]])
  })

  it('in part holds what is on the card until the rest is paid by card', async () => {
    const card = issue(20)
    const { id, sessionId } = await buy(2, [card.code])
    expect([stand(card.id), till.attempt(id).amountMinor]).toEqual([[2000, 2000], 500])
    const parts = summaryParts(app.db, getOrder(app.db, id), textsIn('en'))
    expect(parts.slice(-2)).toMatchObject([
      { kind: 'giftCard', name: card.code.slice(-4), amountMinor: -2000 },
      { kind: 'due', amountMinor: 500 }
    ])
    await pay(sessionId)
    expect(getOrder(app.db, id).status).toBe('processing')
    expect(stand(card.id)).toEqual([0, 0])
  })

  it('leaves what Stripe can charge', async () => {
    const card = issue('12.30')
    const { id } = await buy(1, [card.code])
    expect([till.attempt(id).amountMinor, stand(card.id)]).toEqual([50, [1230, 1200]])
  })

  it('takes several cards in their order, and the same one once', async () => {
    const [first, second] = [issue(10), issue(10)]
    const { id } = await buy(1, [first.code, first.code, second.code])
    expect([stand(first.id), stand(second.id), getOrder(app.db, id).status]).toEqual([[0, 0], [750, 0], 'processing'])
  })

  it('has its discount first', async () => {
    const card = issue(50)
    const { id } = await buy(2, [card.code], { couponCode: 'TEN' })
    expect([getOrder(app.db, id).totalMinor, stand(card.id)]).toEqual([2250, [2750, 0]])
  })

  it('gives it back when it is cancelled, and when its hold ends', async () => {
    const card = issue(20)
    const first = await buy(2, [card.code])
    await cancelOrder(app, first.id, 'operator')
    expect(stand(card.id)).toEqual([2000, 0])
    const second = await buy(3, [card.code])
    expect(stand(card.id)).toEqual([2000, 2000])
    till.clock.advance(3 * 86_400_000)
    await endHolds(app)
    expect([getOrder(app.db, second.id).status, stand(card.id)]).toEqual(['cancelled', [2000, 0]])
    expect(kinds(card.id)).toEqual([['issued', 2000]])
  })

  it('takes the card again when the buyer pays after a decline', async () => {
    const card = issue(20)
    const body = { giftCards: [card.code], customer: { email: 'ada@example.com' } }
    const visitor = till.shop.visitor()
    const declined = await till.handOff('pm_card_chargeDeclined', { quantity: 2, visitor, body })
    expect([declined.status, stand(card.id)]).toEqual([402, [2000, 0]])
    const paid = await till.handOff('pm_card_visa', { quantity: 2, visitor, body })
    expect([paid.status, stand(card.id)]).toEqual([200, [0, 0]])
  })

  it('pays with the card once, whoever sends the code meanwhile', async () => {
    const card = issue(20)
    const first = await buy(2, [card.code])
    const other = await quote(1, [card.code])
    expect(other.data['giftCards']).toMatchObject([{ accepted: false, problem: { code: 'gift_card_held' } }])
    await expect(buy(1, [card.code])).rejects.toThrow('gift_card_held')
    await pay(first.sessionId)
    const results = await Promise.allSettled([1, 2, 3].map(() => buy(1, [issue(5).code, card.code])))
    expect(results.every(({ status }) => status === 'rejected')).toBe(true)
    expect(stand(card.id)).toEqual([0, 0])
  })

  it('is replaced by another cart of its buyer, which has the card then', async () => {
    const card = issue(20)
    const visitor = till.shop.visitor()
    const first = await till.redirect({ slug: 'mug', quantity: 2, visitor, body: { giftCards: [card.code] } })
    const second = await till.redirect({ slug: 'print', quantity: 3, visitor, body: { giftCards: [card.code] } })
    expect([first, second].map(({ id }) => getOrder(app.db, id).status)).toEqual(['cancelled', 'pending'])
    expect([dueMinor(app.db, getOrder(app.db, second.id)), stand(card.id)]).toEqual([997, [2000, 2000]])
  })

  it('is not paid by a late payment when the card has paid another order', async () => {
    const card = issue(20)
    const late = await buy(2, [card.code])
    const { objectId } = till.attempt(late.id)
    await till.sandbox.payCheckout(objectId ?? '', { waitMs: 0 })
    // As a new cart does with the order that it replaces, before its page is closed.
    write(app.db, (tx) => moveToCancelled(tx, late.id, 'checkout', till.clock.now()))
    await buy(1, [card.code])
    await till.settle()
    expect(getOrder(app.db, late.id).paidAt).toBeNull()
    expect(openWarnings(app.db).filter(({ orderId }) => orderId === late.id)).toMatchObject([{ kind: 'mismatch' }])
    expect(stand(card.id)).toEqual([750, 0])
  })

  it('with a subscription pays a part of the first period, and the card is charged for the rest', async () => {
    const card = issue(20)
    const { id, sessionId } = await till.redirect({ slug: 'club', body: { giftCards: [card.code] } })
    expect([till.attempt(id).amountMinor, stand(card.id)]).toEqual([50, [2000, 750]])
    await pay(sessionId)
    expect([getOrder(app.db, id).status, stand(card.id)]).toEqual(['completed', [1250, 0]])
  })
})

describe('the payment page', () => {
  it('takes the code of a gift card in the field for coupons, and is confirmed without a payment', async () => {
    const card = issue(20)
    const { data } = await till.shop.visitor().post('/store/checkout-session', {
      items: [{ productId: till.productId('print'), quantity: 1 }],
      customer: { email: 'ada@example.com' }
    })
    const id = Number(data.orderId)
    app.db.sqlite
      .prepare(`UPDATE payment_attempts SET outcome = 'abandoned', object_id = NULL WHERE order_id = ?`)
      .run(id)
    const by = { addressKey: 'a', visitor: whoGave('ada@example.com') }
    await expect(takeCoupon(app, id, { code: issue(1).code.replace(/.$/, '!'), email: null }, by)).rejects.toThrow()
    await takeCoupon(app, id, { code: card.code, email: null }, by)
    await takeCoupon(app, id, { code: card.code, email: null }, by)
    expect([getOrder(app.db, id).status, stand(card.id)]).toEqual(['pending', [2000, 999]])
    await choosePayment(app, id, { method: 'free', email: null, firstName: null, lastName: null }, by.visitor)
    expect([getOrder(app.db, id).status, stand(card.id)]).toEqual(['completed', [1001, 0]])
  })
})

it('a payment page compares what is to pay with what gift cards leave, not with the total', async () => {
  const { shop, clock, productId, close } = await openTill(shelf, { SHOPSTEAD_PAYMENTS: 'sandbox,manual' })
  const { db } = shop.app
  const { code } = issueByOperator(db, { amount: 20, reason: 'test' }, clock.now())
  const { data } = await shop.visitor().post('/store/checkout-session', {
    items: [{ productId: productId('print'), quantity: 3 }],
    customer: { email: 'ada@example.com' },
    giftCards: [code]
  })
  const id = Number(data.orderId)
  const choice = { method: 'manual', email: null, firstName: null, lastName: null } as const
  const choose = (shownDueMinor: number) =>
    choosePayment(shop.app, id, { ...choice, shownDueMinor }, whoGave('ada@example.com'))
  await expect(choose(996)).rejects.toMatchObject({
    details: { fieldErrors: { total: [expect.stringContaining('you pay €9.97')] } }
  })
  await choose(997)
  expect(getOrder(db, id).status).toBe('on-hold')
  await close()
})

describe('a refund', () => {
  it('goes back to the gift card first, and the rest to the card', async () => {
    const card = issue(20)
    const { id, sessionId } = await buy(2, [card.code])
    await pay(sessionId)
    await refundOrder(app, id, { items: [{ line: 1, quantity: 1 }] }, 'operator')
    expect([stand(card.id), getOrder(app.db, id).refundedMinor]).toEqual([[1250, 0], 1250])
    expect(await planRefund(app, id, {})).toMatchObject({ amountMinor: 1250, giftCardMinor: 750, way: 'gateway' })
    await refundOrder(app, id, {}, 'operator')
    await till.settle()
    expect([stand(card.id), getOrder(app.db, id).status]).toEqual([[2000, 0], 'refunded'])
    const refunds = await till.stripe.refunds.list({ payment_intent: till.attempt(id).paymentIntentId ?? '' })
    expect(refunds.data.map(({ amount }) => amount)).toEqual([500])
    expect(itemsOf(app.db, id)).toHaveLength(1)
  })

  it('of an amount is divided between the gift card and the card payment', async () => {
    const card = issue(20)
    const { id, sessionId } = await buy(2, [card.code])
    await pay(sessionId)
    await refundOrder(app, id, { amountMinor: 2200 }, 'operator')
    await till.settle()
    expect([stand(card.id), getOrder(app.db, id).refundedMinor]).toEqual([[2000, 0], 2200])
    const refunds = await till.stripe.refunds.list({ payment_intent: till.attempt(id).paymentIntentId ?? '' })
    expect(refunds.data.map(({ amount }) => amount)).toEqual([200])
  })

  it('gives the gift card no more than it has paid, also after a part of the order was exchanged', async () => {
    const card = issue(20)
    const { id, sessionId } = await buy(2, [card.code])
    await pay(sessionId)
    const add = [{ productId: till.productId('print'), quantity: 1 }]
    const edits = { buyer: {}, lines: [{ line: 1, quantity: 1 }], add, holdMinutes: 60 }
    const { addition } = await changeOrder(app, id, edits, 'operator')
    expect(getOrder(app.db, addition?.id ?? 0).paidAt).not.toBeNull()
    for (const orderId of [addition?.id ?? 0, id]) await refundOrder(app, orderId, {}, 'operator')
    await till.settle()
    const refunds = await till.stripe.refunds.list({ payment_intent: till.attempt(id).paymentIntentId ?? '' })
    expect([stand(card.id), refunds.data.map(({ amount }) => amount)]).toEqual([[2000, 0], [500]])
  })

  it('goes back to an expired card, which can then be used for a year', async () => {
    const card = issue(20, { expires: '2026-03-01' })
    const { id } = await buy(1, [card.code])
    till.clock.set(Date.UTC(2026, 5, 1))
    expect((await planRefund(app, id, {})).way).toBe('gift_card')
    await refundOrder(app, id, {}, 'operator')
    expect(getCard(app.db, card.id)).toMatchObject({ balanceMinor: 2000, expiresAt: Date.UTC(2027, 5, 1) })
  })
})

describe('an invoice that gift cards paid', () => {
  const sumsOf = (row: InvoiceRow, language: string) => toText(row, textsIn(language)).sums.map(({ label }) => label)

  it('says in each language what each paid, and the electronic one stays paid in full', async () => {
    const cards = [issue(7), issue(8)]
    const { id, sessionId } = await buy(2, [cards[0]?.code ?? '', cards[1]?.code ?? ''])
    await pay(sessionId)
    const [first = '', second = ''] = cards.map(({ code }) => code.slice(-4))
    const invoice = currentDocuments(app.db, id).invoice
    if (invoice === undefined) throw new Error('there is no invoice')
    expect(toText(invoice).sums.slice(-4)).toEqual([
      { label: 'Total', amount: '€25.00', isTotal: true },
      { label: `Paid with gift card …${first}`, amount: '€7.00', isTotal: false },
      { label: `Paid with gift card …${second}`, amount: '€8.00', isTotal: false },
      { label: 'Paid otherwise', amount: '€10.00', isTotal: false }
    ])
    expect(sumsOf(invoice, 'de').at(-2)).toBe(`Bezahlt mit Geschenkgutschein …${second}`)
    expect(sumsOf(invoice, 'fr').at(-1)).toBe('Payé par un autre moyen')
    expect(toEInvoice(invoice).sums).toMatchObject({ total: '25.00', paid: '25.00', due: '0.00' })
    const pdf = await invoicePdf(invoice, 'https://shop.example/invoice')
    expect(readPdf(pdf).map(({ text }) => text)).toContain(`Paid with gift card …${first}`)
    const { publicToken } = getOrder(app.db, id)
    const page = await fetch(`${till.shop.url}/checkout/invoice/${publicToken}`)
    expect(await page.text()).toContain(`Paid with gift card …${first}`)
    await refundOrder(app, id, {}, 'operator')
    await till.settle()
    const notes = currentDocuments(app.db, id).notes
    expect(notes.map(({ document }) => [document.giftCards, document.totalMinor])).toEqual([
      [undefined, 700],
      [undefined, 800],
      [undefined, 1000]
    ])
    expect(currentDocuments(app.db, id).invoice?.document).toEqual(invoice.document)
  })

  it('names the card alone if it paid all', async () => {
    const card = issue(20)
    const { id } = await buy(1, [card.code])
    const invoice = currentDocuments(app.db, id).invoice
    expect(toText(invoice ?? expect.fail()).sums.slice(1)).toEqual([
      { label: `Paid with gift card …${card.code.slice(-4)}`, amount: '€12.50', isTotal: false }
    ])
  })
})

describe('a code', () => {
  it('gets the same answer if it is unknown as if its card is blocked', async () => {
    const card = issue(20)
    blockCard(app.db, card.id, true, till.clock.now())
    const unknown = await quote(1, ['0123-4567-89ABC-DEFGH-JKMN-PQRS'])
    const blocked = await quote(1, [card.code])
    const problem = (answer: typeof unknown) => JSON.stringify(answer.data['problems'])
    expect(problem(blocked)).toBe(problem(unknown))
    expect(unknown.data['problems']).toEqual([
      { path: 'giftCards.0', code: 'gift_card_unknown', message: 'There is no gift card with this code.' }
    ])
  })

  it('of another currency, an expired one and a used one are refused by name', async () => {
    const [dollars, old, used] = [issue(20), issue(20, { expires: '2026-07-01' }), issue(20)]
    app.db.sqlite.prepare(`UPDATE gift_cards SET currency = 'USD' WHERE id = ?`).run(dollars.id)
    await buy(2, [used.code, issue(20).code])
    till.clock.set(Date.UTC(2026, 7, 1))
    const { data } = await quote(1, [dollars.code, old.code, used.code])
    expect(data['problems']).toMatchObject([
      { code: 'gift_card_currency', message: 'This gift card is in USD, and this order in EUR: it cannot pay it.' },
      { code: 'gift_card_empty' },
      { code: 'gift_card_empty' }
    ])
  })

  it('is guessed as often as a coupon: then no answer says whether it is right', async () => {
    const card = issue(20)
    const visitor = till.shop.visitor()
    const items = [{ productId: till.productId('mug'), quantity: 1 }]
    const guess = (code: string) => visitor.post('/store/quote', { items, giftCards: [code] })
    let tries = 0
    let answer = await guess('0123-4567-89ABC-DEFGH-JKMN-PQRS')
    while (answer.status === 200 && tries < 200) {
      tries += 1
      answer = await guess(`0123-4567-89ABC-DEFGH-JKMN-PQ${String(10 + (tries % 90))}`)
    }
    expect(answer).toMatchObject({
      status: 429,
      error: { code: 'RATE_LIMITED', details: { bucket: 'coupon_failure' } }
    })
    expect((await guess(card.code)).status).toBe(429)
    const { status } = await visitor.post('/store/checkout-session', { items, giftCards: [card.code] })
    expect([status, stand(card.id)]).toEqual([429, [2000, 0]])
  })

  it.each([
    [['x'.repeat(65)], 'giftCards.0'],
    [Array.from({ length: 6 }, () => 'x'), 'giftCards'],
    ['x', 'giftCards']
  ])('%j is refused as input', async (codes, field) => {
    const answer = await till.shop.visitor().post('/store/quote', {
      items: [{ productId: till.productId('mug'), quantity: 1 }],
      giftCards: codes
    })
    expect(answer).toMatchObject({
      error: { code: 'VALIDATION_FAILED', details: { fieldErrors: { [field]: [expect.any(String)] } } }
    })
  })
})

it('never has less on a card than nothing, nor more than it was issued with', () => {
  const all = app.db.orm.select().from(giftCards).orderBy(asc(giftCards.id)).all()
  expect(all.every(({ balanceMinor, issuedMinor }) => balanceMinor >= 0 && balanceMinor <= issuedMinor)).toBe(true)
})
