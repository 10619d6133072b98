import type { Answer, Browser } from '../../support/browser.ts'
import {
  concurrently,
  sameSessionAt,
  busy,
  crowdSize,
  expectEqual,
  expectOneWinner,
  registerCustomer,
  outcomeOf
} from './race-context.ts'
import type { RaceContext, Race } from './race-context.ts'
import { lastItemOf, plenty } from './catalog.ts'
import { quay } from '../../support/addresses.ts'
import { nextMail } from '../../support/mail-files.ts'

const guest = (index: number) => ({ email: `guest-${index}@shop.example` })

type Ordered = { orderId: string | number; checkoutUrl?: string; status?: string }

const handoff = {
  strategy: 'token_handoff',
  paymentToken: 'pm_card_visa',
  returnUrl: 'https://site.example/thanks'
}

function buy(visitor: Browser, body: object, headers: Record<string, string> = {}): Promise<Answer<Ordered>> {
  return visitor.post<Ordered>('/store/checkout-session', { shippingAddress: quay, ...body }, headers)
}

const lastPiece: Race = {
  name: 'last unit of stock',
  shortRounds: 4,
  async run(context, round) {
    const items = [lastItemOf(round)]
    const answers = await concurrently(crowdSize, (index) =>
      buy(context.visitor(index), { items, customer: guest(index) })
    )
    verify(context, this.name, answers, '422 VALIDATION_FAILED items.0.quantity')
  },
  async after(context, rounds) {
    verifyRecords(context)
    const sold = all(context, "SELECT count(*) FROM products WHERE slug LIKE 'last-%' AND stock = 0")
    expectEqual(context, 'last units that are sold', sold, [rounds])
    const ordered = all(context, "SELECT count(*) FROM order_items WHERE name LIKE 'Last %'")
    expectEqual(context, 'last units that are in an order', ordered, [rounds])
  }
}

const lastUse: Race = {
  name: 'last use of a coupon',
  shortRounds: 3,
  async run(context, round) {
    const body = { items: [plenty], couponCode: `ONCE${round}` }
    const answers = await concurrently(crowdSize, (index) =>
      buy(context.visitor(index), { ...body, customer: guest(index) })
    )
    verify(context, this.name, answers, '422 VALIDATION_FAILED couponCode')
  },
  async after(context, rounds) {
    verifyRecords(context)
    expectUses(context, 'ONCE', rounds)
  }
}

/** Every browser has proven the email. One of them pays with the code, and the others are refused before they pay. */
const guestsOwnUse: Race = {
  name: "a guest's one use of a coupon",
  shortRounds: 3,
  async run(context, round) {
    const email = `ada-${round}@shop.example`
    await context.visitor(round).post('/store/prove-email', { email })
    const code = /\b\d{8}\b/.exec((await nextMail(context.dataDir, email, 1)).subject)?.[0]
    const body = { items: [plenty], couponCode: `EACH${round}`, customer: { email }, ...handoff }
    const answers = await concurrently(crowdSize, async (index) => {
      const visitor = context.visitor(index)
      await visitor.post('/store/prove-email', { email, code })
      return buy(visitor, { ...body, notes: `buyer ${index}` })
    })
    verify(context, this.name, answers, '422 VALIDATION_FAILED couponCode')
    const statuses = answers.filter(({ status }) => status === 200).map(({ data }) => data.status)
    expectEqual(context, `${this.name}: orders`, statuses, ['processing'])
  },
  after: async (context) => verifyRecords(context)
}

/** The same request of one customer continues the same order, so the code is used once. */
const customersOwnUse: Race = {
  name: "a customer's one use of a coupon",
  shortRounds: 3,
  async run(context, round) {
    const email = `lena-${round}@shop.example`
    const lena = await registerCustomer(context, email)
    const body = { items: [plenty], couponCodes: [`OWN${round}`], customer: { email: email.toUpperCase() } }
    const answers = await concurrently(crowdSize, (index) => buy(sameSessionAt(context, lena, index), body))
    context.trial.count(this.name, answers.length)
    const unexpected = answers.map(outcomeOf).filter((outcome) => outcome !== '200' && outcome !== busy)
    expectEqual(context, `${this.name}: other responses`, unexpected, [])
    const orders = new Set(answers.filter(({ status }) => status === 200).map(({ data }) => data.orderId))
    expectEqual(context, `${this.name}: orders`, orders.size, 1)
  },
  async after(context, rounds) {
    verifyRecords(context)
    expectUses(context, 'OWN', rounds)
  }
}

const oneKey: Race = {
  name: 'one Idempotency-Key',
  shortRounds: 4,
  async run(context, round) {
    const buyer = await registerCustomer(context, `keys-${round}@shop.example`)
    const isHandoff = round % 2 === 0
    const body = { items: [plenty], ...(isHandoff ? handoff : {}) }
    const send = (index: number) =>
      buy(sameSessionAt(context, buyer, index), body, { 'idempotency-key': `key-${round}` })
    const answers = await concurrently(crowdSize, send)
    context.trial.count(this.name, answers.length)
    const outcomes = answers.map(outcomeOf).filter((outcome) => outcome !== '200' && outcome !== busy)
    const unexpected = outcomes.filter((outcome) => outcome !== '409 IDEMPOTENCY_KEY_REUSE_CONFLICT in_progress')
    expectEqual(context, `${this.name}: other responses`, unexpected, [])
    const bodies = new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text))
    expectEqual(context, `${this.name}: different responses`, bodies.size, 1)
    const again = await send(round)
    expectEqual(context, `${this.name}: the response afterwards`, [again.text], [...bodies])
    const { data } = await buyer.get<{ orders: { id: number }[] }>('/orders')
    const ids = data.orders.map(({ id }) => String(id))
    expectEqual(context, `${this.name}: orders`, ids, [String(again.data.orderId)])
    const charges = context.gateway.sandbox
      .ledger()
      .charges.filter(({ metadata }) => ids.includes(metadata['shopstead_order'] ?? ''))
    expectEqual(context, `${this.name}: charges`, charges.length, isHandoff ? 1 : 0)
  },
  after: async (context) => verifyRecords(context)
}

export const checkoutRaces: readonly Race[] = [lastPiece, lastUse, guestsOwnUse, customersOwnUse, oneKey]

function verify(context: RaceContext, what: string, answers: readonly Answer<Ordered>[], loser: string): void {
  expectOneWinner(context, what, answers.map(outcomeOf), { winner: '200', losers: [loser] })
}

/** Verifies that each code of a round was used by exactly one order. */
function expectUses(context: RaceContext, codes: string, rounds: number): void {
  const uses = `SELECT code, used FROM coupons WHERE code LIKE '${codes}%'`
  const [used, carried] = [
    `SELECT count(*) FROM (${uses}) WHERE used = 1`,
    `SELECT count(*) FROM order_coupons WHERE code LIKE '${codes}%'`
  ].map((query) => all(context, query))
  expectEqual(context, `coupons ${codes}: used once, and orders with them`, [used, carried], [[rounds], [rounds]])
}

/** Verifies stock and coupon counts, which must be correct after every race. */
function verifyRecords(context: RaceContext): void {
  expectEqual(
    context,
    'products whose stock is below zero',
    all(context, 'SELECT slug FROM products WHERE stock < 0'),
    []
  )
  const miscounted = `SELECT code FROM coupons c
    WHERE used <> (SELECT count(*) FROM order_coupons o WHERE o.coupon_id = c.id AND o.counted = 1)`
  expectEqual(context, 'coupons whose number of uses differs from their orders', all(context, miscounted), [])
  const overused = all(context, 'SELECT code FROM coupons WHERE used > max_uses')
  expectEqual(context, 'coupons used more often than allowed', overused, [])
}

function all({ db }: RaceContext, query: string): unknown[] {
  return db.sqlite.prepare(query).pluck().all()
}
