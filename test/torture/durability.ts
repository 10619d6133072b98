import { spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openGateway, stripeEnv } from '../faults/shop-and-gateway.ts'
import { Browser } from '../support/browser.ts'
import { WriteOrderChecker } from './durability/write-order.ts'
import type { Acknowledged } from './durability/write-order.ts'
import { readTrace, straceOptions } from './durability/trace.ts'
import { openShop } from './open-shop.ts'
import { runPacked, servePacked } from './packed-shop.ts'
import type { PackedServer } from './packed-shop.ts'
import { NotSupported } from './part.ts'
import type { Trial, Part } from './part.ts'
import { quay } from '../support/addresses.ts'

/** The number of concurrent clients in the second half. */
const concurrency = 8

export const durability: Part = {
  name: 'durability',
  about: "no 2xx for a write before its fsync has returned, verified by the server's system calls",
  async run(trial) {
    assertTraceable()
    const folder = mkdtempSync(join(trial.packed.folder, 'durability-'))
    const trace = join(folder, 'trace')
    const dataDir = join(folder, 'data')
    let url = ''
    const gateway = await openGateway(() => url)
    try {
      await verifyFirstStart(trial, join(folder, 'first'), trace)
      await openShop(trial.packed, dataDir, [{ slug: 'mug', name: 'Mug', price: '12.50' }])
      const launch = { dataDir, env: stripeEnv(gateway.origin), wrapper: straceOptions(trace) }
      const server = await servePacked(trial.packed, launch)
      url = server.url
      const acknowledged = await writeAll(trial, server)
      await server.end()
      await waitForTrace(trace)
      await verify(trial, trace, acknowledged, { shop: portOf(server.url), gateway: portOf(gateway.origin) })
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
  if (status !== 0) throw new NotSupported(`strace is not allowed to trace: ${stderr.split('\n')[0]}`)
}

/** Verifies that the first command syncs the secret key's content and its directory entry before it ends. */
async function verifyFirstStart(trial: Trial, dataDir: string, trace: string): Promise<void> {
  const { exitCode, stderr } = await runPacked(trial.packed, { dataDir, wrapper: straceOptions(trace) }, 'init')
  if (exitCode !== 0) throw new Error(`shopstead migrate: ${stderr}`)
  await waitForTrace(trace)
  const synced: string[] = []
  for await (const { name, target, result } of readTrace(trace))
    if ((name === 'fsync' || name === 'fdatasync') && result === 0) synced.push(target)
  trial.count('first start')
  const key = synced.findIndex((path) => path.includes('/secret.key.'))
  if (key < 0) trial.violation('the secret key was not synced')
  if (!synced.includes(dataDir, key + 1)) trial.violation("the secret key's directory entry was not synced")
  rmSync(trace)
}

/** Sends writes of every kind, first sequentially, then concurrently. Returns the acknowledged ones. */
async function writeAll(trial: Trial, { apiRoot }: PackedServer): Promise<Acknowledged[]> {
  const rounds = (trial.isFull ? 1_000 : 100) / kinds.length / 2
  const productId = await firstProduct(apiRoot)
  const acknowledged: Acknowledged[] = []
  for (let round = 0; round < rounds; round += 1) acknowledged.push(...(await writeEach(apiRoot, productId)))
  trial.progress(`${acknowledged.length} sequential writes are done`)
  const worker = async (): Promise<void> => {
    for (let round = 0; round < rounds / concurrency; round += 1)
      acknowledged.push(...(await writeEach(apiRoot, productId)))
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return acknowledged
}

async function firstProduct(apiRoot: string): Promise<number> {
  const { data } = await new Browser(apiRoot).get<{ offers: { productId: number }[] }>('/store/offers')
  return data.offers[0]?.productId ?? 0
}

const kinds = ['registration', 'login', 'profile', 'checkout by token', 'checkout by page'] as const

/** Sends one write of each kind as a new customer. */
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
    if (answer.status >= 300) throw new Error(`${what} returned ${answer.text}`)
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
    ['checkout by page', { shippingAddress: quay }]
  ] as const) {
    const notes = randomUUID()
    const key = { 'idempotency-key': randomUUID() }
    await send(what, ['POST', '/store/checkout-session', { items, notes, ...fields }], () => notes, key)
  }
  return acknowledged
}

/** The hash of the session cookie, as the database stores it. */
function sessionHash({ cookies }: Browser): string {
  return createHash('sha256')
    .update(cookies.get('shopstead_session') ?? '')
    .digest('hex')
}

/** Waits for strace, which with -D ends a little later than the traced process. */
async function waitForTrace(file: string): Promise<void> {
  for (let waits = 0; waits < 200; waits += 1) {
    if (existsSync(file) && readFileSync(file, 'latin1').slice(-200).includes('+++ exited with')) return
    await sleep(50)
  }
  throw new Error('strace did not end')
}

async function verify(
  trial: Trial,
  trace: string,
  acknowledged: readonly Acknowledged[],
  ports: { shop: number; gateway: number }
): Promise<void> {
  const checker = new WriteOrderChecker(acknowledged, ports)
  for await (const call of readTrace(trace)) checker.process(call)
  const { verified, gatewayCalls, violations } = checker.finish()
  for (const [what, times] of verified) trial.count(what, times)
  trial.count('calls to the gateway', gatewayCalls)
  if (gatewayCalls === 0 || !verified.has('webhook'))
    trial.violation('the trace contains no gateway call or no webhook')
  for (const text of violations) trial.violation(text)
}
