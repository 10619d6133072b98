import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { attack } from './abuse/crew.ts'
import type { Disguise } from './abuse/disguises.ts'
import { scene, withoutTrust, withStage } from './abuse/stage.ts'
import type { Stage } from './abuse/stage.ts'
import type { StormHarm, StormOrder } from './abuse/storm.ts'
import { sendRequest, dataOf } from './http-client.ts'
import type { Part } from './part.ts'
import { sizeMb } from './process-stats.ts'

/** Limits as they are delivered: checkouts and declined cards that one address has. */
const checkouts = 300
const declines = 30
const loginsOfAddress = 100
const loginsOfAccount = 10

export const abuse: Part = {
  name: 'abuse',
  about: 'crowds that are slow, huge, guessing, lying or countless, while customers go on shopping',
  run: (trial) =>
    withStage(trial, async (stage) => {
      await scene(stage, '2000 slow connections', () => slowConnections(stage))
      await scene(stage, 'bodies of 300 MB', () => hugeBodies(stage))
      await scene(stage, '200 logins at once', () => logins(stage))
      await scene(stage, 'card testing', (play) => cardTesting(stage, play))
      await scene(stage, 'pretended addresses', (play) => pretending(stage, play))
      await scene(stage, `${countless(stage)} addresses`, () => manyAddresses(stage))
      await recovery(stage)
    })
}

async function slowConnections(stage: Stage): Promise<void> {
  const { trial, server } = stage
  const { isFull } = trial
  const holdMs = isFull ? 110_000 : 4_000
  const harm = await attack('holdConnections', { ...whereTo(server), connections: 2000, holdMs })
  for (const [kind, { opened, cut, longestMs }] of Object.entries(harm)) {
    trial.count(`connections with slow ${kind}`, opened)
    if (opened < 500) trial.violation(`only ${opened} connections with slow ${kind} were let in`)
    if (!isFull) continue
    trial.figure(`slow ${kind}: ${cut} of ${opened} cut off, the last after ${Math.round(longestMs / 1000)} s`)
    if (cut < opened) trial.violation(`${opened - cut} connections with slow ${kind} were never cut off`)
  }
  if (!isFull) return
  // More than it holds at once: those that wait longest go, and customers stay.
  await attack('holdConnections', { ...whereTo(server), connections: 6000, holdMs: 10_000 })
  trial.count('connections beyond what the server holds', 6000)
}

async function hugeBodies(stage: Stage): Promise<void> {
  const { trial, server } = stage
  const json = 'Content-Type: application/json'
  const nonce = `X-Nonce: ${dataOf<{ nonce: string }>(await sendRequest(`${server.apiRoot}/nonce`)).nonce}`
  const { apiPrefix, port } = whereTo(server)
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
    for (const harm of await attack('pourBodies', { port, targets, megabytes: 300, sendMs: 6_000 })) {
      const { path, framing, status, sentBeforeAnswerMb, sentMb, answeredMs, wasCut } = harm
      const told = `${path} (${framing}): ${status ?? 'no answer'} after ${answeredMs} ms and ${sentBeforeAnswerMb} MB`
      trial.count('bodies of 300 MB', 1)
      trial.progress(`${told}, ${sentMb} MB in all, ${wasCut ? 'cut off' : 'left open'}`)
      const isRefused = status === 413 || (status === 404 && !path.startsWith(apiPrefix))
      // An attacker with little of the machine sees late that he was answered; half a body is early enough.
      if (!isRefused || sentBeforeAnswerMb > 150) trial.violation(`a body of 300 MB to ${told}`)
      if (!wasCut && sentMb < 300) trial.violation(`a body of 300 MB to ${path} (${framing}) was waited for`)
    }
  }
}

async function logins(stage: Stage): Promise<void> {
  const { trial, server } = stage
  const apiRoot = server.apiRoot
  const flood = stormed(stage, {
    what: 'wrong password',
    times: 1_000_000,
    untilMs: trial.isFull ? 30_000 : 4_000,
    width: 200,
    from: { as: 'addresses' }
  })
  await sleep(1_000)
  await ownLogin(stage)
  const harm = await flood
  only(stage, harm, ['401 AUTH_INVALID_CREDENTIALS', '503 DEPENDENCY_UNAVAILABLE'], 'a flood of logins')
  const burst = { what: 'wrong password', times: 200, width: 200 } as const
  const onOne = await stormed(stage, { ...burst, from: { as: 'addresses' }, account: 'customer1@example.com', apiRoot })
  atMost(stage, onOne, '401 AUTH_INVALID_CREDENTIALS', loginsOfAccount, 'guesses at one account')
  const fromOne = await stormed(stage, { ...burst, from: { as: 'address', address: '198.51.100.1' }, startAt: 500_000 })
  atMost(stage, fromOne, '401 AUTH_INVALID_CREDENTIALS', loginsOfAddress, 'guesses from one address')
}

/** A customer with the right password gets in through the flood, sooner or later. */
async function ownLogin({ trial, server }: Stage): Promise<void> {
  const started = performance.now()
  const body = { email: 'customer2@example.com', password: 'tidal-basalt-93' }
  for (let tries = 1; tries <= 20; tries += 1) {
    const { status, headers } = await sendRequest(`${server.apiRoot}/auth/login`, {
      headers: { 'x-forwarded-for': '203.0.113.2' },
      body
    })
    if (status === 200) {
      trial.figure(`a right login through the flood: ${Math.round(performance.now() - started)} ms, try ${tries}`)
      return
    }
    if (status !== 503) trial.violation(`a right login was answered ${status}`)
    await sleep(Number(headers['retry-after'] ?? 1) * 1000)
  }
  trial.violation('a right login never got through the flood')
}

async function cardTesting(stage: Stage, play: number): Promise<void> {
  const { trial } = stage
  const times = trial.isFull ? 2_000 : 100
  const cases: [who: string, from: Disguise, width: number][] = [
    ['one address, one after the other', { as: 'address', address: `198.51.${play}.20` }, 1],
    ['one address, at once', { as: 'address', address: `198.51.${play}.21` }, 50],
    ['one address behind others that it makes up', { as: 'left hops', address: `198.51.${play}.22` }, 50],
    ['one /64', { as: 'the /64', prefix: `2001:db8:20:${play}` }, 50]
  ]
  for (const [who, from, width] of cases) {
    const before = stage.gateway.sandbox.ledger().intents.length
    const harm = await stormed(stage, { what: 'declined card', times, width, from })
    const reached = stage.gateway.sandbox.ledger().intents.length - before
    trial.figure(`cards tried from ${who}: ${reached} of ${times} reached the gateway`)
    only(stage, harm, ['402 CHECKOUT_FAILED', '429 checkout_decline', '429 checkout_ip'], `cards from ${who}`)
    if (reached !== declines) trial.violation(`${reached} cards from ${who} reached the gateway, not ${declines}`)
  }
}

async function pretending(stage: Stage, play: number): Promise<void> {
  const times = stage.trial.isFull ? 5_000 : 400
  const cart = { what: 'impossible cart', times, width: 20 } as const
  const asOne = (harm: StormHarm, who: string): void => exactly(stage, harm, '422 VALIDATION_FAILED', checkouts, who)
  asOne(
    await stormed(stage, { ...cart, from: { as: 'left hops', address: `198.51.${play}.30` } }),
    'checkouts behind hops that the client wrote'
  )
  asOne(
    await stormed(stage, { ...cart, from: { as: 'the /64', prefix: `2001:db8:30:${play}` } }),
    'checkouts from one /64'
  )
  // What is counted for one is nobody else's.
  const neighbour = await stormed(stage, { ...cart, times: 10, from: { as: 'the /64', prefix: `2001:db8:31:${play}` } })
  exactly(stage, neighbour, '422 VALIDATION_FAILED', 10, 'checkouts from the /64 beside it')
  await withoutTrust(stage, async ({ apiRoot, url }) => {
    asOne(
      await stormed(stage, { ...cart, apiRoot, from: { as: 'headers' } }),
      'checkouts with made-up headers where no proxy is trusted'
    )
    const { nonce } = dataOf<{ nonce: string }>(await sendRequest(`${apiRoot}/nonce`))
    const through = { apiRoot: `${url}/api/secure`, headers: { 'x-nonce': nonce } }
    const more = await stormed(stage, { ...cart, ...through, times: 100, from: { as: 'headers' } })
    exactly(stage, more, '422 VALIDATION_FAILED', 0, 'checkouts with made-up headers through the proxy')
  })
}

function countless({ trial }: Stage): number {
  return trial.isFull ? 1_000_000 : 20_000
}

async function manyAddresses(stage: Stage): Promise<void> {
  const { trial, dataDir } = stage
  const harm = await stormed(stage, {
    what: 'impossible cart',
    times: countless(stage),
    width: 16,
    from: { as: 'addresses' }
  })
  only(stage, harm, ['422 VALIDATION_FAILED'], 'carts from countless addresses')
  const file = join(dataDir, 'limits.db')
  const sqlite = new Database(file, { readonly: true })
  const kept = sqlite.prepare<[], number>('SELECT count(*) FROM rate_limits').pluck().get() ?? 0
  sqlite.close()
  const mb = sizeMb(file) + sizeMb(`${file}-wal`)
  trial.figure(
    `${countless(stage)} addresses in ${Math.round(harm.ms / 1000)} s: ${kept} counters, ${mb.toFixed(1)} MB`
  )
  if (kept > 110_000 || mb > 64) trial.violation(`the rate limits keep ${kept} counters in ${Math.round(mb)} MB`)
}

/** When the attackers have gone, so has what they held. */
async function recovery({ trial, stats, quiet, server }: Stage): Promise<void> {
  for (let waited = 0; stats.openFiles() > quiet.openFiles + 10 && waited < 15_000; waited += 250) await sleep(250)
  const [files, mb] = [stats.openFiles(), Math.round(stats.residentMb())]
  trial.figure(
    `afterwards: ${files} open files (${quiet.openFiles} before), ${mb} MB (${Math.round(quiet.residentMb)})`
  )
  if (files > quiet.openFiles + 10) trial.violation(`${files} files are open, of ${quiet.openFiles} before`)
  const odd = server.errors.filter((line) => line.includes('"level":"error"'))
  for (const line of odd.slice(0, 3)) trial.violation(`the server logged an error: ${line}`)
}

function whereTo({ apiRoot }: { apiRoot: string }): { port: number; apiPrefix: string } {
  const { port, pathname } = new URL(apiRoot)
  return { port: Number(port), apiPrefix: pathname }
}

type Wanted = Pick<StormOrder, 'what' | 'times' | 'width' | 'from'> & Partial<StormOrder>

async function stormed({ trial, server, productId }: Stage, wanted: Wanted): Promise<StormHarm> {
  const seed = trial.random.between(0, 0x7fffffff)
  const harm = await attack('storm', { apiRoot: server.apiRoot, productId, seed, ...wanted })
  for (const [answer, times] of Object.entries(harm.answers)) trial.count(`${wanted.what}: ${answer}`, times)
  for (const broken of harm.broken.slice(0, 3)) trial.violation(`${wanted.what}: no answer (${broken})`)
  return harm
}

function only({ trial }: Stage, { answers }: StormHarm, expected: readonly string[], what: string): void {
  for (const [answer, times] of Object.entries(answers))
    if (!expected.includes(answer)) trial.violation(`${what}: ${times} were answered ${answer}`)
}

function atMost({ trial }: Stage, { answers }: StormHarm, answer: string, limit: number, what: string): void {
  const times = answers[answer] ?? 0
  if (times > limit) trial.violation(`${what}: ${times} were answered ${answer}, of at most ${limit}`)
}

function exactly(stage: Stage, harm: StormHarm, answer: string, expected: number, what: string): void {
  const times = harm.answers[answer] ?? 0
  if (times !== expected) stage.trial.violation(`${what}: ${times} were answered ${answer}, not ${expected}`)
  only(stage, harm, [answer, '429 checkout_ip'], what)
}
