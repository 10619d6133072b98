import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sendRequest, cookiesOf, dataOf } from './http-client.ts'
import { runPacked, servePacked } from './packed-shop.ts'
import type { PackedServer } from './packed-shop.ts'
import type { Trial, Part } from './part.ts'
import { courseOf, read } from './soak/readings.ts'
import type { Reading } from './soak/readings.ts'
import { Shoppers } from './soak/shoppers.ts'
import type { Street } from './soak/shoppers.ts'
import { sizeMb, ProcessStats } from './process-stats.ts'

const databases = ['shopstead.db', 'sandbox.db', 'limits.db']
/** Of a server that has nothing to do: two pipes, two that listen, the socket that the metrics are read by. */
const handlesAtRest = 5
/** It is folded in at 16 MB (`checkpointPages`); a reader or a long transaction may let it grow further before. */
const mostLogMb = 48
const products = Array.from({ length: 40 }, (_, index) => ({
  slug: `mug-${index}`,
  name: `Mug number ${index}`,
  description: 'Enamelled by hand, and fired twice.',
  price: '12.50',
  categories: ['Kitchen']
}))

export const soak: Part = {
  name: 'soak',
  about: 'a long day of everything a shop does: memory, files and timers stay what they were',
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
    const shoppers = new Shoppers(await openStreet(trial, dataDir, server), trial.random)
    const logs = watchLogs(dataDir)
    const readings = await work(trial, shoppers, server, stats, `http://127.0.0.1:${metricsPort}/metrics`)
    judge(trial, readings)
    logs.judge(trial)
  } finally {
    stats.stop()
    await server.end()
  }
}

async function prepare({ packed }: Trial, dataDir: string, hook: string): Promise<void> {
  const file = join(dataDir, 'shelf.json')
  writeFileSync(file, JSON.stringify({ products }))
  const limits = ['register_ip', 'checkout_ip', 'checkout_decline']
  for (const words of [
    ['migrate'],
    ['seed', file],
    ['webhooks', 'add', hook],
    ...limits.map((bucket) => ['settings', 'set', `limits.${bucket}`, 'off'])
  ]) {
    const { exitCode, stderr } = await runPacked(packed, { dataDir }, ...words)
    if (exitCode !== 0) throw new Error(`shopstead ${words.join(' ')}: ${stderr}`)
  }
}

/** The shop as its visitors find it, and an affiliate who sends them. */
async function openStreet(trial: Trial, dataDir: string, { apiRoot, url }: PackedServer): Promise<Street> {
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
    told(what, { status, text }, expected) {
      trial.count(what)
      if (!expected.includes(status)) trial.violation(`${what} was answered ${status}: ${text.slice(0, 200)}`)
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
  const [total, stretches] = trial.isFull ? [200_000, 40] : [8_000, 16]
  const readings: Reading[] = []
  for (let done = 0; done < total;) {
    await shoppers.come(total / stretches)
    done += total / stretches
    await sleep(300)
    const reading = await settled(server, () => read(stats, metricsUrl, done))
    readings.push(reading)
    const { heapMb, residentMb, openFiles, timers } = reading
    trial.progress(
      `${done}: heap ${heapMb.toFixed(1)} MB, ${residentMb.toFixed(0)} MB resident, ${openFiles} files, ${timers} timers`
    )
  }
  return readings
}

/**
 * The reading of a server that has cleared up. It answers the first reading at the latest when it has heard the signal
 * before it, so the last one comes after two collections at least; some things go only with the second.
 */
async function settled({ child }: PackedServer, take: () => Promise<Reading>): Promise<Reading> {
  const fewest = await fewestHandles(take)
  for (let times = 0; times < 2; times += 1) {
    child.kill('SIGUSR2')
    await take()
    await sleep(50)
  }
  child.kill('SIGUSR2')
  await sleep(50)
  const reading = await take()
  return { ...reading, handles: Math.min(reading.handles, fewest) }
}

/**
 * Of at most five seconds: webhooks that are being delivered have sockets for as long as that takes, and what the server
 * has lost hold of is there in every reading.
 */
async function fewestHandles(take: () => Promise<Reading>): Promise<number> {
  const until = performance.now() + 5_000
  let { handles } = await take()
  while (handles > handlesAtRest && performance.now() < until) {
    await sleep(100)
    handles = Math.min(handles, (await take()).handles)
  }
  return handles
}

/** How far a figure may rise from the second quarter to the last. */
function judge(trial: Trial, readings: readonly Reading[]): void {
  const rises = {
    heapMb: trial.isFull ? 6 : 4,
    residentMb: trial.isFull ? 30 : 40,
    openFiles: 4,
    handles: 4,
    timers: 2
  } as const
  for (const figure of Object.keys(rises) as (keyof typeof rises)[]) {
    const { first, last, perThousand } = courseOf(readings, figure)
    const told = `${figure}: ${first.toFixed(1)} in the second quarter, ${last.toFixed(1)} in the last`
    trial.figure(`${told}, ${perThousand.toFixed(3)} more for each 1,000 requests`)
    if (!(last - first <= rises[figure])) trial.violation(`${told}: it may rise by ${rises[figure]}`)
  }
}

/** Looks at the write-ahead logs while the shop works. */
function watchLogs(dataDir: string): { judge(trial: Trial): void } {
  const most = new Map<string, number>(databases.map((name) => [name, 0]))
  const timer = setInterval(() => {
    for (const [name, mb] of most) most.set(name, Math.max(mb, sizeMb(join(dataDir, `${name}-wal`))))
  }, 50)
  return {
    judge(trial) {
      clearInterval(timer)
      for (const [name, mb] of most) {
        trial.figure(`${name}: ${sizeMb(join(dataDir, name)).toFixed(1)} MB, its log at most ${mb.toFixed(1)} MB`)
        if (mb === 0 || mb > mostLogMb) trial.violation(`the log of ${name} was ${mb} MB, of at most ${mostLogMb}`)
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
