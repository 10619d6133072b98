import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { Browser } from '../../support/browser.ts'
import type { Answer } from '../../support/browser.ts'
import type { Random } from '../random.ts'
import type { Trial } from '../part.ts'
import type { CrashingShop } from './crashing-shop.ts'
import type { Account, Purchase, ClientRecords, CheckoutReply, PaymentPlan } from './records.ts'
import { quay } from '../../support/addresses.ts'

export type CrashContext = {
  shop: CrashingShop
  sandbox: Sandbox
  trial: Trial
  records: ClientRecords
  /** Product ids by slug. */
  products: ReadonlyMap<string, number>
  isOver(): boolean
  /** Called after every response. */
  answered(): void
}

export const password = 'tidal-basalt-93'

const goodCards = ['pm_card_visa', 'pm_card_mastercard', 'pm_card_amex'] as const
const badCards = ['pm_card_chargeDeclined', 'pm_card_visa_chargeDeclinedInsufficientFunds'] as const
/** The number of retries after which a purchase with an unknown outcome is a violation. */
const maxTries = 300

/** One customer, who creates accounts, buys with every payment method, and records each response. */
export async function runCustomer(context: CrashContext, random: Random): Promise<void> {
  let account = await register(context)
  while (!context.isOver()) {
    if (random.oneIn(8)) account = await register(context)
    else await buy(context, random, account)
    await sleep(random.between(0, 40))
  }
}

async function register(context: CrashContext): Promise<Account> {
  const email = `${randomUUID()}@example.com`
  const account: Account = { email, browser: new Browser(context.shop.apiRoot), acknowledged: false, purchases: [] }
  context.records.accounts.push(account)
  context.trial.count('registrations')
  const first = await once(context, () => account.browser.register({ email, password }))
  const answer = first ?? (await registerAgain(context, account))
  account.acknowledged = answer.status === 201 || answer.status === 200
  if (!account.acknowledged) context.trial.violation(`the registration of ${email} returned ${answer.text}`)
  return account
}

/** If the shop executed the first request before it was killed, the email is taken by this customer, who logs in. */
async function registerAgain(context: CrashContext, { browser, email }: Account): Promise<Answer> {
  const answer = await untilAnswered(context, () => browser.register({ email, password }))
  if (answer.error?.code !== 'AUTH_REGISTRATION_FAILED') return answer
  return untilAnswered(context, () => browser.post('/auth/login', { email, password }))
}

async function buy(context: CrashContext, random: Random, account: Account): Promise<void> {
  const purchase = choose(context, random)
  account.purchases.push(purchase)
  context.trial.count(purchase.plan.strategy === 'token_handoff' ? 'checkouts by token' : 'checkouts by page')
  const answer = await once(context, () => checkOut(account, purchase))
  if (answer === null && random.oneIn(12)) return context.trial.count('checkouts abandoned without a response')
  const last = await retryUntilKnown(context, account, purchase, answer)
  if (last === null) return
  purchase.reply = replyOf(last)
  if (!isExpected(last)) context.trial.violation(`checkout ${purchase.key} returned ${last.status}: ${last.text}`)
  await payOnPage(context, random, purchase, last)
}

function choose(context: CrashContext, random: Random): Purchase {
  // The lantern has a limited stock.
  const product = random.oneIn(6) ? 'lantern' : 'mug'
  const plan = choosePlan(random)
  const items = [{ productId: context.products.get(product), quantity: 1 }]
  const handoff =
    plan.strategy === 'token_handoff'
      ? { strategy: plan.strategy, paymentToken: plan.card, returnUrl: 'https://site.example/thanks' }
      : { shippingAddress: quay }
  const body = { items, ...handoff }
  return { key: randomUUID(), plan, product, body, reply: null, paidOnPage: false }
}

function choosePlan(random: Random): PaymentPlan {
  const kind = random.between(1, 10)
  if (kind <= 4) return { strategy: 'token_handoff', card: random.pick(goodCards), bank: 'not required' }
  if (kind === 5) return { strategy: 'token_handoff', card: random.pick(badCards), bank: 'not required' }
  if (kind === 6) {
    const bank = random.oneIn(3) ? 'refuses' : 'approves'
    return { strategy: 'token_handoff', card: 'pm_card_threeDSecureRequired', bank }
  }
  if (random.oneIn(30)) return { strategy: 'redirect_to_store', cards: [] }
  const cards = random.oneIn(4) ? [random.pick(badCards), random.pick(goodCards)] : [random.pick(goodCards)]
  return { strategy: 'redirect_to_store', cards }
}

/** Sends the checkout request of a purchase. */
export function checkOut({ browser }: Account, { key, body }: Purchase): Promise<Answer> {
  return browser.post('/store/checkout-session', body, { 'idempotency-key': key })
}

/** Retries with the same key while there is no response or the response says that the outcome is unknown. */
async function retryUntilKnown(
  context: CrashContext,
  account: Account,
  purchase: Purchase,
  first: Answer | null
): Promise<Answer | null> {
  let answer = first
  for (let tries = 0; tries < maxTries; tries += 1) {
    answer ??= await untilAnswered(context, () => checkOut(account, purchase))
    if (answer.status !== 504 && answer.error?.details['reason'] !== 'in_progress') return answer
    context.trial.count(`responses with ${answer.status}, retried`)
    await sleep(200)
    answer = null
  }
  context.trial.violation(`the outcome of checkout ${purchase.key} stayed unknown`)
  return null
}

/** The expected responses: paid or pending, declined, cancelled by the reconciler without a charge, or sold out. */
function isExpected({ status, error }: Answer): boolean {
  return [200, 402, 502].includes(status) || (status === 422 && error.code === 'VALIDATION_FAILED')
}

function replyOf({ status, data, text }: Answer): CheckoutReply {
  const { orderId, paymentStatus } = (data ?? {}) as { orderId?: string | number; paymentStatus?: string }
  return {
    status,
    orderId: orderId === undefined ? null : Number(orderId),
    paymentStatus: paymentStatus ?? null,
    text
  }
}

/** Pays on the sandbox's payment or bank page, which does not depend on the shop. */
async function payOnPage(context: CrashContext, random: Random, purchase: Purchase, { data }: Answer): Promise<void> {
  const { checkoutUrl, redirectUrl } = (data ?? {}) as { checkoutUrl?: string; redirectUrl?: string }
  const { plan } = purchase
  if (plan.strategy === 'token_handoff') {
    if (redirectUrl === undefined) return
    const outcome = plan.bank === 'approves' ? 'approve' : 'fail'
    await post(context, redirectUrl, { outcome })
    purchase.paidOnPage = plan.bank === 'approves'
    return
  }
  if (!checkoutUrl?.includes('/sandbox/checkout/')) return
  for (const card of plan.cards) {
    if (random.oneIn(2)) await sleep(random.between(0, 200))
    const status = await post(context, checkoutUrl, { payment_method: card })
    purchase.paidOnPage = status === 303
  }
}

async function post({ sandbox }: CrashContext, url: string, fields: { [name: string]: string }): Promise<number> {
  const page = await sandbox.pages(new Request(url, { method: 'POST', body: new URLSearchParams(fields) }))
  if (page === undefined) throw new Error(`the sandbox has no page at ${url}`)
  return page.status
}

/** Sends one request; null when the shop was killed during it. */
async function once<T>(context: CrashContext, send: () => Promise<T>): Promise<T | null> {
  await context.shop.whenRunning()
  try {
    const answer = await send()
    context.answered()
    return answer
  } catch (error) {
    // fetch throws a TypeError for a lost connection.
    if (!(error instanceof TypeError)) throw error
    context.trial.count('requests without a response')
    return null
  }
}

/** Sends a request again until there is a response. */
export async function untilAnswered<T>(context: CrashContext, send: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await once(context, send)
    if (answer !== null) return answer
    await sleep(20)
  }
}
