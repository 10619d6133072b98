import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openGateway, stripeEnv } from '../../faults/shop-and-gateway.ts'
import type { Gateway } from '../../faults/shop-and-gateway.ts'
import { sendRequest, dataOf } from '../http-client.ts'
import { runPacked, servePacked } from '../packed-shop.ts'
import type { PackedServer } from '../packed-shop.ts'
import { NotSupported } from '../part.ts'
import type { Trial } from '../part.ts'
import { percentile, ProcessStats } from '../process-stats.ts'
import { enterCustomers } from './crew.ts'
import type { Customers } from './crew.ts'
import type { Lap } from './customers.ts'

/** A shop with its limits as they are delivered, the gateway it pays with, and customers in it. */
export type Stage = {
  trial: Trial
  dataDir: string
  server: PackedServer
  gateway: Gateway
  productId: number
  customers: Customers
  stats: ProcessStats
  /** Of the server while only customers were in it. */
  quiet: { residentMb: number; openFiles: number }
}

const promisedMs = 100
/**
 * What the server may take at any time: V8 grows its young generation to 128 MB under load and SQLite its caches to 60;
 * one of the bodies that are poured would be too much beside that.
 */
const mostMb = 500
/** How often an attack is played before its p99 is a broken promise: other programs of this machine are not the shop's. */
const plays = 3
/** Programs that want each core; shop, customers, gateway and attackers are four together. */
const overloaded = 4
const shelf = {
  products: Array.from({ length: 30 }, (_, index) => ({
    slug: `mug-${index}`,
    name: `Mug number ${index}`,
    description: 'Enamelled by hand, and fired twice.',
    price: '12.50',
    categories: ['Kitchen']
  }))
}

export async function withStage(trial: Trial, play: (stage: Stage) => Promise<void>): Promise<void> {
  const dataDir = await seededFolder(trial)
  const gateway = await openGateway(() => server.url)
  const env = { ...stripeEnv(gateway.origin), SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' }
  const server = await servePacked(trial.packed, { dataDir, env })
  const stats = new ProcessStats(server.child.pid)
  let customers: Customers | undefined
  try {
    const productId = await anyProduct(server.apiRoot)
    customers = await enterCustomers({
      apiRoot: server.apiRoot,
      productId,
      customers: 5,
      everyMs: 50,
      seed: trial.random.between(0, 0x7fffffff)
    })
    const quiet = await calm(trial, customers, stats)
    await play({ trial, dataDir, server, gateway, productId, customers, stats, quiet })
  } finally {
    customers?.leave()
    stats.stop()
    await server.end()
    await gateway.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** A shop of its own beside the stage, in which nobody is trusted to say for whom a request comes. */
export async function withoutTrust(stage: Stage, play: (server: PackedServer) => Promise<void>): Promise<void> {
  const dataDir = await seededFolder(stage.trial)
  const server = await servePacked(stage.trial.packed, { dataDir, env: stripeEnv(stage.gateway.origin) })
  try {
    await play(server)
  } finally {
    await server.end()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function seededFolder({ packed }: Trial): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-abuse-'))
  const file = join(dataDir, 'shelf.json')
  writeFileSync(file, JSON.stringify(shelf))
  for (const words of [['migrate'], ['seed', file]]) {
    const ran = await runPacked(packed, { dataDir }, ...words)
    if (ran.exitCode !== 0) throw new Error(ran.stderr)
  }
  return dataDir
}

async function anyProduct(apiRoot: string): Promise<number> {
  const { offers } = dataOf<{ offers: { productId: number }[] }>(await sendRequest(`${apiRoot}/store/offers`))
  return offers[0]?.productId ?? 0
}

/** How the shop is without attackers. A machine that cannot keep the promise even then tells nothing about the shop. */
async function calm(trial: Trial, customers: Customers, stats: ProcessStats): Promise<Stage['quiet']> {
  await sleep(2_000)
  await customers.lap()
  for (let tries = 1; ; tries += 1) {
    await sleep(2_000)
    const lap = await customers.lap()
    const quiet = { residentMb: stats.residentMb(), openFiles: stats.openFiles() }
    trial.figure(`quiet: ${feltIn(lap)}; server ${Math.round(quiet.residentMb)} MB`)
    if (percentile(lap.times, 0.99) < promisedMs) return quiet
    if (tries === 5) throw new NotSupported(`the p99 is not below ${promisedMs} ms even with nobody attacking`)
  }
}

/** Plays one attack, and judges what customers and the server's memory felt of it. */
export async function scene(stage: Stage, name: string, attack: (play: number) => Promise<void>): Promise<void> {
  const { trial, customers, stats } = stage
  for (let play = 1; play <= plays; play += 1) {
    trial.progress(name)
    await customers.lap()
    stats.takePeakMb()
    await attack(play)
    const lap = await customers.lap()
    const peakMb = Math.round(stats.takePeakMb())
    trial.count('requests of customers under attack', lap.times.length)
    trial.count('checkouts of customers under attack', lap.bought)
    trial.figure(`${name}: ${feltIn(lap)}; server at most ${peakMb} MB`)
    for (const wrong of lap.wrong.slice(0, 3)) trial.violation(`${name}: a customer was answered ${wrong}`)
    if (peakMb > mostMb) trial.violation(`${name}: the server took ${peakMb} MB, more than ${mostMb}`)
    const p99 = percentile(lap.times, 0.99)
    if (p99 < promisedMs) return
    if (play === plays) tooSlow(trial, `${name}: the customers' p99 was ${Math.round(p99)} ms, ${plays} times over`)
  }
}

/** On a machine that others fill several times over it is not the shop that keeps customers waiting. */
function tooSlow(trial: Trial, told: string): void {
  const [load = 0] = loadavg()
  if (load < overloaded * availableParallelism()) trial.violation(told)
  else trial.figure(`${told}; not judged, because other programs take this machine (load ${load.toFixed(0)})`)
}

function feltIn({ times, slowest }: Lap): string {
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)]
  const worst = `worst ${slowest.ms.toFixed(0)} ms (${slowest.path})`
  return `customers' p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${worst} of ${times.length}`
}
