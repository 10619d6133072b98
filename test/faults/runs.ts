import type { ApiFault, Moment, WebhookFault } from '../../src/sandbox/http/faults.ts'

/** One checkout with one fault. */
export type Run = {
  /** How stripe-node calls the sandbox: in process, or over a socket with its own HTTP client. */
  transport: 'in process' | 'socket'
  buyer: 'card' | 'declined card' | '3-D Secure' | 'page' | 'page and coupon'
  /** The call to the gateway that has the fault. */
  call: string
  fault: Exclude<ApiFault, 'slow' | 'stalled' | 'kill'>
  moment: Moment
  /** stripe-node sends a request up to three times, so it survives one fault but not eight. */
  times: 'once' | 'always'
  webhooks: 'on time' | WebhookFault
  /** How the buyer leaves the gateway's page or the bank's. */
  leaves: 'by closing it' | 'by returning' | 'by cancelling' | 'by cancelling after paying'
  /** What the client does when the outcome is unknown. Each repeated request has the same Idempotency-Key. */
  client: 'gives up' | 'repeats immediately' | 'repeats later'
}

const calls: Readonly<Record<Run['buyer'], readonly string[]>> = {
  card: ['payment_intents.create', 'payment_intents.confirm', 'payment_intents.retrieve'],
  'declined card': ['payment_intents.create', 'payment_intents.confirm', 'payment_intents.retrieve'],
  '3-D Secure': ['payment_intents.confirm', 'payment_intents.retrieve'],
  page: ['checkout.sessions.create', 'checkout.sessions.retrieve', 'checkout.sessions.expire'],
  'page and coupon': ['coupons.create', 'checkout.sessions.create']
}
const buyers = Object.keys(calls) as Run['buyer'][]

const waysToLeave: Readonly<Record<Run['buyer'], readonly Run['leaves'][]>> = {
  card: ['by closing it'],
  'declined card': ['by closing it'],
  '3-D Secure': ['by closing it', 'by returning'],
  page: ['by closing it', 'by returning', 'by cancelling', 'by cancelling after paying'],
  'page and coupon': ['by closing it', 'by cancelling']
}

/** A 429 or a 401 is never executed. Stripe stores the answer of an executed request under its key, even its own 5xx. */
export const momentsOfWrites: Readonly<Record<Run['fault'], readonly Moment[]>> = {
  timeout: ['before', 'after'],
  reset: ['before', 'after'],
  truncated: ['after'],
  html: ['before', 'after'],
  '500': ['before', 'after', 'kept'],
  '503': ['before', 'after', 'kept'],
  '429': ['before'],
  '409': ['before', 'after'],
  '402': ['before', 'after'],
  '401': ['before']
}
const faults = Object.keys(momentsOfWrites) as Run['fault'][]

/** All valid combinations. */
export function allRuns(): Run[] {
  const runs: Run[] = []
  for (const transport of ['in process', 'socket'] as const)
    for (const buyer of buyers)
      for (const call of calls[buyer])
        for (const fault of faults)
          for (const moment of momentsOf(call, fault))
            for (const times of ['once', 'always'] as const)
              for (const webhooks of ['on time', 'lost', 'twice', 'late', 'out_of_order'] as const)
                for (const leaves of waysToLeave[buyer])
                  for (const client of ['gives up', 'repeats immediately', 'repeats later'] as const)
                    runs.push({ transport, buyer, call, fault, moment, times, webhooks, leaves, client })
  return runs
}

/** A read has no effect, so `after` would equal `before`. */
function momentsOf(call: string, fault: Run['fault']): readonly Moment[] {
  return call.endsWith('.retrieve') ? ['before'] : momentsOfWrites[fault]
}

/** Runs in which the buyer is charged but the shop is not told. A mistake here charges the buyer twice. */
export function mostDangerousRuns(): Run[] {
  return allRuns().filter(
    (run) =>
      run.call === 'payment_intents.confirm' &&
      run.buyer === 'card' &&
      run.moment !== 'before' &&
      run.fault !== 'timeout' &&
      run.times === 'always' &&
      run.webhooks === 'lost' &&
      run.transport === 'in process'
  )
}

/** A small subset of the runs that contains every valid pair of values of two columns (pairwise testing). */
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

/** A run in one line, for a report. */
export function describeRun(run: Readonly<Record<string, string>>): string {
  return Object.entries(run)
    .map(([column, value]) => `${column}: ${value}`)
    .join(', ')
}
