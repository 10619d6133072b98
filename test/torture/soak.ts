import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandsWithoutHoldLimits } from '../support/hold-limits.ts'
import { sendRequest, cookiesOf, dataOf } from './http-client.ts'
import { runPacked, servePacked } from './packed-shop.ts'
import type { PackedServer } from './packed-shop.ts'
import type { Trial, Part } from './part.ts'
import { trendOf, read } from './soak/readings.ts'
import type { Reading } from './soak/readings.ts'
import { Shoppers } from './soak/shoppers.ts'
import type { SoakShop } from './soak/shoppers.ts'
import { sizeMb, ProcessStats } from './process-stats.ts'

const databases = ['shopstead.db', 'sandbox.db', 'limits.db']
/** The handles of an idle server: two pipes, two listening sockets, and the connection that reads the metrics. */
const handlesAtRest = 5
/** The log is checkpointed at 16 MB (`checkpointPages`), but readers and long transactions can delay that. */
const maxLogMb = 48
/**
 * A limit of the resident memory in both forms. V8's young generation and the allocator still grow during the 8,000
 * requests of the short form, so only the full form limits the rise of the resident memory.
 */
const maxResidentMb = 480
const products = Array.from({ length: 40 }, (_, index) => ({
  slug: `mug-${index}`,
  name: `Mug number ${index}`,
  description: 'Enamelled by hand, and fired twice.',
  price: '12.50',
  categories: ['Kitchen']
}))

export const soak: Part = {
  name: 'soak',
  about: 'a long run of all requests: memory, files and timers must not grow',
  async run(trial) {
    const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-soak-'))
    const receiver = await listening(
      createServer((request, response) => void request.resume().on('end', () => response.end()))
    )
    try {
      await soakIn(trial, dataDir, `http://127.0.0.1:${portOf(receiver)}/hook`)
    } finally {
      receiver.close()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
}

async function soakIn(trial: Trial, dataDir: string, hook: string): Promise<void> {
  await prepare(trial, dataDir, hook)
  const spare = await listening(createServer())
  const metricsPort = portOf(spare)
  spare.close()
  const collect = new URL('soak/collect.ts', import.meta.url)
  const server = await servePacked(trial.packed, {
    dataDir,
    env: { SHOPSTEAD_METRICS_PORT: String(metricsPort), NODE_OPTIONS: `--expose-gc --import=${collect.href}` }
  })
  const stats = new ProcessStats(server.child.pid)
  try {
    const shoppers = new Shoppers(await findShop(trial, dataDir, server), trial.random)
    const logs = watchLogs(dataDir)
    const readings = await work(trial, shoppers, server, stats, `http://127.0.0.1:${metricsPort}/metrics`)
    verify(trial, readings)
    logs.verify(trial)
  } finally {
    stats.stop()
    await server.end()
  }
}

async function prepare({ packed }: Trial, dataDir: string, hook: string): Promise<void> {
  const file = join(dataDir, 'shelf.json')
  writeFileSync(file, JSON.stringify({ products }))
  const limits = ['register_ip', 'checkout_ip', 'checkout_decline']
  for (const args of [
    ['init'],
    ['seed', file],
    ['webhooks', 'add', hook],
    ...limits.map((bucket) => ['settings', 'set', `limits.${bucket}`, 'off']),
    ...commandsWithoutHoldLimits
  ]) {
    const { exitCode, stderr } = await runPacked(packed, { dataDir }, ...args)
    if (exitCode !== 0) throw new Error(`shopstead ${args.join(' ')}: ${stderr}`)
  }
}

/** The shop's products, and a new affiliate whose referrals the visitors use. */
async function findShop(trial: Trial, dataDir: string, { apiRoot, url }: PackedServer): Promise<SoakShop> {
  const { offers } = dataOf<{ offers: { productId: number }[] }>(
    await sendRequest(`${apiRoot}/store/offers?perPage=40`)
  )
  const { nonce } = dataOf<{ nonce: string }>(await sendRequest(`${apiRoot}/nonce`))
  const email = 'mira@example.com'
  const body = { email, password: 'harbour-lantern-42', displayName: 'Mira Okafor', acceptTerms: true }
  const registered = await sendRequest(`${apiRoot}/auth/register`, { headers: { 'x-nonce': nonce }, body })
  const made = ['affiliates', 'create', '--user', email, '--code', 'mira', '--status', 'active']
  const { exitCode, stderr } = await runPacked(trial.packed, { dataDir }, ...made)
  if (exitCode !== 0) throw new Error(stderr)
  return {
    apiRoot,
    url,
    productIds: offers.map(({ productId }) => productId),
    affiliate: { code: 'mira', cookie: cookiesOf(registered) },
    report(what, { status, text }, expected) {
      trial.count(what)
      if (!expected.includes(status)) trial.violation(`${what} returned ${status}: ${text.slice(0, 200)}`)
    }
  }
}

async function work(
  trial: Trial,
  shoppers: Shoppers,
  server: PackedServer,
  stats: ProcessStats,
  metricsUrl: string
): Promise<Reading[]> {
  const [total, intervals] = trial.isFull ? [200_000, 40] : [8_000, 8]
  const readings: Reading[] = []
  for (let done = 0; done < total;) {
    await shoppers.sendRequests(total / intervals)
    done += total / intervals
    await sleep(300)
    const reading = await readAfterCollection(server, () => read(stats, metricsUrl, done))
    readings.push(reading)
    const { heapMb, residentMb, openFiles, timers } = reading
    trial.progress(
      `${done}: heap ${heapMb.toFixed(1)} MB, ${residentMb.toFixed(0)} MB resident, ${openFiles} files, ${timers} timers`
    )
  }
  return readings
}

/**
 * Reads the server after garbage collections. A reading is answered after the signal before it, so the last one follows
 * at least two collections. Some objects are freed only by the second.
 */
async function readAfterCollection({ child }: PackedServer, take: () => Promise<Reading>): Promise<Reading> {
  const handles = await minHandles(take)
  for (let times = 0; times < 2; times += 1) {
    child.kill('SIGUSR2')
    await take()
    await sleep(50)
  }
  child.kill('SIGUSR2')
  await sleep(50)
  const reading = await take()
  return { ...reading, handles: Math.min(reading.handles, handles) }
}

/**
 * The minimum number of handles within five seconds. Running webhook deliveries have sockets for a short time; a leaked
 * handle is in every reading.
 */
async function minHandles(take: () => Promise<Reading>): Promise<number> {
  const until = performance.now() + 5_000
  let { handles } = await take()
  while (handles > handlesAtRest && performance.now() < until) {
    await sleep(100)
    handles = Math.min(handles, (await take()).handles)
  }
  return handles
}

/** Verifies that no figure rises too much from the second quarter to the last. */
function verify(trial: Trial, readings: readonly Reading[]): void {
  const rises = {
    heapMb: trial.isFull ? 6 : 4,
    residentMb: trial.isFull ? 30 : maxResidentMb,
    openFiles: 4,
    handles: 4,
    timers: 2
  } as const
  for (const figure of Object.keys(rises) as (keyof typeof rises)[]) {
    const { first, last, perThousand } = trendOf(readings, figure)
    const summary = `${figure}: ${first.toFixed(1)} in the second quarter, ${last.toFixed(1)} in the last`
    trial.figure(`${summary}, ${perThousand.toFixed(3)} more for each 1,000 requests`)
    if (!(last - first <= rises[figure])) trial.violation(`${summary}; the limit of the rise is ${rises[figure]}`)
  }
  const residentMb = Math.max(...readings.map((reading) => reading.residentMb))
  if (!(residentMb <= maxResidentMb))
    trial.violation(`${residentMb.toFixed(0)} MB were resident, the limit is ${maxResidentMb}`)
}

/** Watches the sizes of the write-ahead logs. */
function watchLogs(dataDir: string): { verify(trial: Trial): void } {
  const peaks = new Map<string, number>(databases.map((name) => [name, 0]))
  const timer = setInterval(() => {
    for (const [name, mb] of peaks) peaks.set(name, Math.max(mb, sizeMb(join(dataDir, `${name}-wal`))))
  }, 50)
  return {
    verify(trial) {
      clearInterval(timer)
      for (const [name, mb] of peaks) {
        trial.figure(
          `${name}: ${sizeMb(join(dataDir, name)).toFixed(1)} MB, its write-ahead log at most ${mb.toFixed(1)} MB`
        )
        if (mb === 0 || mb > maxLogMb)
          trial.violation(`the write-ahead log of ${name} was ${mb} MB, the limit is ${maxLogMb}`)
      }
    }
  }
}

async function listening(server: Server): Promise<Server> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
