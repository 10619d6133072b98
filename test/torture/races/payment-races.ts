import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from '../../support/browser.ts'
import { mailsTo } from '../../support/mail-files.ts'
import { atOnce, beside, crowd, expectEqual, expectOneWinner, newcomer } from './ground.ts'
import type { Ground, Race } from './ground.ts'
import { affiliateAt } from './partners.ts'
import { bundle, bundleMinor, plenty } from './shelf.ts'

type Order = { id: number; status: string }

/** Everybody clicks on the page of one order; whatever page of the gateway's he is led to is paid. */
const doubleClick: Race = {
  name: "one order's payment, clicked by many",
  short: 3,
  async run(ground, round) {
    const buyer = await newcomer(ground, `buyer-${round}@shop.example`, round)
    const { id, path } = await openOrder(buyer, { items: [plenty] })
    const led = await atOnce(crowd, (index) => click(beside(ground, buyer, index), ground, index, path, 'card'))
    ground.trial.count(this.name, led.length)
    const pages = new Set(led.map(({ location }) => location).filter((location) => location.includes('/sandbox/')))
    expectEqual(ground, `${this.name}: the gateway's pages`, pages.size, 1)
    const strange = led.filter(({ status, location }) => status !== 303 || !pages.has(location))
    expectEqual(ground, `${this.name}: other answers`, strange, [])
    await Promise.all([...pages, ...pages].map((page) => payAt(ground, page)))
    expectEqual(ground, `${this.name}: charges`, chargesOf(ground, id), 1)
    expectEqual(ground, `${this.name}: the order`, await statusOf(buyer, id), 'processing')
  }
}

/**
 * Half of them pay by card, half by hand, in even rounds when the gateway's page is open already: what was charged is
 * paid, and what waits for a transfer can be charged no more.
 */
const cardOrHand: Race = {
  name: 'a payment by card against one by hand',
  short: 4,
  async run(ground, round) {
    const buyer = await newcomer(ground, `either-${round}@shop.example`, round)
    const { id, path } = await openOrder(buyer, { items: [plenty] })
    const before = round % 2 === 0 ? [await click(buyer, ground, round, path, 'card')] : []
    const crowded = await atOnce(crowd, (index) =>
      click(beside(ground, buyer, index), ground, index, path, (index >> 1) % 2 === 0 ? 'card' : 'manual')
    )
    const led = [...before, ...crowded]
    const chosen = await statusOf(buyer, id)
    ground.trial.count(this.name, led.length)
    const strange = led.filter(({ status }) => status !== 303 && status !== 200)
    expectEqual(ground, `${this.name}: other answers`, strange, [])
    const pages = new Set(led.map(({ location }) => location).filter((location) => location.includes('/sandbox/')))
    await Promise.all([...pages].map((page) => payAt(ground, page)))
    const charges = chargesOf(ground, id)
    const status = await statusOf(buyer, id)
    const agrees = chosen === 'on-hold' ? charges === 0 && status === chosen : charges === 1 && status === 'processing'
    if (!agrees)
      ground.trial.violation(`${this.name}: was ${chosen}, charged ${charges} times, and the order is ${status}`)
  }
}

/** Operators at terminals of their own; in odd rounds each wants all of it back, in even ones more than half. */
const refund: Race = {
  name: 'one refund by several operators',
  short: 2,
  async run(ground, round) {
    const buyer = await newcomer(ground, `refund-${round}@shop.example`, round)
    const id = await payAtOnce(buyer)
    const part = round % 2 === 0 ? ['--amount', '3.00'] : []
    const ended = await atOnce(3, () => ground.cli('orders', 'refund', String(id), ...part, '--json'))
    const words = ended.map(({ exitCode, stdout }) => `${exitCode} ${codeOf(stdout)}`.trim())
    const losers = ['1 CONFLICT', part.length > 0 ? '1 VALIDATION_FAILED' : '1 TRANSITION_REFUSED']
    expectOneWinner(ground, this.name, words, { winner: '0', losers })
    const wanted = part.length > 0 ? 300 : 500
    expectEqual(ground, `${this.name}: what went back`, refundsOf(ground, id), [wanted])
    const status = await statusOf(buyer, id)
    expectEqual(ground, `${this.name}: the order`, status, part.length > 0 ? 'processing' : 'refunded')
  }
}

/** Every delivery of a payment's webhooks goes to both servers 50 times, while an operator reconciles. */
const webhooks: Race = {
  name: "one payment's webhooks, delivered by many",
  short: 2,
  async run(ground, round) {
    const { affiliate, code } = await affiliateAt(ground, this.name)
    const before = await earnedBy(affiliate)
    const email = `reader-${round}@shop.example`
    const buyer = await newcomer(ground, email, round)
    const { id, path } = await openOrder(buyer, { items: [bundle] }, `?ref=${code}`)
    const { location } = await click(buyer, ground, round, path, 'card')
    const [refusals, sent] = [ground.relay.refusals.length, ground.relay.sent]
    ground.relay.copies = crowd
    const reconciling = round % 2 === 0 ? ground.cli('orders', 'reconcile', '--json') : undefined
    if (reconciling !== undefined) await sleep(ground.trial.random.between(0, 600))
    await payAt(ground, location)
    ground.relay.copies = 1
    expectEqual(ground, `${this.name}: reconciling`, (await reconciling)?.exitCode ?? 0, 0)
    ground.trial.count(this.name, ground.relay.sent - sent)
    expectEqual(ground, `${this.name}: refused`, ground.relay.refusals.slice(refusals), [])
    expectEqual(ground, `${this.name}: charges`, chargesOf(ground, id), 1)
    expectEqual(ground, `${this.name}: the order`, await statusOf(buyer, id), 'completed')
    await expectOneOfEach(ground, this.name, buyer)
    const warnings = ground.db.sqlite.prepare('SELECT kind FROM payment_warnings WHERE order_id = ?').pluck().all(id)
    expectEqual(ground, `${this.name}: warnings to the operator`, warnings, [])
    const earned = (await earnedBy(affiliate)) - before
    expectEqual(ground, `${this.name}: the affiliate earned`, earned, bundleMinor / 10)
  },
  async after(ground, rounds) {
    // Both servers have sent what there was to send.
    await sleep(3_000)
    const readers = Array.from({ length: rounds }, (_, index) => `reader-${index + 1}@shop.example`)
    const receipts = readers.map((email) => mailsTo(ground.dataDir, email).length)
    const wrong = readers.filter((_, index) => receipts[index] !== 1)
    expectEqual(ground, `${this.name}: buyers without exactly one receipt`, wrong, [])
  }
}

export const paymentRaces: readonly Race[] = [doubleClick, cardOrHand, refund, webhooks]

type Me = {
  entitlements: {
    memberships: { startedAt: string; expiresAt: string }[]
    donationsSummary: { totalDonations: number }
    flags: { hasCourseEnrollments: boolean }
  }
}

/** One membership of one month, one donation, one download, one course. */
async function expectOneOfEach(ground: Ground, what: string, buyer: Browser): Promise<void> {
  const { memberships, donationsSummary, flags } = (await buyer.get<Me>('/me')).data.entitlements
  const { downloads } = (await buyer.get<{ downloads: unknown[] }>('/me/downloads')).data
  const days = memberships.map(
    ({ startedAt, expiresAt }) => (Date.parse(expiresAt) - Date.parse(startedAt)) / 86_400_000
  )
  if (days.length !== 1 || days.some((count) => count < 27 || count > 32))
    ground.trial.violation(`${what}: expected one membership of a month, came ${JSON.stringify(memberships)}`)
  expectEqual(ground, `${what}: donations, downloads`, [donationsSummary.totalDonations, downloads.length], [1, 1])
  expectEqual(ground, `${what}: a course`, flags.hasCourseEnrollments, true)
}

async function earnedBy(affiliate: Browser): Promise<number> {
  const { balance } = (await affiliate.get<{ balance: { unpaidMinor: number } }>('/affiliates/me')).data
  return balance.unpaidMinor
}

async function openOrder(buyer: Browser, body: object, query = ''): Promise<{ id: number; path: string }> {
  const { data, text } = await buyer.post<{ checkoutUrl: string; orderId: string }>(
    `/store/checkout-session${query}`,
    body
  )
  if (data === undefined) throw new Error(`no order was made: ${text}`)
  return { id: Number(data.orderId), path: new URL(data.checkoutUrl).pathname }
}

async function payAtOnce(buyer: Browser): Promise<number> {
  const handoff = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/thanks' }
  const { data, text } = await buyer.post<{ orderId: number }>('/store/checkout-session', {
    items: [plenty],
    ...handoff
  })
  if (data === undefined) throw new Error(`the card was not taken: ${text}`)
  return data.orderId
}

type Led = { status: number; location: string }

/** A click on the hosted page's button, at one of the servers. */
async function click(
  buyer: Browser,
  ground: Ground,
  index: number,
  path: string,
  method: 'card' | 'manual'
): Promise<Led> {
  const { url = '' } = ground.servers[index % ground.servers.length] ?? {}
  const response = await buyer.form(`${url}${path}`, { payment_method: method })
  await response.text()
  return { status: response.status, location: response.headers.get('location') ?? '' }
}

/** Pays on a page of the gateway's; resolves when the shop has answered its webhooks. */
async function payAt({ gateway }: Ground, page: string): Promise<void> {
  await gateway.sandbox.payCheckout(page.split('/').at(-1) ?? '', { waitMs: 20_000 })
}

function chargesOf({ gateway }: Ground, orderId: number): number {
  const { charges } = gateway.sandbox.ledger()
  return charges.filter(
    ({ status, metadata }) => status === 'succeeded' && metadata['shopstead_order'] === String(orderId)
  ).length
}

/** The amounts that went back, in minor units. */
function refundsOf({ gateway }: Ground, orderId: number): number[] {
  const { refunds } = gateway.sandbox.ledger()
  return refunds.filter(({ metadata }) => metadata?.['shopstead_order'] === String(orderId)).map(({ amount }) => amount)
}

async function statusOf(buyer: Browser, id: number): Promise<string> {
  const { data } = await buyer.get<{ orders: Order[] }>('/orders')
  return data.orders.find((order) => order.id === id)?.status ?? 'not there'
}

function codeOf(stdout: string): string {
  return (JSON.parse(stdout) as { error?: { code: string } }).error?.code ?? ''
}
