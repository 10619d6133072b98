import type Stripe from 'stripe'
import { stripeApiVersion } from '../../src/platform/stripe-client.ts'
import type { ApiFault, FaultRequest } from '../../src/sandbox/http/faults.ts'
import { idOf } from '../../src/sandbox/store/ids.ts'
import { Random } from '../torture/random.ts'
import { compareLedger } from './ledger.ts'
import { dayMs, hourMs, MoneyShop } from './money-shop.ts'
import type { Subscriber } from './money-shop.ts'
import { askRefund, renewalsOf } from './money-steps.ts'

/** What happened in a year, by its name, and where the ledger and the books differed. */
export type YearResult = { seed: number; happened: Map<string, number>; violations: string[] }

type Customer = Subscriber & {
  /** The day on which the card works again; null while it does. */ cardWorksOn: number | null
}
type Trial = { dispute: string; decidedOn: number }

const badCards = [
  'pm_card_chargeDeclinedInsufficientFunds',
  'pm_card_chargeDeclinedExpiredCard',
  'pm_card_chargeDeclined'
]
const goodCards = ['pm_card_visa', 'pm_card_visa', 'pm_card_mastercard', 'pm_card_refundFail', 'pm_card_pendingRefund']
const faultyCalls = [
  'events.list',
  'invoices.retrieve',
  'subscriptions.*',
  'invoice_payments.list',
  'payment_intents.retrieve',
  'refunds.*',
  'disputes.retrieve',
  'charges.retrieve',
  '*'
]
const apiFaults: readonly ApiFault[] = ['timeout', 'truncated', 'html', '500', '503', '429', '409', '401']
const webhookFaults = ['lost', 'twice', 'late', 'out_of_order'] as const

const customersAtOnce = 5

/**
 * Lives through a year of subscriptions, or so many days of one, day by day: renewals, cards that fail and work again, cancellations in Stripe's
 * portal, refunds by the operator and in the dashboard, disputes, payments of other software on the same account; with webhooks that are lost, late, doubled or out of
 * order, failing calls, older API versions, restarts and days on which the shop is closed. The ledger is compared with
 * the books each month and at the end. The same seed lives the same year.
 */
export async function liveYear(seed: number, days = 365): Promise<YearResult> {
  const shop = MoneyShop.open()
  const year = new Year(shop, new Random(seed))
  try {
    await year.live(days)
    return { seed, happened: year.happened, violations: year.violations }
  } finally {
    shop.close()
  }
}

class Year {
  readonly happened = new Map<string, number>()
  readonly violations: string[] = []
  private readonly shop: MoneyShop
  private readonly random: Random
  private readonly trials: Trial[] = []
  /** Charges of other software on the same Stripe account. */
  private readonly foreign = new Set<string>()
  private customers: Customer[] = []
  private day = 0
  /** The shop is closed until this day. */
  private opensOn = 0

  constructor(shop: MoneyShop, random: Random) {
    this.shop = shop
    this.random = random
  }

  async live(days: number): Promise<void> {
    for (this.day = 1; this.day <= days; this.day += 1) {
      this.shop.clock.advance(dayMs)
      await this.liveDay()
      if (this.day % 30 === 0 && this.day >= this.opensOn) await this.audit()
    }
    for (const { dispute } of this.trials.splice(0)) this.decide(dispute)
    await this.audit()
  }

  /** Webhook faults before anything happens, because an event meets them when it occurs; other faults after that. */
  private async liveDay(): Promise<void> {
    const { shop, random } = this
    shop.sandbox.clearFaults()
    if (random.oneIn(2)) this.fault({ target: 'webhook:*', fault: random.pick(webhookFaults), times: -1 })
    await this.customersAct()
    await this.dashboardActs()
    if (random.oneIn(20)) await this.otherSoftwareActs()
    this.banksAct()
    for (let faults = random.between(0, 2); faults > 0; faults -= 1) this.failCalls()
    if (this.day === this.opensOn) this.shop.restart()
    if (this.day < this.opensOn) {
      await shop.deliver()
      return this.count('days closed')
    }
    await this.operatorActs()
    await shop.deliver()
    await shop.reconcile()
    if (random.oneIn(30)) {
      this.opensOn = this.day + random.between(2, 9)
      shop.app.setWebhookReceiver(async () => ({ status: 503 }))
    }
    if (this.opensOn > this.day || !random.oneIn(20)) return
    shop.restart()
    this.useVersions()
    this.count('restarts')
  }

  private async customersAct(): Promise<void> {
    if (this.customers.length < customersAtOnce && this.random.oneIn(4)) await this.welcome()
    const stripe = await this.shop.stripe()
    const present = this.customers
    for (const customer of present) {
      const subscription = await stripe.subscriptions.retrieve(customer.subscription)
      if (subscription.status !== 'canceled') await this.customerActs(stripe, customer, subscription)
      else this.customers = this.customers.filter((other) => other !== customer)
    }
  }

  /** A purchase needs the gateway, so that nothing fails but its webhooks. */
  private async welcome(): Promise<void> {
    const bought = await this.shop.subscribe(this.random.pick(goodCards))
    this.customers.push({ ...bought, cardWorksOn: null })
    this.count('subscribers')
  }

  private async customerActs(stripe: Stripe, customer: Customer, current: Stripe.Subscription): Promise<void> {
    const { random } = this
    const update = async (params: Stripe.SubscriptionUpdateParams): Promise<void> =>
      void (await stripe.subscriptions.update(current.id, params))
    if (customer.cardWorksOn === null && random.oneIn(50)) {
      await update({ default_payment_method: random.pick(badCards) })
      customer.cardWorksOn = this.day + random.between(1, 40)
      this.count('cards that fail')
    } else if (customer.cardWorksOn !== null && this.day >= customer.cardWorksOn) {
      await update({ default_payment_method: random.pick(goodCards) })
      customer.cardWorksOn = null
      this.count('cards that work again')
    }
    if (current.cancel_at === null && random.oneIn(120)) {
      const periodEnd = current.items.data[0]?.current_period_end ?? 0
      await update({ cancel_at: periodEnd + random.pick([0, 0, 0, -1, 10, 40]) * 86_400 })
      this.count('cancellations in the portal')
    } else if (current.cancel_at !== null && random.oneIn(40)) {
      await update({ cancel_at: '' })
      this.count('cancellations taken back')
    }
  }

  /** Refunds and cancellations of which the shop hears by events only. */
  private async dashboardActs(): Promise<void> {
    const { random, shop } = this
    const stripe = await shop.stripe()
    const charge = random.oneIn(30) ? this.pickCharge() : undefined
    if (charge !== undefined) {
      const left = charge.amount - charge.amount_refunded
      await stripe.refunds.create({ charge: charge.id, amount: random.oneIn(2) ? left : random.between(1, left) })
      this.count('refunds in the dashboard')
    }
    if (!random.oneIn(60) || this.customers.length === 0) return
    const { subscription } = random.pick(this.customers)
    const { status } = await stripe.subscriptions.retrieve(subscription)
    if (status === 'canceled') return
    await stripe.subscriptions.cancel(subscription)
    this.count('cancellations in the dashboard')
  }

  /** A payment of a WooCommerce on the same account, with its refund or dispute. */
  private async otherSoftwareActs(): Promise<void> {
    const { random, shop } = this
    const stripe = await shop.stripe()
    const { id, latest_charge: charge } = await stripe.paymentIntents.create({
      amount: random.between(100, 9_000),
      currency: 'eur',
      confirm: true,
      payment_method: 'pm_card_visa',
      return_url: 'https://other.example/',
      metadata: { order_id: '1', order_key: 'wc_order_1' }
    })
    this.foreign.add(idOf(charge) ?? '')
    if (random.oneIn(3)) await stripe.refunds.create({ payment_intent: id })
    else if (random.oneIn(2)) shop.sandbox.openDispute(id)
    this.count('payments of other software')
  }

  /** A charge of the shop that the gateway would refund. */
  private pickCharge(): Stripe.Charge | undefined {
    const { charges } = this.shop.sandbox.ledger()
    const open = charges.filter(({ id, status, disputed, amount, amount_refunded: refunded }) => {
      return status === 'succeeded' && !disputed && refunded < amount && !this.foreign.has(id)
    })
    return open.length === 0 ? undefined : this.random.pick(open)
  }

  private banksAct(): void {
    const { random, shop } = this
    const due = this.trials.filter(({ decidedOn }) => decidedOn <= this.day)
    for (const trial of due) {
      this.trials.splice(this.trials.indexOf(trial), 1)
      this.decide(trial.dispute)
    }
    if (!random.oneIn(25)) return
    const charge = this.pickCharge()
    if (charge === undefined) return
    const left = charge.amount - charge.amount_refunded
    const part = random.oneIn(2) ? { amount: random.between(1, left) } : {}
    const { id } = shop.sandbox.openDispute(idOf(charge.payment_intent) ?? '', part)
    this.trials.push({ dispute: id, decidedOn: this.day + random.between(0, 30) })
    this.count('disputes')
  }

  private decide(dispute: string): void {
    const outcome = this.random.pick(['won', 'lost'] as const)
    this.shop.sandbox.decideDispute(dispute, outcome)
    this.count(`disputes ${outcome}`)
  }

  private async operatorActs(): Promise<void> {
    const { random, shop } = this
    if (!random.oneIn(15) || this.customers.length === 0) return
    const { orderId } = random.pick(this.customers)
    const order = random.pick([orderId, ...renewalsOf(shop, orderId)])
    const confirmed = await askRefund(shop, order, random.oneIn(2) ? undefined : random.between(1, 799))
    this.count(confirmed ? 'refunds' : 'refunds not confirmed')
  }

  private failCalls(): void {
    const target = this.random.pick(faultyCalls)
    this.fault({ target, fault: this.random.pick(apiFaults), times: this.random.between(1, 4) })
  }

  private fault(request: FaultRequest): void {
    this.shop.sandbox.addFault(request)
    this.count(request.target.startsWith('webhook') ? 'days with webhook faults' : 'faults of calls')
  }

  private useVersions(): void {
    const older = this.random.oneIn(3) ? '2024-06-20' : stripeApiVersion
    this.shop.sandbox.useVersions({ account: older, endpoint: older })
  }

  /** The shop hears of everything, then the ledger is compared with the books. */
  private async audit(): Promise<void> {
    await this.shop.settle()
    const { charges, violations } = compareLedger(this.shop, this.foreign)
    this.happened.set('charges', charges)
    const found = violations.filter((violation) => this.violations.every((known) => !known.includes(violation)))
    this.violations.push(...found.map((violation) => `day ${this.day}: ${violation}`))
    this.shop.clock.advance(hourMs)
  }

  private count(what: string): void {
    this.happened.set(what, (this.happened.get(what) ?? 0) + 1)
  }
}

/** The violations of all years and what happened in them, in a line. */
export function reportYears(years: readonly YearResult[]): string {
  const totals = new Map<string, number>()
  for (const { happened } of years)
    for (const [what, times] of happened) totals.set(what, (totals.get(what) ?? 0) + times)
  const violations = years.flatMap(({ seed, violations }) => violations.map((text) => `seed ${seed}, ${text}`))
  const counted = [...totals].map(([what, times]) => `${times} ${what}`).join(', ')
  return [...violations, `${years.length} years: ${counted}, ${violations.length} violations`].join('\n')
}
