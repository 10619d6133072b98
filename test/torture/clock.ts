import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openGateway, stripeEnv } from '../faults/shop-and-gateway.ts'
import type { Gateway } from '../faults/shop-and-gateway.ts'
import { Browser } from '../support/browser.ts'
import type { Answer } from '../support/browser.ts'
import { fakeTime } from '../support/fake-time.ts'
import { stablePort } from './crash/crashing-shop.ts'
import { NotSupported } from './part.ts'
import type { Trial, Part } from './part.ts'
import { runPacked, servePacked } from './packed-shop.ts'
import type { PackedServer, LaunchOptions } from './packed-shop.ts'

const minute = 60
const hour = 60 * minute
const day = 24 * hour
const jumps = [hour, day, 3_650 * day]
const password = 'tidal-basalt-93'

export const clock: Part = {
  name: 'clock',
  about: "the server's clock an hour, a day and ten years ahead and behind, and set back during a purchase",
  async run(trial) {
    if (spawnSync('faketime', ['--version']).status !== 0) throw new NotSupported('faketime is not installed')
    for (const seconds of jumps)
      for (const off of [seconds, -seconds]) await withShop(trial, (shop) => jumpAndReturn(shop, off))
    await withShop(trial, (shop) => setBackDuringPurchase(shop))
  }
}

/** A packed shop whose clock can be set, and a gateway with the correct clock. */
class ClockedShop {
  readonly trial: Trial
  readonly apiRoot: string
  readonly gateway: Gateway
  private readonly timeFile: string
  private readonly launch: LaunchOptions
  private server: PackedServer | undefined

  constructor(trial: Trial, dataDir: string, port: number, gateway: Gateway) {
    this.trial = trial
    this.gateway = gateway
    this.apiRoot = `http://127.0.0.1:${port}/api/v1`
    this.timeFile = join(dataDir, '..', 'time')
    const env = {
      ...stripeEnv(gateway.origin),
      SHOPSTEAD_PORT: String(port)
    }
    const clockVariables = Object.entries(fakeTime(this.timeFile)).map(([name, value]) => `${name}=${value}`)
    this.launch = { dataDir, env, wrapper: ['env', ...clockVariables] }
  }

  async open(): Promise<void> {
    this.set(0)
    const catalog = join(this.trial.packed.folder, 'clock.json')
    const product = { slug: 'mug', name: 'Mug', price: '12.50', stock: 50 }
    writeFileSync(
      catalog,
      JSON.stringify({ products: [product], coupons: [{ code: 'ONCE', percent: 10, maxUses: 1 }] })
    )
    for (const args of [['init'], ['seed', catalog], ['settings', 'set', 'limits.login_account', '3/900']]) {
      const { exitCode, stderr } = await this.run(...args)
      if (exitCode !== 0) throw new Error(`shopstead ${args.join(' ')}: ${stderr}`)
    }
    this.server = await servePacked(this.trial.packed, this.launch)
  }

  /** Sets the shop's clock off by that many seconds. */
  set(off: number): void {
    writeFileSync(this.timeFile, `${off < 0 ? '' : '+'}${off}s\n`)
  }

  run(...args: string[]) {
    return runPacked(this.trial.packed, this.launch, ...args)
  }

  async close(): Promise<void> {
    const ended = await this.server?.end()
    if (ended !== 0) this.trial.violation(`after SIGTERM the server ended with ${String(ended)}`)
  }
}

async function withShop(trial: Trial, work: (shop: ClockedShop) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(trial.packed.folder, 'clock-'))
  const port = await stablePort()
  const gateway = await openGateway(() => `http://127.0.0.1:${port}`)
  const shop = new ClockedShop(trial, join(folder, 'data'), port, gateway)
  try {
    await shop.open()
    await work(shop)
    await shop.close()
  } finally {
    await gateway.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function customer(shop: ClockedShop, email: string): Promise<Browser> {
  const browser = new Browser(shop.apiRoot)
  const { status, text } = await browser.register({ email, password })
  if (status !== 201) shop.trial.violation(`a registration returned ${status}: ${text}`)
  return browser
}

async function buy(browser: Browser, fields: Record<string, unknown> = {}): Promise<Answer> {
  const { data } = await browser.get<{ offers: { productId: number }[] }>('/store/offers')
  const items = [{ productId: data.offers[0]?.productId, quantity: 1 }]
  const handoff = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/thanks' }
  return browser.post('/store/checkout-session', { items, ...handoff, ...fields })
}

/** Verifies sessions, nonces, coupons, limits and purchases before, during and after a jump of the clock. */
async function jumpAndReturn(shop: ClockedShop, off: number): Promise<void> {
  const { trial } = shop
  const name = `${off > 0 ? '+' : '-'}${Math.abs(off) / hour} h`
  trial.count(`clock jumps of ${name} and back`)
  const before = await customer(shop, 'before@example.com')
  expectPaid(trial, `before ${name}`, await buy(before, { couponCode: 'ONCE' }))
  const loggedOut = await customer(shop, 'gone@example.com')
  const oldCookies = new Map(loggedOut.cookies)
  await loggedOut.post('/auth/logout', undefined, { 'x-nonce': await loggedOut.nonce() })

  shop.set(off)
  // If the clock is behind, this session starts in the future: it is refused now and valid later.
  const hadExpired = (await before.get('/me')).status === 401
  const during = await customer(shop, 'during@example.com')
  const foreignNonce = await new Browser(shop.apiRoot).nonce()
  expectPaid(trial, `during ${name}`, await buy(during))
  await useUpLogins(shop, `during ${name}`)
  await expectClockNamed(shop, `during ${name}`)

  shop.set(0)
  await expectNothingRevived(shop, name, { before, hadExpired: off > 0 && hadExpired, loggedOut, oldCookies })
  const isAhead = off > 0
  const then = (await during.get('/me')).status
  if (isAhead && then !== 401) trial.violation(`a session of ${name} returned ${then} when the clock was correct again`)
  const { status, text } = await new Browser(shop.apiRoot).post(
    '/auth/register',
    { email: 'late@example.com', password, displayName: 'Late', acceptTerms: true },
    { 'x-nonce': foreignNonce }
  )
  if (isAhead && status !== 403) trial.violation(`a nonce of ${name} returned ${status}: ${text}`)
  await useUpLogins(shop, `after ${name}`)
  expectPaid(trial, `after ${name}`, await buy(await customer(shop, 'after@example.com')))
  if (isAhead) await expectClockNamed(shop, `after ${name}`)
  verifyMoney(shop, name, 3)
}

type SavedSessions = { before: Browser; hadExpired: boolean; loggedOut: Browser; oldCookies: Map<string, string> }

async function expectNothingRevived(shop: ClockedShop, name: string, saved: SavedSessions): Promise<void> {
  const { trial } = shop
  const { status } = await saved.before.get('/me')
  if (saved.hadExpired && status !== 401) trial.violation(`a session that had expired at ${name} became valid again`)
  if (!saved.hadExpired && status !== 200) trial.violation(`a session that was valid at ${name} returns ${status}`)
  for (const [cookie, value] of saved.oldCookies) saved.loggedOut.cookies.set(cookie, value)
  if ((await saved.loggedOut.get('/me')).status !== 401)
    trial.violation(`a logged-out session became valid again after ${name}`)
  const again = await buy(new Browser(shop.apiRoot), { couponCode: 'ONCE' })
  if (again.status !== 422) trial.violation(`a used-up coupon returned ${again.status} after ${name}`)
}

/** Verifies that the login limit applies and that its Retry-After is positive and within the window. */
async function useUpLogins(shop: ClockedShop, when: string): Promise<void> {
  const visitor = new Browser(shop.apiRoot)
  const wrong = { email: 'before@example.com', password: 'not-the-password' }
  let answer = await visitor.post('/auth/login', wrong)
  for (let tries = 0; tries < 4 && answer.status === 401; tries += 1) answer = await visitor.post('/auth/login', wrong)
  const retryAfter = Number(answer.headers.get('retry-after'))
  if (answer.status !== 429 || !(retryAfter >= 1 && retryAfter <= 900))
    shop.trial.violation(`${when}: wrong passwords returned ${answer.status} with Retry-After ${retryAfter}`)
}

async function expectClockNamed(shop: ClockedShop, when: string): Promise<void> {
  const { stdout, stderr } = await shop.run('health', '--json')
  const { checks } = JSON.parse(stdout || '{"checks":[]}') as {
    checks: { name: string; status: string; message: string }[]
  }
  const found = checks.find(({ name }) => name === 'clock')
  if (found === undefined || found.status === 'ok')
    shop.trial.violation(`${when}: health does not warn about the clock: ${found?.message ?? stderr}`)
  if (checks.some(({ message }) => /(^|\s)-\d/.test(message)))
    shop.trial.violation(`${when}: health prints a negative number: ${stdout}`)
}

function expectPaid(trial: Trial, when: string, { status, data, text }: Answer): void {
  trial.count('purchases')
  if (status !== 200 || data['paymentStatus'] !== 'succeeded')
    trial.violation(`${when}: a purchase returned ${status}: ${text}`)
}

function verifyMoney({ trial, gateway }: ClockedShop, when: string, expected: number): void {
  const charges = gateway.sandbox.ledger().charges.filter(({ status, amount }) => status === 'succeeded' && amount > 0)
  if (charges.length !== expected)
    trial.violation(`${when}: ${expected} purchases were charged ${charges.length} times`)
}

/** A clock may well be five minutes off. Sessions must stay valid, and nothing may be lost or done twice. */
async function setBackDuringPurchase(shop: ClockedShop): Promise<void> {
  const { trial } = shop
  trial.count('clocks set back 5 minutes during a purchase')
  const person = await customer(shop, 'ada@example.com')
  const nonce = await person.nonce()
  const key = { 'idempotency-key': 'the-same' }
  const { data } = await person.get<{ offers: { productId: number }[] }>('/store/offers')
  const body = {
    items: [{ productId: data.offers[0]?.productId, quantity: 1 }],
    strategy: 'token_handoff',
    paymentToken: 'pm_card_visa',
    returnUrl: 'https://site.example/thanks'
  }
  const first = await person.post('/store/checkout-session', body, key)
  expectPaid(trial, 'before 5 minutes back', first)
  shop.set(-5 * minute)
  const again = await person.post('/store/checkout-session', body, key)
  if (again.text !== first.text)
    trial.violation(`the same key returned a different response 5 minutes back: ${again.text}`)
  if ((await person.get('/me')).status !== 200) trial.violation('5 minutes back ended a session')
  expectPaid(trial, '5 minutes back', await buy(person))
  const loggedOut = await person.post('/auth/logout', undefined, { 'x-nonce': nonce })
  if (loggedOut.status !== 200) trial.violation(`5 minutes back: a logout returned ${loggedOut.status}`)
  verifyMoney(shop, '5 minutes back', 2)
}
