import type { Answer, Browser } from '../../support/browser.ts'
import { atOnce, beside, busy, crowd, expectEqual, expectOneWinner, newcomer, wordOf } from './ground.ts'
import type { Ground, Race } from './ground.ts'
import { lastOf, plenty } from './shelf.ts'

const guest = (index: number) => ({ email: `guest-${index}@shop.example` })

type Ordered = { orderId: string | number; checkoutUrl?: string }

function buy(visitor: Browser, body: object, headers: Record<string, string> = {}): Promise<Answer<Ordered>> {
  return visitor.post<Ordered>('/store/checkout-session', body, headers)
}

const lastPiece: Race = {
  name: 'last unit of stock',
  short: 4,
  async run(ground, round) {
    const items = [lastOf(round)]
    const answers = await atOnce(crowd, (index) => buy(ground.visitor(index), { items, customer: guest(index) }))
    judge(ground, this.name, answers, '422 VALIDATION_FAILED items.0.quantity')
  },
  async after(ground, rounds) {
    checkBooks(ground)
    const sold = all(ground, "SELECT count(*) FROM products WHERE slug LIKE 'last-%' AND stock = 0")
    expectEqual(ground, 'last pieces that are sold', sold, [rounds])
    const ordered = all(ground, "SELECT count(*) FROM order_items WHERE name LIKE 'Last %'")
    expectEqual(ground, 'last pieces that are in an order', ordered, [rounds])
  }
}

const lastUse: Race = {
  name: 'last use of a coupon',
  short: 3,
  async run(ground, round) {
    const body = { items: [plenty], couponCode: `ONCE${round}` }
    const answers = await atOnce(crowd, (index) => buy(ground.visitor(index), { ...body, customer: guest(index) }))
    judge(ground, this.name, answers, '422 VALIDATION_FAILED couponCode')
  },
  async after(ground, rounds) {
    checkBooks(ground)
    expectUses(ground, 'ONCE', rounds)
  }
}

const guestsOwnUse: Race = {
  name: "a guest's one use of a coupon",
  short: 3,
  async run(ground, round) {
    const body = { items: [plenty], couponCode: `EACH${round}`, customer: { email: 'ada@shop.example' } }
    const answers = await atOnce(crowd, (index) => buy(ground.visitor(index), body))
    judge(ground, this.name, answers, '422 VALIDATION_FAILED couponCode')
  },
  async after(ground, rounds) {
    checkBooks(ground)
    expectUses(ground, 'EACH', rounds)
  }
}

/** Half of them are logged in, the others only know the email. */
const customersOwnUse: Race = {
  name: "a customer's one use of a coupon",
  short: 3,
  async run(ground, round) {
    const email = `lena-${round}@shop.example`
    const lena = await newcomer(ground, email)
    const body = { items: [plenty], couponCodes: [`OWN${round}`], customer: { email: email.toUpperCase() } }
    const answers = await atOnce(crowd, (index) =>
      buy(index % 4 < 2 ? beside(ground, lena, index) : ground.visitor(index), body)
    )
    judge(ground, this.name, answers, '422 VALIDATION_FAILED couponCodes.0')
  },
  async after(ground, rounds) {
    checkBooks(ground)
    expectUses(ground, 'OWN', rounds)
  }
}

const oneKey: Race = {
  name: 'one Idempotency-Key',
  short: 4,
  async run(ground, round) {
    const buyer = await newcomer(ground, `keys-${round}@shop.example`)
    const isHandoff = round % 2 === 0
    const handoff = {
      strategy: 'token_handoff',
      paymentToken: 'pm_card_visa',
      returnUrl: 'https://site.example/thanks'
    }
    const body = { items: [plenty], ...(isHandoff ? handoff : {}) }
    const send = (index: number) => buy(beside(ground, buyer, index), body, { 'idempotency-key': `key-${round}` })
    const answers = await atOnce(crowd, send)
    ground.trial.count(this.name, answers.length)
    const words = answers.map(wordOf).filter((word) => word !== '200' && word !== busy)
    const strange = words.filter((word) => word !== '409 IDEMPOTENCY_KEY_REUSE_CONFLICT in_progress')
    expectEqual(ground, `${this.name}: other answers`, strange, [])
    const told = new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text))
    expectEqual(ground, `${this.name}: different answers`, told.size, 1)
    const again = await send(round)
    expectEqual(ground, `${this.name}: the answer afterwards`, [again.text], [...told])
    const { data } = await buyer.get<{ orders: { id: number }[] }>('/orders')
    const ids = data.orders.map(({ id }) => String(id))
    expectEqual(ground, `${this.name}: orders`, ids, [String(again.data.orderId)])
    const charges = ground.gateway.sandbox
      .ledger()
      .charges.filter(({ metadata }) => ids.includes(metadata['shopstead_order'] ?? ''))
    expectEqual(ground, `${this.name}: charges`, charges.length, isHandoff ? 1 : 0)
  },
  after: async (ground) => checkBooks(ground)
}

export const checkoutRaces: readonly Race[] = [lastPiece, lastUse, guestsOwnUse, customersOwnUse, oneKey]

function judge(ground: Ground, what: string, answers: readonly Answer<Ordered>[], loser: string): void {
  expectOneWinner(ground, what, answers.map(wordOf), { winner: '200', losers: [loser] })
}

/** Each of these codes was used in its round, by one order. */
function expectUses(ground: Ground, codes: string, rounds: number): void {
  const uses = `SELECT code, used FROM coupons WHERE code LIKE '${codes}%'`
  const [used, carried] = [
    `SELECT count(*) FROM (${uses}) WHERE used = 1`,
    `SELECT count(*) FROM order_coupons WHERE code LIKE '${codes}%'`
  ].map((query) => all(ground, query))
  expectEqual(ground, `coupons ${codes}: used once, and orders that carry them`, [used, carried], [[rounds], [rounds]])
}

/** What has to be true whoever won. */
function checkBooks(ground: Ground): void {
  expectEqual(
    ground,
    'products whose stock is below zero',
    all(ground, 'SELECT slug FROM products WHERE stock < 0'),
    []
  )
  const miscounted = `SELECT code FROM coupons c
    WHERE used <> (SELECT count(*) FROM order_coupons o WHERE o.coupon_id = c.id AND o.counted = 1)`
  expectEqual(ground, 'coupons whose uses are not the orders that carry them', all(ground, miscounted), [])
  const overused = all(ground, 'SELECT code FROM coupons WHERE used > max_uses')
  expectEqual(ground, 'coupons that were used too often', overused, [])
}

function all({ db }: Ground, query: string): unknown[] {
  return db.sqlite.prepare(query).pluck().all()
}
