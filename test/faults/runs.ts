import type { ApiFault, Moment, WebhookFault } from '../../src/sandbox/faults.ts'

/** One checkout with one thing going wrong. */
export type Run = {
  /** How stripe-node reaches the stand-in: in process, or over a socket with the HTTP client of production. */
  transport: 'in process' | 'socket'
  buyer: 'card' | 'declined card' | '3-D Secure' | 'page' | 'page and coupon'
  /** Which of the gateway's calls is struck. */
  call: string
  fault: Exclude<ApiFault, 'slow' | 'stalled' | 'kill'>
  moment: Moment
  /** stripe-node tries three times in all: one fault it gets over, eight it does not. */
  strikes: 'once' | 'always'
  webhooks: 'in time' | WebhookFault
  /** What the site does when it is not told how the payment went; each repeat carries the same Idempotency-Key. */
  client: 'gives up' | 'repeats at once' | 'repeats later'
}

const calls: Readonly<Record<Run['buyer'], readonly string[]>> = {
  card: ['payment_intents.create', 'payment_intents.confirm', 'payment_intents.retrieve'],
  'declined card': ['payment_intents.create', 'payment_intents.confirm', 'payment_intents.retrieve'],
  '3-D Secure': ['payment_intents.confirm', 'payment_intents.retrieve'],
  page: ['checkout.sessions.create', 'checkout.sessions.retrieve'],
  'page and coupon': ['coupons.create', 'checkout.sessions.create']
}
const buyers = Object.keys(calls) as Run['buyer'][]

/** A 429 is never executed; of what is executed Stripe keeps even its own 5xx under the key. */
const moments: Readonly<Record<Run['fault'], readonly Moment[]>> = {
  timeout: ['before', 'after'],
  reset: ['before', 'after'],
  truncated: ['after'],
  html: ['before', 'after'],
  '500': ['before', 'after', 'kept'],
  '503': ['before', 'after', 'kept'],
  '429': ['before'],
  '409': ['before', 'after'],
  '402': ['before', 'after']
}
const faults = Object.keys(moments) as Run['fault'][]

/** Every run that makes sense. */
export function everyRun(): Run[] {
  const runs: Run[] = []
  for (const transport of ['in process', 'socket'] as const)
    for (const buyer of buyers)
      for (const call of calls[buyer])
        for (const fault of faults)
          for (const moment of momentsOf(call, fault))
            for (const strikes of ['once', 'always'] as const)
              for (const webhooks of ['in time', 'lost', 'twice', 'late', 'out_of_order'] as const)
                for (const client of ['gives up', 'repeats at once', 'repeats later'] as const)
                  runs.push({ transport, buyer, call, fault, moment, strikes, webhooks, client })
  return runs
}

/** A question has no effect that could come before its fault. */
function momentsOf(call: string, fault: Run['fault']): readonly Moment[] {
  return call.endsWith('.retrieve') ? ['before'] : moments[fault]
}

/** Those in which the money has moved and the shop is told nothing of it: here a mistake costs the buyer twice. */
export function mostDangerous(): Run[] {
  return everyRun().filter(
    (run) =>
      run.call === 'payment_intents.confirm' &&
      run.buyer === 'card' &&
      run.moment !== 'before' &&
      run.fault !== 'timeout' &&
      run.strikes === 'always' &&
      run.webhooks === 'lost' &&
      run.transport === 'in process'
  )
}

/** As few of the runs as it takes for each two values of two columns that can meet to meet once. */
export function pairwise<T extends Record<string, string>>(runs: readonly T[]): T[] {
  const pairsOf = (run: T): string[] => {
    const cells = Object.entries(run).map(([column, value]) => `${column}=${value}`)
    return cells.flatMap((cell, at) => cells.slice(at + 1).map((other) => `${cell} ${other}`))
  }
  const candidates = runs.map((run) => ({ run, pairs: pairsOf(run) }))
  const open = new Set(candidates.flatMap(({ pairs }) => pairs))
  const chosen: T[] = []
  while (open.size > 0) {
    let best = candidates[0]
    let most = 0
    for (const candidate of candidates) {
      const fresh = candidate.pairs.filter((pair) => open.has(pair)).length
      if (fresh > most) [best, most] = [candidate, fresh]
    }
    if (best === undefined) break
    for (const pair of best.pairs) open.delete(pair)
    chosen.push(best.run)
  }
  return chosen
}

export function describeRun(run: Readonly<Record<string, string>>): string {
  return Object.entries(run)
    .map(([column, value]) => `${column}: ${value}`)
    .join(', ')
}
