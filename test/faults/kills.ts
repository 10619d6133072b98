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
import { judge } from './judge.ts'
import type { Verdict } from './judge.ts'
import { openGateway, openLimits, shelf } from './lane.ts'
import type { Gateway, Lane } from './lane.ts'
import { count } from './matrix.ts'
import type { Result } from './matrix.ts'
import type { Order, Word } from './mortal-shop.ts'
import { describeRun } from './runs.ts'
import type { Run } from './runs.ts'

/** One checkout during which the shop's process is killed. */
export type KillRun = {
  buyer: Extract<Run['buyer'], 'card' | '3-D Secure' | 'page'>
  /** Before or after the n-th write since the buyer asked, or a call as the gateway sees it. */
  point: string
  when: 'before' | 'after'
  client: 'gives up' | 'repeats later'
}

/** As many writes as a checkout with its webhooks makes; where it makes fewer, it is killed after the answer. */
const mostWrites = 9
const calls: Readonly<Record<KillRun['buyer'], readonly string[]>> = {
  card: ['payment_intents.create', 'payment_intents.confirm'],
  '3-D Secure': ['payment_intents.confirm'],
  page: ['checkout.sessions.create', 'checkout.sessions.retrieve']
}

export function everyKill(): KillRun[] {
  const writes = Array.from({ length: mostWrites }, (_each, at) => `write ${at + 1}`)
  return (Object.keys(calls) as KillRun['buyer'][]).flatMap((buyer) =>
    [...calls[buyer], ...writes].flatMap((point) =>
      (['before', 'after'] as const).flatMap((when) =>
        (['gives up', 'repeats later'] as const).map((client): KillRun => ({ buyer, point, when, client }))
      )
    )
  )
}

/** A shop in a process of its own, which is started anew on the same data after each death. */
class MortalShop {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'shopstead-mortal-'))
  url = ''
  private child: ChildProcess | undefined

  async seed(): Promise<void> {
    const shop = await startShop({ dataDir: this.dataDir, seed: shelf })
    openLimits(shop)
    await shop.stop()
  }

  async start(origin: string): Promise<void> {
    const script = fileURLToPath(new URL('./mortal-shop.ts', import.meta.url))
    const child = fork(script, [this.dataDir, origin], { execArgv: [] })
    this.child = child
    const [word] = (await once(child, 'message')) as [Word]
    if (word.said === 'ready') this.url = word.url
  }

  async tell(order: Order): Promise<Word> {
    const { child } = this
    if (child === undefined) throw new Error('the shop has not been started')
    const answer = once(child, 'message')
    child.send(order)
    const [word] = (await answer) as [Word]
    return word
  }

  strike(): void {
    this.child?.kill('SIGKILL')
  }

  /** How many writes it has made since it was armed; null when it has died. */
  async writes(): Promise<number | null> {
    const { child } = this
    if (child?.connected !== true) return null
    const answer = Promise.race([once(child, 'message'), once(child, 'disconnect').then(() => [null])])
    // It may be dying: then nobody takes the question.
    child.send({ do: 'count' } satisfies Order, () => undefined)
    const [word] = (await answer) as [Word | null]
    return word?.said === 'counted' ? word.writes : null
  }

  /** It is killed now if it still lives. */
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

/** Plays every run, one after the other in as many lanes as there are cores to spare. */
export async function playKills(runs: readonly KillRun[], result: Result, lanes = 2): Promise<void> {
  const queue = [...runs]
  await Promise.all(Array.from({ length: lanes }, () => playLane(queue, result)))
}

async function playLane(queue: KillRun[], result: Result): Promise<void> {
  const shop = new MortalShop()
  const gateway = await openGateway(
    () => shop.url,
    () => shop.strike()
  )
  try {
    await shop.seed()
    await shop.start(gateway.origin)
    for (let run = queue.shift(); run !== undefined; run = queue.shift())
      count(result, await play(shop, gateway, run), describeRun(run))
  } finally {
    await shop.close()
    await gateway.close()
  }
}

async function play(shop: MortalShop, { sandbox, origin }: Gateway, run: KillRun): Promise<Verdict> {
  const visitor = (): Browser => new Browser(`${shop.url}/api/v1`)
  const lane: Lane = { sandbox, visitor, reconcile: async () => {}, close: async () => {} }
  const before = new Set(sandbox.ledger().charges.map(({ id }) => id))
  const buyer = await Buyer.enter(lane, run)
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
  const verdict = await judge(sandbox, back, before)
  // One that lives on past the write it was to die at tells nothing of that write.
  if (kind === 'write' && writes !== null && (writes === 0 || writes >= Number(at)))
    verdict.violations.push(`the shop made ${writes} writes and was not killed`)
  if (run.client === 'gives up') return verdict
  await back.buy()
  await sandbox.deliverDue(Date.now() + 60_000)
  const again = await judge(sandbox, back, before)
  return { ...again, violations: [...verdict.violations, ...again.violations] }
}
