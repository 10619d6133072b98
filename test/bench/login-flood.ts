/**
 * Tests whether a flood of logins can starve the shop. First, /store/offers is requested while 200 logins run at any
 * time. Then 1000 logins are sent at the same time; those that do not fit must get 503 with Retry-After. Prints the
 * figures of both. Exits with 1 when the p99 of the offers reaches 100 ms in the first part, when no login is refused in
 * the second, or when a login gets any other response.
 *
 * Usage: node test/bench/login-flood.ts [--seconds 10] [--logins 200] [--burst 1000]
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    logins: { type: 'string', default: '200' },
    burst: { type: 'string', default: '1000' }
  }
})
const promisedMs = 100
const offersEveryMs = 10
const people = ['lena', 'mira', 'jonas', 'petra', 'new'].map((name) => `${name}@shop.example`)
const password = 'harbour-lantern-42'

type Reply = { status: number; ms: number; retryAfter: string | undefined }

const offersAgent = new Agent({ keepAlive: true, maxSockets: 1 })
const loginAgent = new Agent({ keepAlive: true })

/** Sends one request and measures the time to the end of its response. */
function ask(url: string, agent: Agent, body?: object): Promise<Reply> {
  const started = performance.now()
  const method = body === undefined ? 'GET' : 'POST'
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers }, (response) => {
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          ms: performance.now() - started,
          retryAfter: response.headers['retry-after']
        })
      )
      response.resume()
    })
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  })
}

function logIn(apiRoot: string, index: number): Promise<Reply> {
  return ask(`${apiRoot}/auth/login`, loginAgent, { email: people[index % people.length], password })
}

/** Requests the offers repeatedly until `done`. Returns the response times. */
async function askForOffers(apiRoot: string, done: () => boolean): Promise<number[]> {
  const times: number[] = []
  while (!done()) {
    const { status, ms } = await ask(`${apiRoot}/store/offers`, offersAgent)
    if (status !== 200) throw new Error(`The offers returned ${status}.`)
    times.push(ms)
    await sleep(offersEveryMs)
  }
  return times
}

function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Prints the figures of one part. Every login must get 200, or 503 with Retry-After. Returns the number of refused ones. */
function report(what: string, times: readonly number[], logins: readonly Reply[]): { p99: number; refused: number } {
  const [p50, p99, worst] = [percentile(times, 0.5), percentile(times, 0.99), Math.max(...times)]
  const through = logins.filter(({ status }) => status === 200).length
  const refused = logins.filter(({ status, retryAfter }) => status === 503 && Number(retryAfter) > 0).length
  const odd = logins.length - through - refused
  process.stdout.write(
    `${what}: offers p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, worst ${worst.toFixed(1)} ms of ${times.length}; ` +
      `logins 200 ${through}, 503 with Retry-After ${refused}, other ${odd}\n`
  )
  if (odd > 0) fail(`${odd} logins got another response.`)
  return { p99, refused }
}

function fail(why: string): void {
  process.stdout.write(`BROKEN: ${why}\n`)
  process.exitCode = 1
}

async function flood(apiRoot: string): Promise<void> {
  const until = performance.now() + Number(values.seconds) * 1000
  const done = (): boolean => performance.now() > until
  const logins: Reply[] = []
  const keepLoggingIn = async (index: number): Promise<void> => {
    while (!done()) logins.push(await logIn(apiRoot, index))
  }
  const [times] = await Promise.all([
    askForOffers(apiRoot, done),
    ...Array.from({ length: Number(values.logins) }, (_, index) => keepLoggingIn(index))
  ])
  const { p99 } = report(`${values.logins} concurrent logins for ${values.seconds} s`, times, logins)
  if (!(p99 < promisedMs)) fail(`the offers' p99 is not under ${promisedMs} ms.`)
}

async function burst(apiRoot: string): Promise<void> {
  let over = false
  const offers = askForOffers(apiRoot, () => over)
  const logins = await Promise.all(Array.from({ length: Number(values.burst) }, (_, index) => logIn(apiRoot, index)))
  over = true
  const { refused } = report(`${values.burst} logins at the same time`, await offers, logins)
  if (refused === 0) fail('no login was refused, so the limit of the queue was not tested.')
}

const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-flood-'))
const env = { ...process.env, SHOPSTEAD_ENV: 'test', SHOPSTEAD_LOG: 'silent' }
const commandLine = (args: readonly string[]): string[] => ['bin/shopstead.js', ...args, '--data-dir', dataDir]
const server = spawn(process.execPath, commandLine(['dev', '--port', '0', '--json']), {
  stdio: ['ignore', 'pipe', 'ignore'],
  env
})
const ended = new Promise((resolve) => server.once('exit', resolve))
try {
  const { value } = (await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next()) as {
    value?: string
  }
  const { apiRoot } = JSON.parse(value ?? '{}') as { apiRoot: string }
  // Without limits, so that the flood reaches the password hashing.
  for (const bucket of ['login_ip', 'login_account']) {
    spawnSync(process.execPath, commandLine(['settings', 'set', `limits.${bucket}`, 'off']), { env })
  }
  await askForOffers(apiRoot, () => true)
  await flood(apiRoot)
  await burst(apiRoot)
} finally {
  server.kill('SIGTERM')
  await ended
  loginAgent.destroy()
  offersAgent.destroy()
  rmSync(dataDir, { recursive: true })
}
