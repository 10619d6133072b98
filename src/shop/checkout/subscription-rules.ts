import { renewalInterval } from '../benefits/kinds.ts'
import type { DraftLine } from '../orders/draft.ts'
import { refusal } from '../orders/problems.ts'
import type { Refusal } from '../orders/problems.ts'

/** Stripe accepts 20 recurring and 20 one-time lines in a Checkout Session with a subscription (docs.stripe.com/api/checkout/sessions/create). */
const mostLinesWithSubscription = 20

/**
 * The lines that do not fit into one Checkout Session with a subscription: all subscriptions must have the same billing
 * interval, and Stripe limits the number of lines. The second list is empty unless the first one is.
 */
export function sessionRefusals(lines: readonly DraftLine[]): Refusal[] {
  const mixed = mixedIntervals(lines)
  return mixed.length > 0 ? mixed : tooManyLines(lines)
}

/** The lines whose billing interval differs from the first one's. */
function mixedIntervals(lines: readonly DraftLine[]): Refusal[] {
  let first: string | undefined
  return lines.flatMap(({ path, name, grants }) => {
    const intervals = grants.flatMap((grant) => renewalInterval(grant) ?? [])
    first ??= intervals[0]
    if (intervals.every((interval) => interval === first)) return []
    const message = `${name} has a different billing interval from the other subscriptions.`
    const problem = { path: `${path}.productId`, code: 'interval_mixed', message } as const
    return [refusal(problem, { message: 'This item has a different billing interval from the others.' })]
  })
}

function tooManyLines(lines: readonly DraftLine[]): Refusal[] {
  const isRecurring = ({ grants }: DraftLine): boolean => grants.some((grant) => renewalInterval(grant) !== null)
  const recurring = lines.filter(isRecurring)
  if (recurring.length === 0) return []
  const others = lines.filter((line) => !isRecurring(line))
  const message = `At most ${mostLinesWithSubscription} other products can be bought together with a subscription.`
  const named = (name: string): string => `${message} Remove ${name}, or order it separately.`
  return [recurring, others].flatMap((some) =>
    some.slice(mostLinesWithSubscription).map(({ path, name }) => {
      const problem = { path: `${path}.productId`, code: 'too_many_products', message: named(name) } as const
      return refusal(problem, { message })
    })
  )
}
