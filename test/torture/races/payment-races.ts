import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from '../../support/browser.ts'
import { mailsTo } from '../../support/mail-files.ts'
import {
  concurrently,
  sameSessionAt,
  crowdSize,
  expectEqual,
  expectOneWinner,
  registerCustomer
} from './race-context.ts'
import type { RaceContext, Race } from './race-context.ts'
import { affiliateFor } from './affiliates.ts'
import { bundle, bundleMinor, plenty } from './catalog.ts'
import { quay } from '../../support/addresses.ts'

type Order = { id: number; status: string }

/** Many requests start the payment of one order. Every gateway page that they get is paid. */
const doubleClick: Race = {
  name: 'concurrent payments of one order',
  shortRounds: 3,
  async run(context, round) {
    const buyer = await registerCustomer(context, `buyer-${round}@shop.example`, round)
    const { id, path } = await openOrder(buyer, { items: [plenty] })
    const clicks = await concurrently(crowdSize, (index) =>
      click(sameSessionAt(context, buyer, index), context, index, path, 'card')
    )
    context.trial.count(this.name, clicks.length)
    const pages = new Set(clicks.map(({ location }) => location).filter((location) => location.includes('/sandbox/')))
    expectEqual(context, `${this.name}: the gateway's pages`, pages.size, 1)
    const unexpected = clicks.filter(({ status, location }) => status !== 303 || !pages.has(location))
    expectEqual(context, `${this.name}: other responses`, unexpected, [])
    await Promise.all([...pages, ...pages].map((page) => payAt(context, page)))
    expectEqual(context, `${this.name}: charges`, chargesOf(context, id), 1)
    expectEqual(context, `${this.name}: the order`, await statusOf(buyer, id), 'processing')
  }
}

/**
 * Half of the requests choose the card, half a bank transfer; in even rounds the gateway's page is open already. A
 * charged order must be paid, and an order that waits for a transfer must not be charged.
 */
const cardOrHand: Race = {
  name: 'concurrent payments by card and by bank transfer',
  shortRounds: 4,
  async run(context, round) {
    const buyer = await registerCustomer(context, `either-${round}@shop.example`, round)
    const { id, path } = await openOrder(buyer, { items: [plenty] })
    const before = round % 2 === 0 ? [await click(buyer, context, round, path, 'card')] : []
    const concurrent = await concurrently(crowdSize, (index) =>
      click(sameSessionAt(context, buyer, index), context, index, path, (index >> 1) % 2 === 0 ? 'card' : 'manual')
    )
    const clicks = [...before, ...concurrent]
    const chosen = await statusOf(buyer, id)
    context.trial.count(this.name, clicks.length)
    const unexpected = clicks.filter(({ status }) => status !== 303 && status !== 200)
    expectEqual(context, `${this.name}: other responses`, unexpected, [])
    const pages = new Set(clicks.map(({ location }) => location).filter((location) => location.includes('/sandbox/')))
    await Promise.all([...pages].map((page) => payAt(context, page)))
    const charges = chargesOf(context, id)
    const status = await statusOf(buyer, id)
    const agrees = chosen === 'on-hold' ? charges === 0 && status === chosen : charges === 1 && status === 'processing'
    if (!agrees)
      context.trial.violation(`${this.name}: was ${chosen}, charged ${charges} times, and the order is ${status}`)
  }
}

/** Several commands refund one order: in odd rounds all of it, in even rounds more than half. */
const refund: Race = {
  name: 'concurrent refunds of one order',
  shortRounds: 2,
  async run(context, round) {
    const buyer = await registerCustomer(context, `refund-${round}@shop.example`, round)
    const id = await payWithToken(buyer)
    const part = round % 2 === 0 ? ['--amount', '3.00'] : []
    const ended = await concurrently(3, () => context.cli('orders', 'refund', String(id), '--yes', ...part, '--json'))
    const outcomes = ended.map(({ exitCode, stdout }) => `${exitCode} ${codeOf(stdout)}`.trim())
    const losers = ['1 CONFLICT', part.length > 0 ? '1 VALIDATION_FAILED' : '1 TRANSITION_REFUSED']
    expectOneWinner(context, this.name, outcomes, { winner: '0', losers })
    const wanted = part.length > 0 ? 300 : 500
    expectEqual(context, `${this.name}: the refunded amounts`, refundsOf(context, id), [wanted])
    const status = await statusOf(buyer, id)
    expectEqual(context, `${this.name}: the order`, status, part.length > 0 ? 'processing' : 'refunded')
  }
}

/** Each webhook of a payment is delivered to both servers 50 times, in even rounds during a reconciliation. */
const webhooks: Race = {
  name: 'concurrent deliveries of one payment',
  shortRounds: 2,
  async run(context, round) {
    const { affiliate, code } = await affiliateFor(context, this.name)
    const before = await earnedBy(affiliate)
    const email = `reader-${round}@shop.example`
    const buyer = await registerCustomer(context, email, round)
    const { id, path } = await openOrder(buyer, { items: [bundle] }, `?ref=${code}`)
    const { location } = await click(buyer, context, round, path, 'card')
    const [refusals, sent] = [context.relay.refusals.length, context.relay.sent]
    context.relay.copies = crowdSize
    const reconciling = round % 2 === 0 ? context.cli('orders', 'reconcile', '--json') : undefined
    if (reconciling !== undefined) await sleep(context.trial.random.between(0, 600))
    await payAt(context, location)
    context.relay.copies = 1
    expectEqual(context, `${this.name}: reconciling`, (await reconciling)?.exitCode ?? 0, 0)
    context.trial.count(this.name, context.relay.sent - sent)
    expectEqual(context, `${this.name}: refused`, context.relay.refusals.slice(refusals), [])
    expectEqual(context, `${this.name}: charges`, chargesOf(context, id), 1)
    expectEqual(context, `${this.name}: the order`, await statusOf(buyer, id), 'completed')
    await expectOneOfEach(context, this.name, buyer)
    const warnings = context.db.sqlite.prepare('SELECT kind FROM payment_warnings WHERE order_id = ?').pluck().all(id)
    expectEqual(context, `${this.name}: warnings to the operator`, warnings, [])
    const earned = (await earnedBy(affiliate)) - before
    expectEqual(context, `${this.name}: the affiliate earned`, earned, bundleMinor / 10)
  },
  async after(context, rounds) {
    // Both servers need time to send their emails.
    await sleep(3_000)
    const readers = Array.from({ length: rounds }, (_, index) => `reader-${index + 1}@shop.example`)
    const receipts = readers.map((email) => mailsTo(context.dataDir, email).length)
    const wrong = readers.filter((_, index) => receipts[index] !== 1)
    expectEqual(context, `${this.name}: buyers without exactly one receipt`, wrong, [])
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

/** Verifies that the buyer has exactly one membership of a month, one donation, one download and one course. */
async function expectOneOfEach(context: RaceContext, what: string, buyer: Browser): Promise<void> {
  const { memberships, donationsSummary, flags } = (await buyer.get<Me>('/me')).data.entitlements
  const { downloads } = (await buyer.get<{ downloads: unknown[] }>('/me/downloads')).data
  const days = memberships.map(
    ({ startedAt, expiresAt }) => (Date.parse(expiresAt) - Date.parse(startedAt)) / 86_400_000
  )
  if (days.length !== 1 || days.some((count) => count < 27 || count > 32))
    context.trial.violation(`${what}: expected one membership of a month, got ${JSON.stringify(memberships)}`)
  expectEqual(context, `${what}: donations, downloads`, [donationsSummary.totalDonations, downloads.length], [1, 1])
  expectEqual(context, `${what}: a course`, flags.hasCourseEnrollments, true)
}

async function earnedBy(affiliate: Browser): Promise<number> {
  const { balance } = (await affiliate.get<{ balance: { unpaidMinor: number } }>('/affiliates/me')).data
  return balance.unpaidMinor
}

async function openOrder(buyer: Browser, body: object, query = ''): Promise<{ id: number; path: string }> {
  const { data, text } = await buyer.post<{ checkoutUrl: string; orderId: string }>(`/store/checkout-session${query}`, {
    shippingAddress: quay,
    ...body
  })
  if (data === undefined) throw new Error(`no order was created: ${text}`)
  return { id: Number(data.orderId), path: new URL(data.checkoutUrl).pathname }
}

async function payWithToken(buyer: Browser): Promise<number> {
  const handoff = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/thanks' }
  const { data, text } = await buyer.post<{ orderId: number }>('/store/checkout-session', {
    items: [plenty],
    ...handoff
  })
  if (data === undefined) throw new Error(`the card was refused: ${text}`)
  return data.orderId
}

type ClickResult = { status: number; location: string }

/** Submits the hosted page at one of the servers. */
async function click(
  buyer: Browser,
  context: RaceContext,
  index: number,
  path: string,
  method: 'card' | 'manual'
): Promise<ClickResult> {
  const { url = '' } = context.servers[index % context.servers.length] ?? {}
  const response = await buyer.form(`${url}${path}`, { payment_method: method })
  await response.text()
  return { status: response.status, location: response.headers.get('location') ?? '' }
}

/** Pays on the gateway's page. Resolves when the shop has answered its webhooks. */
async function payAt({ gateway }: RaceContext, page: string): Promise<void> {
  await gateway.sandbox.payCheckout(page.split('/').at(-1) ?? '', { waitMs: 20_000 })
}

function chargesOf({ gateway }: RaceContext, orderId: number): number {
  const { charges } = gateway.sandbox.ledger()
  return charges.filter(
    ({ status, metadata }) => status === 'succeeded' && metadata['shopstead_order'] === String(orderId)
  ).length
}

/** The refunded amounts in minor units. */
function refundsOf({ gateway }: RaceContext, orderId: number): number[] {
  const { refunds } = gateway.sandbox.ledger()
  return refunds.filter(({ metadata }) => metadata?.['shopstead_order'] === String(orderId)).map(({ amount }) => amount)
}

async function statusOf(buyer: Browser, id: number): Promise<string> {
  const { data } = await buyer.get<{ orders: Order[] }>('/orders')
  return data.orders.find((order) => order.id === id)?.status ?? 'missing'
}

function codeOf(stdout: string): string {
  return (JSON.parse(stdout) as { error?: { code: string } }).error?.code ?? ''
}
