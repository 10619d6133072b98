import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { Browser } from '../../support/browser.ts'
import type { Answer } from '../../support/browser.ts'
import type { Random } from '../random.ts'
import type { Trial } from '../part.ts'
import type { CrashingShop } from './crashing-shop.ts'
import type { Account, Purchase, Memory, Told, Way } from './record.ts'

export type World = {
  shop: CrashingShop
  sandbox: Sandbox
  trial: Trial
  record: Memory
  /** Product ids by slug. */
  products: ReadonlyMap<string, number>
  isOver(): boolean
  /** Told of every answer that came. */
  answered(): void
}

export const password = 'tidal-basalt-93'

const goodCards = ['pm_card_visa', 'pm_card_mastercard', 'pm_card_amex'] as const
const badCards = ['pm_card_chargeDeclined', 'pm_card_visa_chargeDeclinedInsufficientFunds'] as const
/** A purchase that is still refused as "running" or "unknown" after so many tries is never settled. */
const mostTries = 300

/** One of the people of this torture: makes accounts, buys in every way, and remembers each answer. */
export async function live(world: World, random: Random): Promise<void> {
  let account = await register(world)
  while (!world.isOver()) {
    if (random.oneIn(8)) account = await register(world)
    else await buy(world, random, account)
    await sleep(random.between(0, 40))
  }
}

async function register(world: World): Promise<Account> {
  const email = `${randomUUID()}@example.com`
  const account: Account = { email, browser: new Browser(world.shop.apiRoot), acknowledged: false, purchases: [] }
  world.record.accounts.push(account)
  world.trial.count('registrations')
  const first = await once(world, () => account.browser.register({ email, password }))
  const answer = first ?? (await registerAgain(world, account))
  account.acknowledged = answer.status === 201 || answer.status === 200
  if (!account.acknowledged) world.trial.violation(`registering ${email} answered ${answer.text}`)
  return account
}

/** The first request may have been carried out before the shop died: then the email is taken, by its owner. */
async function registerAgain(world: World, { browser, email }: Account): Promise<Answer> {
  const answer = await untilAnswered(world, () => browser.register({ email, password }))
  if (answer.error?.code !== 'AUTH_REGISTRATION_FAILED') return answer
  return untilAnswered(world, () => browser.post('/auth/login', { email, password }))
}

async function buy(world: World, random: Random, account: Account): Promise<void> {
  const purchase = choose(world, random)
  account.purchases.push(purchase)
  world.trial.count(purchase.way.strategy === 'token_handoff' ? 'checkouts by token' : 'checkouts by page')
  const answer = await once(world, () => ask(account, purchase))
  if (answer === null && random.oneIn(12)) return world.trial.count('checkouts given up without an answer')
  const last = await settled(world, account, purchase, answer)
  if (last === null) return
  purchase.told = toldOf(last)
  if (!isExpected(last)) world.trial.violation(`checkout ${purchase.key} answered ${last.status}: ${last.text}`)
  await payOnPage(world, random, purchase, last)
}

function choose(world: World, random: Random): Purchase {
  // The lantern runs out, the mug never does.
  const product = random.oneIn(6) ? 'lantern' : 'mug'
  const way = chooseWay(random)
  const items = [{ productId: world.products.get(product), quantity: 1 }]
  const handoff =
    way.strategy === 'token_handoff'
      ? { strategy: way.strategy, paymentToken: way.card, returnUrl: 'https://site.example/thanks' }
      : {}
  const body = { items, ...handoff }
  return { key: randomUUID(), way, product, body, told: null, paidOnPage: false }
}

function chooseWay(random: Random): Way {
  const kind = random.between(1, 10)
  if (kind <= 4) return { strategy: 'token_handoff', card: random.pick(goodCards), bank: 'not asked' }
  if (kind === 5) return { strategy: 'token_handoff', card: random.pick(badCards), bank: 'not asked' }
  if (kind === 6) {
    const bank = random.oneIn(3) ? 'refuses' : 'approves'
    return { strategy: 'token_handoff', card: 'pm_card_threeDSecureRequired', bank }
  }
  if (random.oneIn(30)) return { strategy: 'redirect_to_store', cards: [] }
  const cards = random.oneIn(4) ? [random.pick(badCards), random.pick(goodCards)] : [random.pick(goodCards)]
  return { strategy: 'redirect_to_store', cards }
}

export function ask({ browser }: Account, { key, body }: Purchase): Promise<Answer> {
  return browser.post('/store/checkout-session', body, { 'idempotency-key': key })
}

/** Asks again under the same key as long as the answer is missing, or says that the outcome is not known yet. */
async function settled(
  world: World,
  account: Account,
  purchase: Purchase,
  first: Answer | null
): Promise<Answer | null> {
  let answer = first
  for (let tries = 0; tries < mostTries; tries += 1) {
    answer ??= await untilAnswered(world, () => ask(account, purchase))
    if (answer.status !== 504 && answer.error?.details['reason'] !== 'in_progress') return answer
    world.trial.count(`answers of ${answer.status}, asked again`)
    await sleep(200)
    answer = null
  }
  world.trial.violation(`checkout ${purchase.key} was never settled`)
  return null
}

/** Paid, waiting for its buyer, declined; called off by the reconciler, uncharged; or nothing left of the lantern. */
function isExpected({ status, error }: Answer): boolean {
  return [200, 402, 502].includes(status) || (status === 422 && error.code === 'VALIDATION_FAILED')
}

function toldOf({ status, data, text }: Answer): Told {
  const { orderId, paymentStatus } = (data ?? {}) as { orderId?: string | number; paymentStatus?: string }
  return {
    status,
    orderId: orderId === undefined ? null : Number(orderId),
    paymentStatus: paymentStatus ?? null,
    text
  }
}

/** On the stand-in's own pages, which outlive the shop: its payment page, or the bank's question. */
async function payOnPage(world: World, random: Random, purchase: Purchase, { data }: Answer): Promise<void> {
  const { checkoutUrl, redirectUrl } = (data ?? {}) as { checkoutUrl?: string; redirectUrl?: string }
  const { way } = purchase
  if (way.strategy === 'token_handoff') {
    if (redirectUrl === undefined) return
    const outcome = way.bank === 'approves' ? 'approve' : 'fail'
    await post(world, redirectUrl, { outcome })
    purchase.paidOnPage = way.bank === 'approves'
    return
  }
  if (!checkoutUrl?.includes('/sandbox/checkout/')) return
  for (const card of way.cards) {
    if (random.oneIn(2)) await sleep(random.between(0, 200))
    const status = await post(world, checkoutUrl, { payment_method: card })
    purchase.paidOnPage = status === 303
  }
}

async function post({ sandbox }: World, url: string, fields: { [name: string]: string }): Promise<number> {
  const page = await sandbox.pages(new Request(url, { method: 'POST', body: new URLSearchParams(fields) }))
  if (page === undefined) throw new Error(`the stand-in has no page at ${url}`)
  return page.status
}

/** One request; null when the shop died under it. */
async function once<T>(world: World, send: () => Promise<T>): Promise<T | null> {
  await world.shop.standing()
  try {
    const answer = await send()
    world.answered()
    return answer
  } catch (error) {
    // What fetch throws of a connection that was lost.
    if (!(error instanceof TypeError)) throw error
    world.trial.count('requests without an answer')
    return null
  }
}

export async function untilAnswered<T>(world: World, send: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await once(world, send)
    if (answer !== null) return answer
    await sleep(20)
  }
}
