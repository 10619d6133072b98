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
import { startCustomers } from './child-processes.ts'
import type { Customers } from './child-processes.ts'
import type { Sample } from './customers.ts'

/** A shop with the default limits, its gateway, and ordinary customers. */
export type AbuseContext = {
  trial: Trial
  dataDir: string
  server: PackedServer
  gateway: Gateway
  productId: number
  customers: Customers
  stats: ProcessStats
  /** The server's figures with customers only. */
  baseline: { residentMb: number; openFiles: number }
}

const promisedMs = 100
/**
 * The server's maximum memory. V8's young generation grows to 128 MB under load and SQLite's caches to 60 MB. One of the
 * huge bodies in memory would exceed this limit.
 */
const maxMb = 500
/** How often an attack runs before a slow p99 is a violation, because other programs may slow the machine down. */
const attempts = 3
/** Runnable processes per core above which slow responses are not a violation; this test itself has four. */
const overloaded = 4
const mugs = Array.from({ length: 30 }, (_, index) => ({
  slug: `mug-${index}`,
  name: `Mug number ${index}`,
  description: 'Enamelled by hand, and fired twice.',
  price: '12.50',
  categories: ['Kitchen']
}))
const shelf = { products: [...mugs, { slug: 'scarce', name: 'Scarce lamp', price: '40.00', stock: 100 }] }

/** Starts a shop, its gateway and customers, runs `work`, and stops them. */
export async function withShop(
  trial: Trial,
  work: (context: AbuseContext) => Promise<void>,
  more: Record<string, string> = {}
): Promise<void> {
  const dataDir = await seededFolder(trial)
  const gateway = await openGateway(() => server.url)
  const env = { ...stripeEnv(gateway.origin), SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1', ...more }
  const server = await servePacked(trial.packed, { dataDir, env })
  const stats = new ProcessStats(server.child.pid)
  let customers: Customers | undefined
  try {
    const product = await anyProduct(server.apiRoot)
    const { productId } = product
    customers = await startCustomers({
      apiRoot: server.apiRoot,
      products: [product],
      customers: 5,
      everyMs: 50,
      mix: { offers: 12, 'search of offers': 12, me: 12, orders: 12, health: 11, checkout: 1 },
      seed: trial.random.between(0, 0x7fffffff)
    })
    const baseline = await measureQuiet(trial, customers, stats)
    await work({ trial, dataDir, server, gateway, productId, customers, stats, baseline })
  } finally {
    customers?.stop()
    stats.stop()
    await server.end()
    await gateway.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Starts a second shop that trusts no proxy, runs `work`, and stops it. */
export async function withUntrustedProxyShop(
  context: AbuseContext,
  work: (server: PackedServer) => Promise<void>
): Promise<void> {
  const dataDir = await seededFolder(context.trial)
  const server = await servePacked(context.trial.packed, { dataDir, env: stripeEnv(context.gateway.origin) })
  try {
    await work(server)
  } finally {
    await server.end()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function seededFolder({ packed }: Trial): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-abuse-'))
  const file = join(dataDir, 'shelf.json')
  writeFileSync(file, JSON.stringify(shelf))
  for (const words of [['init'], ['seed', file]]) {
    const ran = await runPacked(packed, { dataDir }, ...words)
    if (ran.exitCode !== 0) throw new Error(ran.stderr)
  }
  return dataDir
}

type Product = { productId: number; slug: string }

async function anyProduct(apiRoot: string): Promise<Product> {
  const { products } = dataOf<{ products: Product[] }>(await sendRequest(`${apiRoot}/store/products`))
  const [product] = products
  if (product === undefined) throw new Error('The shop has no products.')
  return product
}

/** Measures the shop without attacks. A machine that is too slow even then cannot test the promise. */
async function measureQuiet(
  trial: Trial,
  customers: Customers,
  stats: ProcessStats
): Promise<AbuseContext['baseline']> {
  await sleep(2_000)
  await customers.sample()
  for (let tries = 1; ; tries += 1) {
    await sleep(2_000)
    const sample = await customers.sample()
    const baseline = { residentMb: stats.residentMb(), openFiles: stats.openFiles() }
    trial.figure(`baseline: ${describeSample(sample)}; server ${Math.round(baseline.residentMb)} MB`)
    if (percentile(sample.times, 0.99) < promisedMs) return baseline
    if (tries === 5) throw new NotSupported(`the p99 is not below ${promisedMs} ms even without an attack`)
  }
}

/** Runs one attack and verifies the customers' response times and the server's memory during it. */
export async function runAttack(
  context: AbuseContext,
  name: string,
  attack: (attempt: number) => Promise<void>
): Promise<void> {
  const { trial, customers, stats } = context
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    trial.progress(name)
    await customers.sample()
    stats.takePeakMb()
    await attack(attempt)
    const sample = await customers.sample()
    const peakMb = Math.round(stats.takePeakMb())
    trial.count('requests of customers under attack', sample.times.length)
    trial.count('checkouts of customers under attack', sample.checkoutTimes.length)
    trial.figure(`${name}: ${describeSample(sample)}; server at most ${peakMb} MB`)
    for (const wrong of sample.wrong.slice(0, 3)) trial.violation(`${name}: a customer got ${wrong}`)
    if (peakMb > maxMb) trial.violation(`${name}: the server used ${peakMb} MB, more than ${maxMb}`)
    const p99 = percentile(sample.times, 0.99)
    if (p99 < promisedMs) return
    if (attempt === attempts)
      tooSlow(trial, `${name}: the customers' p99 was ${Math.round(p99)} ms in each of ${attempts} attempts`)
  }
}

/** Reports slow responses: as a violation, or as a figure when the machine is overloaded by other programs. */
function tooSlow(trial: Trial, text: string): void {
  const [load = 0] = loadavg()
  if (load < overloaded * availableParallelism()) trial.violation(text)
  else trial.figure(`${text}; not a violation, because other programs overload this machine (load ${load.toFixed(0)})`)
}

export function describeSample({ times, slowest }: Sample): string {
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)]
  const worst = `worst ${slowest.ms.toFixed(0)} ms (${slowest.path})`
  return `customers' p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${worst} of ${times.length}`
}
