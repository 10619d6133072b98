import * as fc from 'fast-check'
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
import { attemptsOf, findPayingAttempt } from '../../../src/shop/payments/attempts.ts'
import { cancelOrder, endHolds, moveToCancelled } from '../../../src/shop/payments/end-hold.ts'
import { refundOrder } from '../../../src/shop/payments/refund.ts'
import { acceptPayment, findUncountedPayment } from '../../../src/shop/payments/unexpected-payment.ts'
import { openWarnings } from '../../../src/shop/payments/warnings.ts'
import { listOrdersToPack } from '../../../src/shop/shipments/pack-list.ts'
import { shipOrder } from '../../../src/shop/shipments/ship-order.ts'
import { quay } from '../../support/addresses.ts'
import { whoGave } from '../../support/visitors.ts'
import { openTill } from '../payments/open-till.ts'

const slug = fc.constantFrom('mug', 'pin', 'print', 'voucher', 'lamp')
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
  fc.record({ do: fc.constant('payLate'), order: pick }),
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
  fc.record({
    do: fc.constant('refundAtGateway'),
    order: pick,
    cents: fc.option(fc.integer({ min: 50, max: 2000 }))
  }),
  fc.record({ do: fc.constant('wait'), days: fc.integer({ min: 1, max: 40 }) })
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Twenty things that buyers, the gateway and an operator do to orders and gift cards, in random order. */
export const moneySteps = fc.array(step, { minLength: 20, maxLength: 20 })

/** A shop on disk in which money moves in random order. */
export type MoneyShop = {
  /**
   * Takes the steps and compares the books: each card after each step, charges, documents and stock at the end.
   *
   * @throws Error with what differs
   */
  take(steps: readonly Step[], onStep?: (name: string) => void): Promise<void>
  close(): Promise<void>
}

/** Opens the shop, with a clock of its own and the sandbox, whose webhooks are lost. */
export async function openMoneyShop(): Promise<MoneyShop> {
  const till = await openTill({
    products: [
      { slug: 'mug', name: 'Mug', price: '12.50', stock: 500 },
      { slug: 'pin', name: 'Pin', price: '0.70', stock: 500 },
      { slug: 'lamp', name: 'Lamp', price: '20.00', stock: 6 },
      { slug: 'print', name: 'Print', price: '9.99', type: 'digital' },
      { slug: 'voucher', name: 'Gift card 25', price: '25.00', type: 'gift_card' }
    ],
    coupons: [{ code: 'TEN', percent: 10 }],
    tax: [{ country: 'DE', class: 'standard', ratePercent: 19, name: 'VAT' }]
  })
  till.loseWebhooks()
  const { app } = till.shop
  const { db } = app

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
      case 'payLate':
        return payLate(oneOf(pending(), one.order))
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

  /** The buyer pays on a page that is still open, although the order was given up a moment ago. */
  async function payLate(id: number): Promise<void> {
    const page = attemptsOf(db, id).find(({ kind, outcome }) => kind === 'checkout_session' && outcome === null)
    if (page === undefined) return
    await till.sandbox.payCheckout(page.objectId ?? '', { waitMs: 0 })
    write(db, (tx) => moveToCancelled(tx, id, 'checkout', till.clock.now()))
  }

  /** The operator accepts what was paid for orders whose gift cards have paid others. */
  async function acceptOthers(): Promise<void> {
    for (const { orderId, kind } of openWarnings(db)) {
      if (kind !== 'mismatch' || orderId === null) continue
      const payment = await findUncountedPayment(app, orderId)
      if (payment !== undefined) await acceptPayment(app, payment, by)
    }
  }

  /**
   * The operator returns money in the gateway's dashboard, without the shop: all of a payment, or an amount. They do not return
   * what pays for goods that another order has given in exchange.
   */
  async function refundAtGateway(id: number, cents: number | null): Promise<void> {
    const payment = findPayingAttempt(db, id)
    const { totalMinor, refundedMinor } = getOrder(db, id)
    const amount = cents ?? payment?.amountMinor ?? 0
    if (payment?.paymentIntentId == null || totalMinor - refundedMinor < amount || promisedMinor(db, id) > 0) return
    try {
      await till.stripe.refunds.create({ payment_intent: payment.paymentIntentId, amount })
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
      const card = {
        id,
        held: heldBy,
        used: -usedBy,
        returned: returnedBy,
        balance: issued - usedBy + returnedBy + over
      }
      equal(`gift card ${id}`, { id, held, used, returned, balance }, card)
      const isRight =
        held >= 0n && held <= balance && balance <= issued && usedBy - returnedBy <= issued && returnedBy <= usedBy
      if (!isRight) throw new Error(`gift card ${id}: ${show(card)} is not possible`)
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
    equal('charges and gift cards', charged + (books?.cards ?? 0n), books?.documents)
    const wrong = sums<'id' | 'left' | 'documents'>(`
      SELECT id, total_minor - refunded_minor AS left, (SELECT coalesce(sum(iif(kind = 'invoice', i.total_minor, -i.total_minor)), 0)
        FROM invoices i WHERE i.order_id = o.id) AS documents FROM orders o WHERE paid_at IS NOT NULL`)
    equal(
      'orders whose documents are not what was paid',
      wrong.filter(({ left, documents }) => left !== documents),
      []
    )
    const [stock] = sums<'least'>('SELECT min(stock) AS least FROM products WHERE stock IS NOT NULL')
    if ((stock?.least ?? 0n) < 0n) throw new Error(`a product has a stock of ${stock?.least}`)
  }

  return {
    async take(steps, onStep = () => undefined) {
      issueByOperator(db, { amount: 40, reason: 'test' }, till.clock.now())
      for (const one of steps) {
        onStep(one.do)
        try {
          await act(one)
        } catch (error) {
          // What is refused changes nothing.
          if (!(error instanceof AppError)) throw error
        }
        expectCards()
      }
      await till.settle()
      await acceptOthers()
      await till.settle()
      expectCards()
      await expectBooked()
    },
    close: () => till.close()
  }
}

const show = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? Number(each) : each))

/** @throws Error with both values */
function equal(what: string, actual: unknown, expected: unknown): void {
  if (show(actual) !== show(expected)) throw new Error(`${what}: ${show(actual)}, and not ${show(expected)}`)
}
