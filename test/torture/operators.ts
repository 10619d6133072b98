import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { generateShop, grown } from '../bench/generated-shop.ts'
import type { Size } from '../bench/generated-shop.ts'
import { temporaryFolder } from '../bench/temporary-folder.ts'
import { pinned, residentMegabytesOf } from '../bench/measure/machine.ts'
import { openGateway, stripeEnv } from '../faults/shop-and-gateway.ts'
import { quay } from '../support/addresses.ts'
import { startCustomers } from './abuse/child-processes.ts'
import type { Customers } from './abuse/child-processes.ts'
import type { Sample } from './abuse/customers.ts'
import { catalogWork } from './operators/catalog-work.ts'
import { jobWork } from './operators/job-work.ts'
import { limitMemory } from './operators/memory-limit.ts'
import { orderWork } from './operators/order-work.ts'
import type { Operator, Work } from './operators/work.ts'
import { dataOf, runConcurrently, sendRequest } from './http-client.ts'
import { runPacked, servePacked } from './packed-shop.ts'
import type { PackedServer } from './packed-shop.ts'
import type { Part, Trial } from './part.ts'
import { percentile, ProcessStats } from './process-stats.ts'

export const works = [...catalogWork, ...orderWork, ...jobWork]

/** What buyers feel at most, in milliseconds: the p99 of all requests together, and of checkouts. The short form only reports the times beside the work. */
const promised = { together: 50, checkouts: 100 }
/** The maximum resident memory of the server. */
const maxMb = 300
const small = { products: 1_000, orders: 5_000, users: 1_000, referrals: 1_000 }
const customers = 20
const aloneMs = 10_000
const longestWaitMs = 10 * 60_000

export const operators: Part = {
  name: 'operators',
  about: "an operator's work, and the server's own, beside buyers: nothing refused, and no delay that they feel",
  run: (trial) =>
    tryWorks(
      trial,
      works.filter(({ name }) => name.includes(trial.only))
    )
}

/** Tries each work in a copy of a shop of its size. Each shop is made once. */
export async function tryWorks(trial: Trial, those: readonly Work[]): Promise<void> {
  const sizeOf = ({ size }: Work): Size => (trial.isFull ? { ...grown, ...size } : small)
  for (const works of Map.groupBy(those, (work) => JSON.stringify(sizeOf(work))).values()) {
    const [first] = works
    if (first === undefined) continue
    const { dataDir, copy } = await generateShop(trial.packed, sizeOf(first))
    // The reference of the benchmark, which nothing here reads.
    rmSync(copy)
    for (const work of works) await tryInCopy(trial, work, dataDir)
    rmSync(dataDir, { recursive: true })
  }
}

async function tryInCopy(trial: Trial, work: Work, original: string): Promise<void> {
  trial.progress(work.name)
  const dataDir = temporaryFolder('operators')
  try {
    cpSync(original, dataDir, { recursive: true })
    await tryIn(trial, work, dataDir)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function tryIn(trial: Trial, work: Work, dataDir: string): Promise<void> {
  // The server and the commands share one core; the buyers and the gateway have the other one.
  const memory = work.memoryMb === undefined ? undefined : limitMemory(work.memoryMb)
  const wrapper = [...(memory?.wrapper ?? []), ...pinned('server', '').slice(0, -1)]
  let server: PackedServer | undefined
  const gateway = await openGateway(() => server?.url ?? '')
  const env = { ...stripeEnv(gateway.origin), SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' }
  const serve = async (): Promise<PackedServer> => (server = await servePacked(trial.packed, { dataDir, env, wrapper }))
  try {
    if (work.pages !== undefined) await openPages(await serve(), trial.isFull ? work.pages.full : work.pages.short)
    await server?.end()
    await prepare(work, { dataDir, isFull: trial.isFull })
    await measure(trial, work, await serve(), { dataDir, env, wrapper })
    if (memory !== undefined) trial.figure(`${work.name}: at most ${memory.peakMb().toFixed(0)} MB with all files`)
    if (memory !== undefined && memory.kills() > 0)
      trial.violation(`${work.name}: the kernel ended ${memory.kills()} processes for want of memory`)
  } finally {
    await server?.end()
    await gateway.close()
    memory?.remove()
  }
}

/** Each cart has a buyer of its own, who leaves the page open. */
async function openPages({ apiRoot }: PackedServer, pages: number): Promise<void> {
  await runConcurrently(pages, 16, async (index) => {
    const items = [{ productId: (index % 1_000) + 1, quantity: 1 }]
    const headers = { 'x-forwarded-for': `198.51.100.${index % 250}` }
    dataOf(await sendRequest(`${apiRoot}/store/checkout-session`, { headers, body: { items, shippingAddress: quay } }))
  })
}

async function prepare(work: Work, shop: { dataDir: string; isFull: boolean }): Promise<void> {
  const sqlite = new Database(join(shop.dataDir, 'shopstead.db'))
  await work.prepare?.({ ...shop, sqlite })
  sqlite.close()
}

type Launch = { dataDir: string; env: Record<string, string>; wrapper: readonly string[] }

async function measure(trial: Trial, work: Work, server: PackedServer, launch: Launch): Promise<void> {
  const stats = new ProcessStats(server.child.pid)
  let buyers: Customers | undefined
  try {
    buyers = await startCustomers({
      apiRoot: server.apiRoot,
      products: Array.from({ length: 1_000 }, (_, index) => ({ productId: index + 1, slug: `product-${index + 1}` })),
      customers,
      everyMs: (customers * 1_000) / work.buyers.perSecond,
      mix: work.buyers.mix,
      seed: trial.random.between(0, 0x7fffffff)
    })
    // The short form judges no time.
    if (trial.isFull && work.atStart !== true) await measureAlone(trial, work, buyers)
    await measureBeside(trial, work, { ...launch, buyers, stats })
    if (trial.isFull && work.atStart === true) await measureAlone(trial, work, buyers)
    for (const line of server.errors.filter((each) => each.includes('"level":"error"')).slice(0, 3))
      trial.violation(`${work.name}: the server logged an error: ${line}`)
  } finally {
    buyers?.stop()
    stats.stop()
  }
}

/** The buyers alone, after V8 has compiled the hot functions. */
async function measureAlone(trial: Trial, { name }: Work, buyers: Customers): Promise<void> {
  await sleep(aloneMs)
  await buyers.sample()
  await sleep(aloneMs)
  trial.figure(`${name}: buyers alone ${describe(await buyers.sample())}`)
}

type Beside = Launch & { buyers: Customers; stats: ProcessStats }

async function measureBeside(trial: Trial, work: Work, beside: Beside): Promise<void> {
  const { buyers, stats, dataDir } = beside
  const operator = operatorOf(trial, beside)
  await buyers.sample()
  stats.takePeakMb()
  const startedAt = performance.now()
  await work.run({ ...operator, isFull: trial.isFull, dataDir })
  const seconds = (performance.now() - startedAt) / 1000
  const sample = await buyers.sample()
  const peaks = { server: stats.takePeakMb(), command: operator.peakMb() }
  trial.figure(
    `${work.name}: ${seconds.toFixed(1)} s, buyers ${describe(sample)}; server ${peaks.server.toFixed(0)} MB, command ${peaks.command.toFixed(0)} MB`
  )
  trial.count('requests of buyers', sample.times.length)
  for (const wrong of sample.wrong.slice(0, 3)) trial.violation(`${work.name}: a buyer got ${wrong}`)
  if (peaks.server > maxMb)
    trial.violation(`${work.name}: the server used ${peaks.server.toFixed(0)} MB, more than ${maxMb}`)
  if (!trial.isFull) return
  const { times, checkoutTimes } = sample
  const isMixed = checkoutTimes.length < times.length
  if (isMixed) assertQuick(trial, `${work.name}: the p99 of all requests`, times, promised.together)
  assertQuick(trial, `${work.name}: the p99 of checkouts`, checkoutTimes, promised.checkouts)
}

function assertQuick(trial: Trial, what: string, times: readonly number[], limit: number): void {
  const p99 = percentile(times, 0.99)
  if (p99 > limit) trial.violation(`${what} was ${p99.toFixed(0)} ms, more than ${limit}`)
}

function operatorOf(
  { packed }: Trial,
  { dataDir, env, wrapper }: Beside
): Pick<Operator, 'command' | 'untilNone'> & { peakMb(): number } {
  let peakMb = 0
  return {
    peakMb: () => peakMb,
    async command(...words) {
      let started: number | undefined
      const timer = setInterval(() => void (peakMb = Math.max(peakMb, memoryOf(started))), 100)
      const onStart = (pid: number | undefined): void => void (started = pid)
      const ran = await runPacked(packed, { dataDir, env, wrapper, onStart }, ...words)
      clearInterval(timer)
      if (ran.exitCode !== 0) throw new Error(`shopstead ${words.join(' ')}: ${ran.stderr}`)
    },
    async untilNone(sql) {
      const sqlite = new Database(join(dataDir, 'shopstead.db'), { readonly: true })
      const count = sqlite.prepare<[], number>(sql).pluck()
      const until = Date.now() + longestWaitMs
      try {
        while (count.get() !== 0) {
          if (Date.now() > until) throw new Error(`The server has not done its work after ten minutes: ${sql}`)
          await sleep(250)
        }
      } finally {
        sqlite.close()
      }
    }
  }
}

/** The resident memory of a command in MB; 0 when it has ended. */
function memoryOf(pid: number | undefined): number {
  try {
    return pid === undefined ? 0 : residentMegabytesOf(pid) || 0
  } catch {
    return 0
  }
}

function describe({ times, checkoutTimes, slowest }: Sample): string {
  if (times.length === 0) return 'sent nothing yet'
  const ms = (list: readonly number[], share: number): string => percentile(list, share).toFixed(1)
  const worst = `worst ${slowest.ms.toFixed(0)} ms (${slowest.path})`
  return `p50 ${ms(times, 0.5)} ms, p99 ${ms(times, 0.99)} ms, checkouts ${ms(checkoutTimes, 0.99)} ms, ${worst} of ${times.length}`
}
