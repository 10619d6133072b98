import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Browser } from '../support/browser.ts'
import { startShop } from '../support/running-shop.ts'
import { Buyer } from './buyer.ts'
import { verify } from './verify.ts'
import type { Findings } from './verify.ts'
import { openGateway, openLimits, shelf } from './shop-and-gateway.ts'
import type { Gateway, ShopAndGateway } from './shop-and-gateway.ts'
import { count } from './matrix.ts'
import type { Result } from './matrix.ts'
import type { Command, Reply } from './killable-shop.ts'
import { describeRun } from './runs.ts'
import type { Run } from './runs.ts'

/** One checkout during which the shop's process is killed. */
export type KillRun = {
  buyer: Extract<Run['buyer'], 'card' | '3-D Secure' | 'page'>
  /** `write N`, the N-th write after the request, or the name of a call to the gateway. */
  point: string
  when: 'before' | 'after'
  client: 'gives up' | 'repeats later'
}

/** The number of writes of a checkout with its webhooks. A shop that makes fewer is killed after the response. */
const maxWrites = 9
const calls: Readonly<Record<KillRun['buyer'], readonly string[]>> = {
  card: ['payment_intents.create', 'payment_intents.confirm'],
  '3-D Secure': ['payment_intents.confirm'],
  page: ['checkout.sessions.create', 'checkout.sessions.retrieve']
}

/** All combinations of a buyer, a point, and a client's behaviour. */
export function allKills(): KillRun[] {
  const writes = Array.from({ length: maxWrites }, (_each, at) => `write ${at + 1}`)
  return (Object.keys(calls) as KillRun['buyer'][]).flatMap((buyer) =>
    [...calls[buyer], ...writes].flatMap((point) =>
      (['before', 'after'] as const).flatMap((when) =>
        (['gives up', 'repeats later'] as const).map((client): KillRun => ({ buyer, point, when, client }))
      )
    )
  )
}

/** A shop in a separate process, which is restarted on the same data after each kill. */
class KillableShop {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'shopstead-mortal-'))
  url = ''
  private child: ChildProcess | undefined

  async seed(): Promise<void> {
    const shop = await startShop({ dataDir: this.dataDir, seed: shelf })
    openLimits(shop)
    await shop.stop()
  }

  async start(origin: string): Promise<void> {
    const script = fileURLToPath(new URL('./killable-shop.ts', import.meta.url))
    const child = fork(script, [this.dataDir, origin], { execArgv: [] })
    this.child = child
    const [reply] = (await once(child, 'message')) as [Reply]
    if (reply.type === 'ready') this.url = reply.url
  }

  async tell(command: Command): Promise<Reply> {
    const { child } = this
    if (child === undefined) throw new Error('the shop has not been started')
    const answer = once(child, 'message')
    child.send(command)
    const [reply] = (await answer) as [Reply]
    return reply
  }

  kill(): void {
    this.child?.kill('SIGKILL')
  }

  /** The number of writes since `arm`; null when the process is dead. */
  async writes(): Promise<number | null> {
    const { child } = this
    if (child?.connected !== true) return null
    const answer = Promise.race([once(child, 'message'), once(child, 'disconnect').then(() => [null])])
    // The process may be dying, so an error here is ignored.
    child.send({ do: 'count' } satisfies Command, () => undefined)
    const [reply] = (await answer) as [Reply | null]
    return reply?.type === 'counted' ? reply.writes : null
  }

  /** Kills the process if it is still alive. */
  async end(): Promise<void> {
    const { child } = this
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
  }

  async close(): Promise<void> {
    await this.end()
    rmSync(this.dataDir, { recursive: true, force: true })
  }
}

/** Executes all runs with this many workers and adds the findings to `result`. */
export async function runKills(runs: readonly KillRun[], result: Result, workers = 2): Promise<void> {
  const queue = [...runs]
  await Promise.all(Array.from({ length: workers }, () => runQueue(queue, result)))
}

async function runQueue(queue: KillRun[], result: Result): Promise<void> {
  const shop = new KillableShop()
  const gateway = await openGateway(
    () => shop.url,
    () => shop.kill()
  )
  try {
    await shop.seed()
    await shop.start(gateway.origin)
    for (let run = queue.shift(); run !== undefined; run = queue.shift())
      count(result, await runOne(shop, gateway, run), describeRun(run))
  } finally {
    await shop.close()
    await gateway.close()
  }
}

async function runOne(shop: KillableShop, { sandbox, origin }: Gateway, run: KillRun): Promise<Findings> {
  const visitor = (): Browser => new Browser(`${shop.url}/api/v1`)
  const target: ShopAndGateway = { sandbox, visitor, reconcile: async () => {}, close: async () => {} }
  const before = new Set(sandbox.ledger().charges.map(({ id }) => id))
  const buyer = await Buyer.enter(target, run)
  const [kind, at = ''] = run.point.split(' ')
  if (kind === 'write') await shop.tell({ do: 'arm', write: Number(at), when: run.when })
  else sandbox.addFault({ target: run.point, fault: 'kill', moment: run.when })
  await buyer.buy()
  const writes = await shop.writes()
  await shop.end()
  sandbox.clearFaults()
  await shop.start(origin)
  const back = buyer.moveTo(visitor())
  await sandbox.deliverDue(Date.now() + 60_000)
  await shop.tell({ do: 'reconcile' })
  const findings = await verify(sandbox, back, before)
  // A shop that survives its write proves nothing about that write.
  if (kind === 'write' && writes !== null && (writes === 0 || writes >= Number(at)))
    findings.violations.push(`the shop made ${writes} writes and was not killed`)
  if (run.client === 'gives up') return findings
  await back.buy()
  await sandbox.deliverDue(Date.now() + 60_000)
  const again = await verify(sandbox, back, before)
  return { ...again, violations: [...findings.violations, ...again.violations] }
}
