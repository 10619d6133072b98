import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/free-port.ts'
import { attack } from './abuse/child-processes.ts'
import { describeSample, withShop } from './abuse/context.ts'
import type { AbuseContext } from './abuse/context.ts'
import { sendPayload } from './abuse/flood.ts'
import type { FloodKind } from './abuse/flood.ts'
import type { ForgedSource } from './abuse/forged-sources.ts'
import { countRows, withPeaks } from './abuse/resources.ts'
import type { StormKind } from './abuse/storm.ts'
import { dataOf, sendRequest } from './http-client.ts'
import type { Part } from './part.ts'

/** `from` gives each attack addresses of its own, so that no limit that another one used up refuses it. */
type Source = { name: string; addresses: number; connections: number; from: (attack: number) => ForgedSource }

const sources: readonly Source[] = [
  {
    name: 'one connection',
    addresses: 1,
    connections: 1,
    from: (attack) => ({ as: 'address', address: `198.51.100.${attack}` })
  },
  { name: '100 addresses', addresses: 100, connections: 100, from: () => ({ as: 'addresses', count: 100 }) },
  { name: '10,000 addresses', addresses: 10_000, connections: 1_000, from: () => ({ as: 'addresses', count: 10_000 }) }
]

const storms: readonly StormKind[] = [
  'wrong password',
  'impossible cart',
  'guest order',
  'scarce product',
  'forgotten password',
  'search',
  'forged webhook'
]
const floods: readonly FloodKind[] = ['tiny chunks', 'pipelined requests', 'hostile JSON', 'half-sent bodies']

/** A client may use at most this much of each resource. */
const budget = {
  /** Main thread's time for one payload of about 64 KB, in milliseconds. */
  loopMs: 10,
  bodyBytes: 64 * 1024 * 1024,
  /** Rows of one request: an order with its item, attempt, revision and events. */
  rowsOfRequest: 15,
  /** Rows of one address in ten minutes, by limits.checkout_ip. */
  rowsOfAddress: 300 * 15,
  /** Rows of customers whose orders ended or began at the edge of the measurement. */
  rowsOfCustomers: 200,
  /** Share of a stock that one address holds. */
  stockShare: 0.5
}

/** The shortest of several measurements has the least work of other requests in it. */
const tries = 8

export const budgets: Part = {
  name: 'budgets',
  about: 'what an attack from one connection, 100 and 10,000 addresses costs the shop and its customers',
  async run(trial) {
    const metricsPort = await freePort()
    await withShop(
      trial,
      async (context) => {
        for (const what of floods.slice(0, -1)) await measurePayload(context, what)
        for (const [number, what] of [...storms, ...floods].entries())
          for (const source of sources) await measure(context, { what, source, from: source.from(number) }, metricsPort)
      },
      { SHOPSTEAD_METRICS_PORT: String(metricsPort) }
    )
  }
}

type Attack = { what: StormKind | FloodKind; source: Source; from: ForgedSource }

async function measure(context: AbuseContext, attacking: Attack, metricsPort: number): Promise<void> {
  const { what, source } = attacking
  const { trial, customers, dataDir } = context
  const name = `${what}, ${source.name}`
  trial.progress(name)
  const forMs = trial.isFull ? 15_000 : 1_000
  await customers.sample()
  const rowsBefore = countRows(dataDir)
  const { result: sent, peaks } = await withPeaks(metricsPort, () => run(context, attacking, forMs))
  const sample = await customers.sample()
  const rows = countRows(dataDir) - rowsBefore - sample.checkoutTimes.length * budget.rowsOfRequest
  const { bodyBytes, stockHeld } = peaks
  const rowsAllowed = Math.min(sent * budget.rowsOfRequest, source.addresses * budget.rowsOfAddress)
  trial.count('attacking requests', sent)
  trial.figure(
    `${name}: ${describeSample(sample)}; ${sent} sent, ${Math.max(0, rows)} rows, ` +
      `${(bodyBytes / 2 ** 20).toFixed(1)} MB of bodies, ${stockHeld} units held`
  )
  const over = (resource: string, used: number, allowed: number): void => {
    if (used > allowed) trial.violation(`${name}: ${used.toFixed(1)} ${resource}, more than ${allowed}`)
  }
  over('bytes of request bodies', bodyBytes, budget.bodyBytes)
  over('rows', rows, rowsAllowed + budget.rowsOfCustomers)
  if (source.addresses === 1) over('units of stock held', stockHeld, scarceStock * budget.stockShare)
  for (const wrong of sample.wrong.slice(0, 3)) trial.violation(`${name}: a customer got ${wrong}`)
  await release(context)
}

const scarceStock = 100

/** Runs one attack. Returns how many requests, or payloads of 64 KB, were sent. */
async function run(context: AbuseContext, { what, source, from }: Attack, forMs: number): Promise<number> {
  const { trial, server } = context
  const { port } = new URL(server.apiRoot)
  const flooding = floods.find((kind) => kind === what)
  if (flooding !== undefined) {
    const options = { port: Number(port), what: flooding, connections: source.connections, forMs }
    return (await attack('flood', options)).sent
  }
  const storming = storms.find((kind) => kind === what) ?? 'search'
  const { answers, broken } = await attack('storm', {
    apiRoot: server.apiRoot,
    productId: storming === 'scarce product' ? await scarceProduct(server.apiRoot) : context.productId,
    seed: trial.random.between(0, 0x7fffffff),
    what: storming,
    times: 1_000_000,
    untilMs: forMs,
    width: Math.min(source.connections, 200),
    from
  })
  for (const error of broken.slice(0, 3)) trial.violation(`${what}, ${source.name}: no response (${error})`)
  return Object.values(answers).reduce((sum, times) => sum + times, 0)
}

async function scarceProduct(apiRoot: string): Promise<number> {
  const reply = await sendRequest(`${apiRoot}/store/offers?search=scarce`)
  return dataOf<{ offers: { productId: number }[] }>(reply).offers[0]?.productId ?? 0
}

/** Waits until the connections of an attack are closed, so that it does not delay the next one. */
async function release({ stats, baseline, server }: AbuseContext): Promise<void> {
  for (let waited = 0; stats.openFiles() > baseline.openFiles + 10 && waited < 15_000; waited += 250) await sleep(250)
  // The server may still close connections of the attack, and this one with them.
  await sendRequest(`${server.apiRoot}/health`).catch(() => undefined)
  await sleep(500)
}

/** Measures the main thread's time for one payload. */
async function measurePayload({ trial, server, stats }: AbuseContext, what: FloodKind): Promise<void> {
  let shortest = Infinity
  for (let index = 0; index < tries; index += 1) {
    const before = stats.mainThreadMs()
    await sendPayload(Number(new URL(server.apiRoot).port), what)
    shortest = Math.min(shortest, stats.mainThreadMs() - before)
  }
  trial.figure(`${what}: ${shortest.toFixed(1)} ms of the event loop for one payload`)
  if (shortest > budget.loopMs)
    trial.violation(`${what}: ${shortest.toFixed(1)} ms of the event loop, more than ${budget.loopMs}`)
}
