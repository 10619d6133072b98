import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'
import type { CrashContext } from './customer.ts'
import { isReportedPaid } from './records.ts'
import type { RefundRequest } from './records.ts'

const partMinor = 350

/** Refunds paid orders by command, in whole or in part. Some of the commands are killed while they run. */
export async function refundOrders(context: CrashContext, random: Random): Promise<void> {
  const seen = new Set<number>()
  while (!context.isOver()) {
    const orderId = pickPaidOrder(context, random, seen)
    if (orderId !== undefined) {
      seen.add(orderId)
      await refund(context, random, orderId)
    }
    await sleep(random.between(50, 300))
  }
}

function pickPaidOrder({ records }: CrashContext, random: Random, seen: ReadonlySet<number>): number | undefined {
  const paid = records.accounts
    .flatMap(({ purchases }) => purchases)
    .filter((purchase) => isReportedPaid(purchase))
    .flatMap(({ reply }) => reply?.orderId ?? [])
    .filter((id) => !seen.has(id))
  return paid.length === 0 ? undefined : random.pick(paid)
}

async function refund(context: CrashContext, random: Random, orderId: number): Promise<void> {
  const amountMinor = random.oneIn(2) ? partMinor : null
  const killAfterMs = random.oneIn(3) ? random.between(150, 900) : undefined
  const first = await requestRefund(context, orderId, amountMinor, killAfterMs)
  // A full refund can safely be repeated. A partial one cannot, because it might be executed twice.
  if (first.outcome === 'unanswered' && amountMinor === null) await requestRefund(context, orderId, null)
}

async function requestRefund(
  { shop, records, trial }: CrashContext,
  orderId: number,
  amountMinor: number | null,
  killAfterMs?: number
): Promise<RefundRequest> {
  const part = amountMinor === null ? [] : ['--amount', (amountMinor / 100).toFixed(2)]
  trial.count(killAfterMs === undefined ? 'refunds by command' : 'refunds whose command was killed')
  const request: RefundRequest = { orderId, amountMinor, outcome: 'unanswered', text: '' }
  records.refunds.push(request)
  const { stdout, stderr } = await shop.run(['orders', 'refund', String(orderId), '--yes', ...part], killAfterMs)
  const answer = readJson(stdout)
  return Object.assign(request, {
    text: `${stdout}${stderr}`,
    outcome: answer === undefined ? 'unanswered' : 'order' in answer ? 'done' : 'refused'
  })
}

/** Undefined for the output of a killed command, which may be incomplete. */
function readJson(text: string): object | undefined {
  try {
    return JSON.parse(text) as object
  } catch {
    return undefined
  }
}
