import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'
import type { World } from './customer.ts'
import { wasToldPaid } from './record.ts'
import type { RefundAsked } from './record.ts'

const partMinor = 350

/** Gives money back from a terminal, whole or in part, all the time; some of the commands are killed in the midst. */
export async function keepRefunding(world: World, random: Random): Promise<void> {
  const seen = new Set<number>()
  while (!world.isOver()) {
    const orderId = somebodysPaidOrder(world, random, seen)
    if (orderId !== undefined) {
      seen.add(orderId)
      await refund(world, random, orderId)
    }
    await sleep(random.between(50, 300))
  }
}

function somebodysPaidOrder({ record }: World, random: Random, seen: ReadonlySet<number>): number | undefined {
  const paid = record.accounts
    .flatMap(({ purchases }) => purchases)
    .filter((purchase) => wasToldPaid(purchase))
    .flatMap(({ told }) => told?.orderId ?? [])
    .filter((id) => !seen.has(id))
  return paid.length === 0 ? undefined : random.pick(paid)
}

async function refund(world: World, random: Random, orderId: number): Promise<void> {
  const amountMinor = random.oneIn(2) ? partMinor : null
  const killAfterMs = random.oneIn(3) ? random.between(150, 900) : undefined
  const first = await askRefund(world, orderId, amountMinor, killAfterMs)
  // All that is left can be asked for again without harm; whoever asked for a part looks first.
  if (first.outcome === 'unanswered' && amountMinor === null) await askRefund(world, orderId, null)
}

async function askRefund(
  { shop, record, trial }: World,
  orderId: number,
  amountMinor: number | null,
  killAfterMs?: number
): Promise<RefundAsked> {
  const part = amountMinor === null ? [] : ['--amount', (amountMinor / 100).toFixed(2)]
  trial.count(killAfterMs === undefined ? 'refunds from a terminal' : 'refunds whose command was killed')
  const asked: RefundAsked = { orderId, amountMinor, outcome: 'unanswered', text: '' }
  record.refunds.push(asked)
  const { stdout, stderr } = await shop.run(['orders', 'refund', String(orderId), '--yes', ...part], killAfterMs)
  const answer = readJson(stdout)
  return Object.assign(asked, {
    text: `${stdout}${stderr}`,
    outcome: answer === undefined ? 'unanswered' : 'order' in answer ? 'done' : 'refused'
  })
}

/** Undefined for what a killed command left, which may be nothing or the beginning of a document. */
function readJson(text: string): object | undefined {
  try {
    return JSON.parse(text) as object
  } catch {
    return undefined
  }
}
