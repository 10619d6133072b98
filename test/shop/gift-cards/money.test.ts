import * as fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { write } from '../../../src/platform/db/database.ts'
import { choosePayment, offeredMethods } from '../../../src/shop/checkout/order-form.ts'
import { changeOrder } from '../../../src/shop/corrections/change-order.ts'
import { settleReturn } from '../../../src/shop/corrections/settle-return.ts'
import { expireCards, getCard } from '../../../src/shop/gift-cards/cards.ts'
import { readCode } from '../../../src/shop/gift-cards/code.ts'
import { issueByOperator } from '../../../src/shop/gift-cards/issue.ts'
import { promisedMinor } from '../../../src/shop/orders/refunds/credits.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import { findPayingAttempt } from '../../../src/shop/payments/attempts.ts'
import { cancelOrder, endHolds } from '../../../src/shop/payments/end-hold.ts'
import { refundOrder } from '../../../src/shop/payments/refund.ts'
import { listOrdersToPack } from '../../../src/shop/shipments/pack-list.ts'
import { shipOrder } from '../../../src/shop/shipments/ship-order.ts'
import { quay } from '../../support/addresses.ts'
import { whoGave } from '../../support/visitors.ts'
import { openTill } from '../payments/till.ts'

const till = await openTill({
  products: [
    { slug: 'mug', name: 'Mug', price: '12.50', stock: 500 },
    { slug: 'pin', name: 'Pin', price: '0.70', stock: 500 },
    { slug: 'print', name: 'Print', price: '9.99', type: 'digital' },
    { slug: 'voucher', name: 'Gift card 25', price: '25.00', type: 'gift_card' }
  ],
  coupons: [{ code: 'TEN', percent: 10 }],
  tax: [{ country: 'DE', class: 'standard', ratePercent: 19, name: 'VAT' }]
})
const { app } = till.shop
const { db } = app
afterAll(() => till.close())

const slugs = ['mug', 'pin', 'print', 'voucher'] as const
const slug = fc.constantFrom(...slugs)
const few = fc.constantFrom(1, 1, 2, 3)
const pick = fc.nat(1000)
const by = 'operator'
const dayMs = 86_400_000

const step = fc.oneof(
  fc.record({
    do: fc.constant('issue'),
    cents: fc.integer({ min: 1, max: 6000 }),
    days: fc.integer({ min: 2, max: 90 })
  }),
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('buy'),
      lines: fc.array(fc.record({ slug, quantity: few }), { minLength: 1, maxLength: 3 }),
      cards: fc.array(pick, { maxLength: 3 }),
      coupon: fc.boolean(),
      isDeclined: fc.constantFrom(true, false, false)
    })
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pay'), order: pick }) },
  fc.record({ do: fc.constant('cancel'), order: pick }),
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('edit'), order: pick, quantity: fc.nat(3), slug, adds: fc.boolean() })
  },
  fc.record({ do: fc.constant('ship') }),
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('return'), order: pick, quantity: few, slug, exchanges: fc.boolean() })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('refund'),
      order: pick,
      cents: fc.option(fc.integer({ min: 1, max: 3000 }))
    })
  },
  fc.record({ do: fc.constant('refundAtGateway'), order: pick, cents: fc.integer({ min: 50, max: 2000 }) }),
  fc.record({ do: fc.constant('wait'), days: fc.integer({ min: 1, max: 40 }) })
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const idsOf = (sql: string): number[] => db.sqlite.prepare<[], number>(sql).pluck().all()
/** One of the newest few, so that they meet again. */
const oneOf = (ids: readonly number[], index: number): number => ids.slice(-5)[index % Math.min(5, ids.length)] ?? 0
const pending = () => idsOf(`SELECT id FROM orders WHERE status = 'pending'`)
const paid = () => idsOf('SELECT id FROM orders WHERE paid_at IS NOT NULL')
const open = () => idsOf(`SELECT id FROM orders WHERE status IN ('pending', 'processing')`)
const item = (name: string, quantity: number) => ({ productId: till.productId(name), quantity })
const codeOf = (id: number): string => readCode(db, getCard(db, id)) ?? ''

async function act(one: Step): Promise<void> {
  till.clock.advance(1000)
  switch (one.do) {
    case 'issue': {
      const expires = new Date(till.clock.now() + one.days * dayMs).toISOString().slice(0, 10)
      issueByOperator(db, { amount: one.cents / 100, reason: 'test', expires }, till.clock.now())
      return
    }
    case 'buy': {
      const cards = idsOf('SELECT id FROM gift_cards WHERE balance_minor > held_minor')
      const codes = cards.length === 0 ? [] : one.cards.map((index) => codeOf(oneOf(cards, index)))
      await till.shop.visitor().post('/store/checkout-session', {
        ...(one.isDeclined
          ? { strategy: 'token_handoff', paymentToken: 'pm_card_chargeDeclined' }
          : { strategy: 'redirect_to_store' }),
        returnUrl: 'https://site.example/thanks',
        items: one.lines.map((line) => item(line.slug, line.quantity)),
        giftCards: codes,
        ...(one.coupon ? { couponCode: 'TEN' } : {}),
        customer: { email: 'ada@example.com' },
        shippingAddress: quay
      })
      return
    }
    case 'pay':
      return payByLink(oneOf(pending(), one.order))
    case 'cancel':
      await cancelOrder(app, oneOf(pending(), one.order), by)
      return
    case 'edit': {
      const lines = [{ line: 1, quantity: one.quantity }]
      const add = one.adds ? [item(one.slug, 1)] : []
      await changeOrder(app, oneOf(open(), one.order), { buyer: {}, lines, add, holdMinutes: 60 }, by)
      return
    }
    case 'ship':
      for (const { id } of listOrdersToPack(db))
        shipOrder(db, id, { carrier: null, tracking: null, url: null, items: null }, by, till.clock.now())
      return
    case 'return': {
      const items = [{ line: 1, quantity: one.quantity }]
      const exchange = one.exchanges ? [item(one.slug, 1)] : []
      await settleReturn(app, oneOf(paid(), one.order), { items, exchange, holdMinutes: 60 }, by)
      return
    }
    case 'refund':
      await refundOrder(app, oneOf(paid(), one.order), one.cents === null ? {} : { amountMinor: one.cents }, by)
      return
    case 'refundAtGateway':
      return refundAtGateway(oneOf(paid(), one.order), one.cents)
    case 'wait':
      till.clock.advance(one.days * dayMs)
      await endHolds(app)
      write(db, (tx) => expireCards(tx, till.clock.now(), 1000))
  }
}

/** The buyer chooses how to pay on the page of an order, and pays. */
async function payByLink(id: number): Promise<void> {
  const [method] = offeredMethods(app, getOrder(db, id))
  if (method === undefined) return
  const choice = { method, email: null, firstName: null, lastName: null }
  await choosePayment(app, id, choice, whoGave('ada@example.com'))
  const { objectId, outcome } = till.attempt(id)
  if (method === 'card' && outcome === null) await till.sandbox.payCheckout(objectId ?? '', { waitMs: 0 })
  await till.settle()
}

/** The operator returns money in the gateway's dashboard, without the shop. */
async function refundAtGateway(id: number, cents: number): Promise<void> {
  const intent = findPayingAttempt(db, id)?.paymentIntentId
  const left = getOrder(db, id).totalMinor - getOrder(db, id).refundedMinor
  if (intent == null || left < cents || promisedMinor(db, id) > 0) return
  try {
    await till.stripe.refunds.create({ payment_intent: intent, amount: cents })
  } catch {
    // More than this payment has left.
  }
  await till.settle()
}

/** Sums of a statement, as integers without a limit. */
const sums = <Name extends string>(sql: string): Record<Name, bigint>[] =>
  db.sqlite.prepare<[], Record<Name, bigint>>(sql).safeIntegers().all()

type Card = 'id' | 'issued' | 'balance' | 'held' | 'heldBy' | 'usedBy' | 'returnedBy' | 'used' | 'returned' | 'over'

/** Each card by itself: its columns, its ledger, and what the orders and their refunds say, which are three separate sources. */
function expectCards(): void {
  const kind = (...kinds: string[]): string =>
    `(SELECT coalesce(sum(e.amount_minor), 0) FROM gift_card_entries e
      WHERE e.gift_card_id = g.id AND e.kind IN (${kinds.map((each) => `'${each}'`).join()}))`
  const credited = (state: string): string =>
    `(SELECT coalesce(sum(c.amount_minor), 0) FROM order_credits c WHERE c.gift_card_id = g.id AND c.state = '${state}')`
  const cards = sums<Card>(`
    SELECT g.id, g.issued_minor AS issued, g.balance_minor AS balance, g.held_minor AS held,
      ${credited('held')} AS heldBy, ${credited('spent')} AS usedBy,
      (SELECT coalesce(sum(r.amount_minor), 0) FROM order_refunds r
       WHERE r.gift_card_id = g.id AND r.state <> 'failed') AS returnedBy,
      ${kind('used')} AS used, ${kind('returned')} AS returned, ${kind('expired', 'cancelled')} AS over
    FROM gift_cards g`)
  for (const { id, issued, balance, held, heldBy, usedBy, returnedBy, used, returned, over } of cards) {
    const card = { id, held: heldBy, used: -usedBy, returned: returnedBy, balance: issued - usedBy + returnedBy + over }
    expect({ id, held, used, returned, balance }).toEqual(card)
    const isRight =
      held >= 0n && held <= balance && balance <= issued && usedBy - returnedBy <= issued && returnedBy <= usedBy
    expect([card, isRight]).toEqual([card, true])
  }
}

/** What the gateway has, and what gift cards have paid, is what the documents say, also for each order that gift cards paid. */
async function expectBooked(): Promise<void> {
  let charged = 0n
  for await (const { paid: isPaid, amount, amount_refunded: back } of till.stripe.charges.list({ limit: 100 }))
    if (isPaid) charged += BigInt(amount) - BigInt(back)
  const [books] = sums<'documents' | 'cards'>(`
    SELECT (SELECT coalesce(sum(iif(kind = 'invoice', total_minor, -total_minor)), 0) FROM invoices) AS documents,
      (SELECT coalesce(-sum(amount_minor), 0) FROM gift_card_entries WHERE kind IN ('used', 'returned')) AS cards`)
  expect(charged + (books?.cards ?? 0n)).toBe(books?.documents)
  const wrong = sums<'id' | 'left' | 'documents'>(`
    SELECT id, total_minor - refunded_minor AS left, (SELECT coalesce(sum(iif(kind = 'invoice', i.total_minor, -i.total_minor)), 0)
      FROM invoices i WHERE i.order_id = o.id) AS documents FROM orders o WHERE paid_at IS NOT NULL`)
  expect(wrong.filter(({ left, documents }) => left !== documents)).toEqual([])
}

it('charges and gift cards less what goes back are the documents, and no card is spent twice', async () => {
  till.loseWebhooks()
  const steps = fc.array(step, { minLength: 20, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      issueByOperator(db, { amount: 40, reason: 'test' }, till.clock.now())
      for (const one of taken) {
        try {
          await act(one)
        } catch (error) {
          // What is refused changes nothing.
          if (!(error instanceof AppError)) throw error
        }
        expectCards()
      }
      await till.settle()
      await expectBooked()
    }),
    { numRuns: Number(process.env['GIFT_CARD_RUNS'] ?? 6), endOnFailure: true }
  )
})
