import { spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openGateway, stripeEnv } from '../faults/shop-and-gateway.ts'
import { Browser } from '../support/browser.ts'
import { OrderOfEvents } from './durability/order.ts'
import type { Acknowledged } from './durability/order.ts'
import { readTrace, straceOptions } from './durability/trace.ts'
import { openShop } from './open-shop.ts'
import { runPacked, servePacked } from './packed-shop.ts'
import type { PackedServer } from './packed-shop.ts'
import { NotSupported } from './part.ts'
import type { Trial, Part } from './part.ts'

/** How many ask at once in the second half. */
const atOnce = 8

export const durability: Part = {
  name: 'durability',
  about: 'no 2xx to a write before its fsync has come back, by the system calls of the server',
  async run(trial) {
    assertTraceable()
    const folder = mkdtempSync(join(trial.packed.folder, 'durability-'))
    const trace = join(folder, 'trace')
    const dataDir = join(folder, 'data')
    let url = ''
    const gateway = await openGateway(() => url)
    try {
      await judgeFirstStart(trial, join(folder, 'first'), trace)
      await openShop(trial.packed, dataDir, [{ slug: 'mug', name: 'Mug', price: '12.50' }])
      const launch = { dataDir, env: stripeEnv(gateway.origin), wrapper: straceOptions(trace) }
      const server = await servePacked(trial.packed, launch)
      url = server.url
      const acknowledged = await writeAll(trial, server)
      await server.end()
      await traced(trace)
      await judge(trial, trace, acknowledged, { shop: portOf(server.url), gateway: portOf(gateway.origin) })
    } finally {
      await gateway.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

function assertTraceable(): void {
  const { error, status, stderr } = spawnSync('strace', ['-f', '-o', '/dev/null', 'true'], { encoding: 'utf8' })
  if (error !== undefined) throw new NotSupported('strace is not installed')
  if (status !== 0) throw new NotSupported(`strace may not trace here: ${stderr.split('\n')[0]}`)
}

/** The key that the first command makes is on the disk, by content and by name, before the command ends. */
async function judgeFirstStart(trial: Trial, dataDir: string, trace: string): Promise<void> {
  const { exitCode, stderr } = await runPacked(trial.packed, { dataDir, wrapper: straceOptions(trace) }, 'migrate')
  if (exitCode !== 0) throw new Error(`shopstead migrate: ${stderr}`)
  await traced(trace)
  const synced: string[] = []
  for await (const { name, target, result } of readTrace(trace))
    if ((name === 'fsync' || name === 'fdatasync') && result === 0) synced.push(target)
  trial.count('first start')
  const key = synced.findIndex((path) => path.includes('/secret.key.'))
  if (key < 0) trial.violation('the secret key was not synced')
  if (!synced.includes(dataDir, key + 1)) trial.violation("the secret key's name was not synced")
  rmSync(trace)
}

/** Writes of every kind, first one after the other, then several at once; returns what was acknowledged. */
async function writeAll(trial: Trial, { apiRoot }: PackedServer): Promise<Acknowledged[]> {
  const rounds = (trial.isFull ? 1_000 : 100) / kinds.length / 2
  const productId = await firstProduct(apiRoot)
  const acknowledged: Acknowledged[] = []
  for (let round = 0; round < rounds; round += 1) acknowledged.push(...(await writeEach(apiRoot, productId)))
  trial.progress(`${acknowledged.length} writes one after the other are done`)
  const lane = async (): Promise<void> => {
    for (let round = 0; round < rounds / atOnce; round += 1) acknowledged.push(...(await writeEach(apiRoot, productId)))
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return acknowledged
}

async function firstProduct(apiRoot: string): Promise<number> {
  const { data } = await new Browser(apiRoot).get<{ offers: { productId: number }[] }>('/store/offers')
  return data.offers[0]?.productId ?? 0
}

const kinds = ['registration', 'login', 'profile', 'checkout by token', 'checkout by page'] as const

/** One customer, who does one write of each kind. */
async function writeEach(apiRoot: string, productId: number): Promise<Acknowledged[]> {
  const visitor = new Browser(apiRoot)
  const email = `${randomUUID()}@example.com`
  const password = 'tidal-basalt-93'
  const acknowledged: Acknowledged[] = []
  const send = async (
    what: (typeof kinds)[number],
    [method, path, body]: [method: string, path: string, body: object],
    markerOf: () => string,
    headers: Record<string, string> = {}
  ): Promise<void> => {
    const id = randomUUID()
    const answer = await visitor.send(method, path, body, { ...headers, 'x-correlation-id': id })
    if (answer.status >= 300) throw new Error(`${what} answered ${answer.text}`)
    acknowledged.push({ id, what, marker: markerOf() })
  }
  const consent = { displayName: 'Ada Quill', acceptTerms: true }
  const nonce = { 'x-nonce': await visitor.nonce() }
  await send('registration', ['POST', '/auth/register', { email, password, ...consent }], () => email, nonce)
  await send('login', ['POST', '/auth/login', { email, password }], () => sessionHash(visitor))
  const companyName = `Quill ${randomUUID()}`
  await send('profile', ['PATCH', '/me', { companyName }], () => companyName)
  const items = [{ productId, quantity: 1 }]
  const handoff = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/thanks' }
  for (const [what, fields] of [
    ['checkout by token', handoff],
    ['checkout by page', {}]
  ] as const) {
    const notes = randomUUID()
    const key = { 'idempotency-key': randomUUID() }
    await send(what, ['POST', '/store/checkout-session', { items, notes, ...fields }], () => notes, key)
  }
  return acknowledged
}

/** What the database keeps of a session: the cookie's hash. */
function sessionHash({ cookies }: Browser): string {
  return createHash('sha256')
    .update(cookies.get('shopstead_session') ?? '')
    .digest('hex')
}

/** The tracer stands aside and ends a little later than what it traced. */
async function traced(file: string): Promise<void> {
  for (let waits = 0; waits < 200; waits += 1) {
    if (existsSync(file) && readFileSync(file, 'latin1').slice(-200).includes('+++ exited with')) return
    await sleep(50)
  }
  throw new Error('strace did not come to an end')
}

async function judge(
  trial: Trial,
  trace: string,
  acknowledged: readonly Acknowledged[],
  ports: { shop: number; gateway: number }
): Promise<void> {
  const order = new OrderOfEvents(acknowledged, ports)
  for await (const call of readTrace(trace)) order.take(call)
  const { proved, gatewayCalls, violations } = order.finish()
  for (const [what, times] of proved) trial.count(what, times)
  trial.count('calls to the gateway', gatewayCalls)
  if (gatewayCalls === 0 || !proved.has('webhook')) trial.violation('neither gateway nor webhooks are in the trace')
  for (const text of violations) trial.violation(text)
}
