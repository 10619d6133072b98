import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openGateway, stripeEnv } from '../faults/shop-and-gateway.ts'
import type { Gateway } from '../faults/shop-and-gateway.ts'
import { Browser } from '../support/browser.ts'
import type { Answer } from '../support/browser.ts'
import { lastingPort } from './crash/crashing-shop.ts'
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
  about: 'an hour, a day and ten years off, ahead and behind, and back again in the middle',
  async run(trial) {
    if (spawnSync('faketime', ['--version']).status !== 0) throw new NotSupported('faketime is missing')
    for (const seconds of jumps)
      for (const off of [seconds, -seconds]) await withShop(trial, (shop) => thereAndBack(shop, off))
    await withShop(trial, (shop) => backInTheMiddle(shop))
  }
}

/** A packed shop whose clock can be set, and a gateway whose clock is right. */
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
      SHOPSTEAD_PORT: String(port),
      FAKETIME_TIMESTAMP_FILE: this.timeFile,
      // Timers and timeouts are no question of what time it is.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_NO_CACHE: '1'
    }
    this.launch = { dataDir, env, wrapper: ['env', ...preloaded()] }
  }

  async open(): Promise<void> {
    this.set(0)
    const catalogue = join(this.trial.packed.folder, 'clock.json')
    const product = { slug: 'mug', name: 'Mug', price: '12.50', stock: 50 }
    writeFileSync(
      catalogue,
      JSON.stringify({ products: [product], coupons: [{ code: 'ONCE', percent: 10, maxUses: 1 }] })
    )
    for (const words of [['migrate'], ['seed', catalogue], ['settings', 'set', 'limits.login_account', '3/900']]) {
      const { exitCode, stderr } = await this.run(...words)
      if (exitCode !== 0) throw new Error(`shopstead ${words.join(' ')}: ${stderr}`)
    }
    this.server = await servePacked(this.trial.packed, this.launch)
  }

  /** Puts the shop's clock that many seconds off. */
  set(off: number): void {
    writeFileSync(this.timeFile, `${off < 0 ? '' : '+'}${off}s\n`)
  }

  run(...words: string[]) {
    return runPacked(this.trial.packed, this.launch, ...words)
  }

  async close(): Promise<void> {
    const ended = await this.server?.end()
    if (ended !== 0) this.trial.violation(`told to stop, the server ended with ${String(ended)}`)
  }
}

/** faketime's own program would set the time itself, and with it the file could not. */
function preloaded(): string[] {
  const { stdout } = spawnSync('faketime', ['-f', '+0', 'env'], { encoding: 'utf8' })
  const found = stdout.split('\n').filter((line) => line.startsWith('LD_PRELOAD='))
  if (found.length === 0) throw new NotSupported('faketime does not say where its library is')
  return found
}

async function withShop(trial: Trial, work: (shop: ClockedShop) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(trial.packed.folder, 'clock-'))
  const port = await lastingPort()
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
  if (status !== 201) shop.trial.violation(`a registration was answered ${status}: ${text}`)
  return browser
}

async function buy(browser: Browser, fields: Record<string, unknown> = {}): Promise<Answer> {
  const { data } = await browser.get<{ offers: { productId: number }[] }>('/store/offers')
  const items = [{ productId: data.offers[0]?.productId, quantity: 1 }]
  const handoff = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/thanks' }
  return browser.post('/store/checkout-session', { items, ...handoff, ...fields })
}

/** What was begun in the right time, what was begun in the wrong one, and what is left of both. */
async function thereAndBack(shop: ClockedShop, off: number): Promise<void> {
  const { trial } = shop
  const name = `${off > 0 ? '+' : '-'}${Math.abs(off) / hour} h`
  trial.count(`clocks set ${name} and back`)
  const before = await customer(shop, 'before@example.com')
  expectPaid(trial, `before ${name}`, await buy(before, { couponCode: 'ONCE' }))
  const loggedOut = await customer(shop, 'gone@example.com')
  const goneCookies = new Map(loggedOut.cookies)
  await loggedOut.post('/auth/logout', undefined, { 'x-nonce': await loggedOut.nonce() })

  shop.set(off)
  // Behind, it is one of the future: refused, and good again in its own time.
  const wasOver = (await before.get('/me')).status === 401
  const during = await customer(shop, 'during@example.com')
  const foreignNonce = await new Browser(shop.apiRoot).nonce()
  expectPaid(trial, `during ${name}`, await buy(during))
  await useUpLogins(shop, `during ${name}`)
  await expectClockNamed(shop, `during ${name}`)

  shop.set(0)
  await expectNothingRevived(shop, name, { before, wasOver: off > 0 && wasOver, loggedOut, goneCookies })
  const isAhead = off > 0
  const then = (await during.get('/me')).status
  if (isAhead && then !== 401)
    trial.violation(`a session of ${name} was answered ${then} when the clock was right again`)
  const { status, text } = await new Browser(shop.apiRoot).post(
    '/auth/register',
    { email: 'late@example.com', password, displayName: 'Late', acceptTerms: true },
    { 'x-nonce': foreignNonce }
  )
  if (isAhead && status !== 403) trial.violation(`a nonce of ${name} was answered ${status}: ${text}`)
  await useUpLogins(shop, `after ${name}`)
  expectPaid(trial, `after ${name}`, await buy(await customer(shop, 'after@example.com')))
  if (isAhead) await expectClockNamed(shop, `after ${name}`)
  judgeMoney(shop, name, 3)
}

type Left = { before: Browser; wasOver: boolean; loggedOut: Browser; goneCookies: Map<string, string> }

async function expectNothingRevived(shop: ClockedShop, name: string, left: Left): Promise<void> {
  const { trial } = shop
  const { status } = await left.before.get('/me')
  if (left.wasOver && status !== 401) trial.violation(`a session that was over at ${name} came back to life`)
  if (!left.wasOver && status !== 200) trial.violation(`a session that was good at ${name} is answered ${status}`)
  for (const [cookie, value] of left.goneCookies) left.loggedOut.cookies.set(cookie, value)
  if ((await left.loggedOut.get('/me')).status !== 401) trial.violation(`a logged-out session came back at ${name}`)
  const again = await buy(new Browser(shop.apiRoot), { couponCode: 'ONCE' })
  if (again.status !== 422) trial.violation(`a used-up coupon was answered ${again.status} after ${name}`)
}

/** The limit holds, says when it ends, and that is never longer than its window nor in the past. */
async function useUpLogins(shop: ClockedShop, when: string): Promise<void> {
  const visitor = new Browser(shop.apiRoot)
  const wrong = { email: 'before@example.com', password: 'not-the-password' }
  let answer = await visitor.post('/auth/login', wrong)
  for (let tries = 0; tries < 4 && answer.status === 401; tries += 1) answer = await visitor.post('/auth/login', wrong)
  const retryAfter = Number(answer.headers.get('retry-after'))
  if (answer.status !== 429 || !(retryAfter >= 1 && retryAfter <= 900))
    shop.trial.violation(`${when}: wrong passwords were answered ${answer.status} with Retry-After ${retryAfter}`)
}

async function expectClockNamed(shop: ClockedShop, when: string): Promise<void> {
  const { stdout, stderr } = await shop.run('health', '--json')
  const { checks } = JSON.parse(stdout || '{"checks":[]}') as {
    checks: { name: string; status: string; message: string }[]
  }
  const found = checks.find(({ name }) => name === 'clock')
  if (found === undefined || found.status === 'ok')
    shop.trial.violation(`${when}: health says of the clock: ${found?.message ?? stderr}`)
  if (checks.some(({ message }) => /(^|\s)-\d/.test(message)))
    shop.trial.violation(`${when}: health tells of something negative: ${stdout}`)
}

function expectPaid(trial: Trial, when: string, { status, data, text }: Answer): void {
  trial.count('purchases')
  if (status !== 200 || data['paymentStatus'] !== 'succeeded')
    trial.violation(`${when}: a purchase was answered ${status}: ${text}`)
}

function judgeMoney({ trial, gateway }: ClockedShop, when: string, expected: number): void {
  const charges = gateway.sandbox.ledger().charges.filter(({ status, amount }) => status === 'succeeded' && amount > 0)
  if (charges.length !== expected)
    trial.violation(`${when}: ${expected} purchases were charged ${charges.length} times`)
}

/** Five minutes are what a clock may well be off: nobody is logged out, and nothing is lost or done twice. */
async function backInTheMiddle(shop: ClockedShop): Promise<void> {
  const { trial } = shop
  trial.count('clocks set back 5 minutes in the middle')
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
  if (again.text !== first.text) trial.violation(`the same key was answered otherwise 5 minutes before: ${again.text}`)
  if ((await person.get('/me')).status !== 200) trial.violation('5 minutes back logged somebody out')
  expectPaid(trial, '5 minutes back', await buy(person))
  const loggedOut = await person.post('/auth/logout', undefined, { 'x-nonce': nonce })
  if (loggedOut.status !== 200) trial.violation(`5 minutes back: a logout was answered ${loggedOut.status}`)
  judgeMoney(shop, '5 minutes back', 2)
}
