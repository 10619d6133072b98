import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { attack } from './abuse/child-processes.ts'
import type { ForgedSource } from './abuse/forged-sources.ts'
import { hostileBodies } from './abuse/hostile-bodies.ts'
import { runAttack, withUntrustedProxyShop, withShop } from './abuse/context.ts'
import type { AbuseContext } from './abuse/context.ts'
import type { StormResult, StormOptions } from './abuse/storm.ts'
import { sendRequest, dataOf } from './http-client.ts'
import type { Part } from './part.ts'
import { sizeMb } from './process-stats.ts'

/** The default limits: checkouts and declined cards of one address, and logins of one address and one account. */
const checkouts = 300
const declines = 30
const loginsOfAddress = 100
const loginsOfAccount = 10

export const abuse: Part = {
  name: 'abuse',
  about: 'slow connections, huge bodies, login floods, card testing and forged addresses while customers shop',
  run: (trial) =>
    withShop(trial, async (context) => {
      await runAttack(context, '2000 slow connections', () => slowConnections(context))
      await runAttack(context, 'bodies of 300 MB', () => hugeBodies(context))
      await runAttack(context, 'hostile bodies of 64 KB', () => hostileBodies(context))
      await runAttack(context, '200 concurrent logins', () => logins(context))
      await runAttack(context, 'card testing', (attempt) => cardTesting(context, attempt))
      await runAttack(context, 'forged addresses', (attempt) => forgedAddresses(context, attempt))
      await runAttack(context, `${addressCount(context)} addresses`, () => manyAddresses(context))
      await recovery(context)
    })
}

async function slowConnections(context: AbuseContext): Promise<void> {
  const { trial, server } = context
  const { isFull } = trial
  const holdMs = isFull ? 110_000 : 4_000
  const result = await attack('holdConnections', { ...addressParts(server), connections: 2000, holdMs })
  for (const [kind, { opened, cut, longestMs }] of Object.entries(result)) {
    trial.count(`connections with slow ${kind}`, opened)
    if (opened < 500) trial.violation(`only ${opened} connections with slow ${kind} were accepted`)
    if (!isFull) continue
    trial.figure(`slow ${kind}: ${cut} of ${opened} cut off, the last after ${Math.round(longestMs / 1000)} s`)
    if (cut < opened) trial.violation(`${opened - cut} connections with slow ${kind} were never cut off`)
  }
  if (!isFull) return
  // More connections than the server holds: it must close the oldest idle ones and keep the customers'.
  await attack('holdConnections', { ...addressParts(server), connections: 6000, holdMs: 10_000 })
  trial.count("connections beyond the server's limit", 6000)
}

async function hugeBodies(context: AbuseContext): Promise<void> {
  const { trial, server } = context
  const json = 'Content-Type: application/json'
  const nonce = `X-Nonce: ${dataOf<{ nonce: string }>(await sendRequest(`${server.apiRoot}/nonce`)).nonce}`
  const { apiPrefix, port } = addressParts(server)
  const targets = [
    { path: `${apiPrefix}/auth/login`, headers: [json] },
    { path: `${apiPrefix}/auth/register`, headers: [json, nonce] },
    { path: `${apiPrefix}/store/checkout-session`, headers: [json] },
    { path: `${apiPrefix}/webhooks/stripe`, headers: [json, 'Stripe-Signature: t=1,v1=00'] },
    { path: '/api/secure/auth/login', headers: [json, nonce] },
    {
      path: '/checkout/ffffffffffffffffffffffffffffffff',
      headers: ['Content-Type: application/x-www-form-urlencoded']
    },
    { path: '/nothing/here', headers: [json] }
  ]
  for (let round = 0; round < (trial.isFull ? 10 : 1); round += 1) {
    for (const result of await attack('sendBodies', { port, targets, megabytes: 300, sendMs: 6_000 })) {
      const { path, framing, status, sentBeforeAnswerMb, sentMb, answeredMs, wasCut } = result
      const report = `${path} (${framing}): ${status ?? 'no response'} after ${answeredMs} ms and ${sentBeforeAnswerMb} MB`
      trial.count('bodies of 300 MB', 1)
      trial.progress(`${report}, ${sentMb} MB in total, ${wasCut ? 'cut off' : 'left open'}`)
      const isRefused = status === 413 || (status === 404 && !path.startsWith(apiPrefix))
      // The attacker has a low priority and may read the response late, so half of the body is early enough.
      if (!isRefused || sentBeforeAnswerMb > 150) trial.violation(`a body of 300 MB to ${report}`)
      if (!wasCut && sentMb < 300) trial.violation(`the server waited for a body of 300 MB to ${path} (${framing})`)
    }
  }
}

async function logins(context: AbuseContext): Promise<void> {
  const { trial, server } = context
  const apiRoot = server.apiRoot
  const flood = runStorm(context, {
    what: 'wrong password',
    times: 1_000_000,
    untilMs: trial.isFull ? 30_000 : 4_000,
    width: 200,
    from: { as: 'addresses' }
  })
  await sleep(1_000)
  await ownLogin(context)
  const result = await flood
  only(context, result, ['401 AUTH_INVALID_CREDENTIALS', '503 DEPENDENCY_UNAVAILABLE'], 'a flood of logins')
  const burst = { what: 'wrong password', times: 200, width: 200 } as const
  const onOne = await runStorm(context, {
    ...burst,
    from: { as: 'addresses' },
    account: 'customer1@example.com',
    apiRoot
  })
  atMost(context, onOne, '401 AUTH_INVALID_CREDENTIALS', loginsOfAccount, 'guesses at one account')
  const fromOne = await runStorm(context, {
    ...burst,
    from: { as: 'address', address: '198.51.100.1' },
    startAt: 500_000
  })
  atMost(context, fromOne, '401 AUTH_INVALID_CREDENTIALS', loginsOfAddress, 'guesses from one address')
}

/** A customer with the right password must be able to log in during the flood, after retries if needed. */
async function ownLogin({ trial, server }: AbuseContext): Promise<void> {
  const started = performance.now()
  const body = { email: 'customer2@example.com', password: 'tidal-basalt-93' }
  for (let tries = 1; tries <= 20; tries += 1) {
    const { status, headers } = await sendRequest(`${server.apiRoot}/auth/login`, {
      headers: { 'x-forwarded-for': '203.0.113.2' },
      body
    })
    if (status === 200) {
      trial.figure(`a valid login during the flood: ${Math.round(performance.now() - started)} ms, attempt ${tries}`)
      return
    }
    if (status !== 503) trial.violation(`a valid login returned ${status}`)
    await sleep(Number(headers['retry-after'] ?? 1) * 1000)
  }
  trial.violation('a valid login never succeeded during the flood')
}

async function cardTesting(context: AbuseContext, attempt: number): Promise<void> {
  const { trial } = context
  const times = trial.isFull ? 2_000 : 100
  const cases: [who: string, from: ForgedSource, width: number][] = [
    ['one address, one request at a time', { as: 'address', address: `198.51.${attempt}.20` }, 1],
    ['one address, concurrently', { as: 'address', address: `198.51.${attempt}.21` }, 50],
    ['one address behind forged hops', { as: 'left hops', address: `198.51.${attempt}.22` }, 50],
    ['one /64', { as: 'the /64', prefix: `2001:db8:20:${attempt}` }, 50]
  ]
  for (const [who, from, width] of cases) {
    const before = context.gateway.sandbox.ledger().intents.length
    const result = await runStorm(context, { what: 'declined card', times, width, from })
    const reached = context.gateway.sandbox.ledger().intents.length - before
    trial.figure(`cards from ${who}: ${reached} of ${times} reached the gateway`)
    only(context, result, ['402 CHECKOUT_FAILED', '429 checkout_decline', '429 checkout_ip'], `cards from ${who}`)
    if (reached !== declines) trial.violation(`${reached} cards from ${who} reached the gateway, expected ${declines}`)
  }
}

async function forgedAddresses(context: AbuseContext, attempt: number): Promise<void> {
  const times = context.trial.isFull ? 5_000 : 400
  const cart = { what: 'impossible cart', times, width: 20 } as const
  const asOne = (result: StormResult, who: string): void =>
    exactly(context, result, '422 VALIDATION_FAILED', checkouts, who)
  asOne(
    await runStorm(context, { ...cart, from: { as: 'left hops', address: `198.51.${attempt}.30` } }),
    'checkouts behind forged hops'
  )
  asOne(
    await runStorm(context, { ...cart, from: { as: 'the /64', prefix: `2001:db8:30:${attempt}` } }),
    'checkouts from one /64'
  )
  // Another /64 has its own counter.
  const neighbour = await runStorm(context, {
    ...cart,
    times: 10,
    from: { as: 'the /64', prefix: `2001:db8:31:${attempt}` }
  })
  exactly(context, neighbour, '422 VALIDATION_FAILED', 10, 'checkouts from a neighbouring /64')
  await withUntrustedProxyShop(context, async ({ apiRoot, url }) => {
    asOne(
      await runStorm(context, { ...cart, apiRoot, from: { as: 'headers' } }),
      'checkouts with forged headers without a trusted proxy'
    )
    const { nonce } = dataOf<{ nonce: string }>(await sendRequest(`${apiRoot}/nonce`))
    const through = { apiRoot: `${url}/api/secure`, headers: { 'x-nonce': nonce } }
    const more = await runStorm(context, { ...cart, ...through, times: 100, from: { as: 'headers' } })
    exactly(context, more, '422 VALIDATION_FAILED', 0, 'checkouts with forged headers through the proxy')
  })
}

function addressCount({ trial }: AbuseContext): number {
  return trial.isFull ? 1_000_000 : 20_000
}

async function manyAddresses(context: AbuseContext): Promise<void> {
  const { trial, dataDir } = context
  const result = await runStorm(context, {
    what: 'impossible cart',
    times: addressCount(context),
    width: 16,
    from: { as: 'addresses' }
  })
  only(context, result, ['422 VALIDATION_FAILED'], 'carts from many addresses')
  const file = join(dataDir, 'limits.db')
  const sqlite = new Database(file, { readonly: true })
  const counters = sqlite.prepare<[], number>('SELECT count(*) FROM rate_limits').pluck().get() ?? 0
  sqlite.close()
  const mb = sizeMb(file) + sizeMb(`${file}-wal`)
  trial.figure(
    `${addressCount(context)} addresses in ${Math.round(result.ms / 1000)} s: ${counters} counters, ${mb.toFixed(1)} MB`
  )
  if (counters > 110_000 || mb > 64)
    trial.violation(`the rate limits store ${counters} counters in ${Math.round(mb)} MB`)
}

/** What a busy server opens once and keeps, such as the thread of its checkpoints. The attackers held thousands. */
const mayStayOpen = 20

/** After the attacks the server must release what the attackers held. */
async function recovery({ trial, stats, baseline, server }: AbuseContext): Promise<void> {
  for (let waited = 0; stats.openFiles() > baseline.openFiles + mayStayOpen && waited < 15_000; waited += 250)
    await sleep(250)
  const [files, mb] = [stats.openFiles(), Math.round(stats.residentMb())]
  trial.figure(
    `afterwards: ${files} open files (${baseline.openFiles} before), ${mb} MB (${Math.round(baseline.residentMb)})`
  )
  if (files > baseline.openFiles + mayStayOpen)
    trial.violation(`${files} files are open, ${baseline.openFiles} were open before`)
  const errors = server.errors.filter((line) => line.includes('"level":"error"'))
  for (const line of errors.slice(0, 3)) trial.violation(`the server logged an error: ${line}`)
}

function addressParts({ apiRoot }: { apiRoot: string }): { port: number; apiPrefix: string } {
  const { port, pathname } = new URL(apiRoot)
  return { port: Number(port), apiPrefix: pathname }
}

type StormRequest = Pick<StormOptions, 'what' | 'times' | 'width' | 'from'> & Partial<StormOptions>

async function runStorm({ trial, server, productId }: AbuseContext, request: StormRequest): Promise<StormResult> {
  const seed = trial.random.between(0, 0x7fffffff)
  const result = await attack('storm', { apiRoot: server.apiRoot, productId, seed, ...request })
  for (const [answer, times] of Object.entries(result.answers)) trial.count(`${request.what}: ${answer}`, times)
  for (const broken of result.broken.slice(0, 3)) trial.violation(`${request.what}: no response (${broken})`)
  return result
}

function only({ trial }: AbuseContext, { answers }: StormResult, expected: readonly string[], what: string): void {
  for (const [answer, times] of Object.entries(answers))
    if (!expected.includes(answer)) trial.violation(`${what}: ${times} unexpected responses ${answer}`)
}

function atMost({ trial }: AbuseContext, { answers }: StormResult, answer: string, limit: number, what: string): void {
  const times = answers[answer] ?? 0
  if (times > limit) trial.violation(`${what}: ${times} responses ${answer}, at most ${limit} are allowed`)
}

function exactly(context: AbuseContext, result: StormResult, answer: string, expected: number, what: string): void {
  const times = result.answers[answer] ?? 0
  if (times !== expected) context.trial.violation(`${what}: ${times} responses ${answer}, expected ${expected}`)
  only(context, result, [answer, '429 checkout_ip'], what)
}
