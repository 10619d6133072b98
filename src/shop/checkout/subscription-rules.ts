import { renewalInterval } from '../benefits/kinds.ts'
import { isShipped, needsShipping } from '../catalog/product-types.ts'
import type { NewLine } from '../orders/create-order.ts'
import { refusal } from '../orders/problems.ts'
import type { Refusal } from '../orders/problems.ts'

/** Stripe accepts 20 recurring and 20 one-time lines in a Checkout Session with a subscription (docs.stripe.com/api/checkout/sessions/create). */
const mostLinesWithSubscription = 20

/** What the gateway's page adds to the products of a cart as lines of its own. */
export type AddedLines = { shipping: boolean; taxes: boolean }

/**
 * The lines that do not fit into one Checkout Session with a subscription: all subscriptions must have the same billing
 * interval, and Stripe limits the number of lines. The second list is empty unless the first one is.
 *
 * @param added what the order can get before it is paid, because the buyer's address can come after the checkout
 */
export function sessionRefusals(lines: readonly NewLine[], added: AddedLines): Refusal[] {
  const mixed = mixedIntervals(lines)
  return mixed.length > 0 ? mixed : tooManyLines(lines, added)
}

/** The lines whose billing interval differs from the first one's. */
function mixedIntervals(lines: readonly NewLine[]): Refusal[] {
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

function tooManyLines(lines: readonly NewLine[], added: AddedLines): Refusal[] {
  const isRecurring = ({ grants }: NewLine): boolean => grants.some((grant) => renewalInterval(grant) !== null)
  const recurring = lines.filter(isRecurring)
  if (recurring.length === 0) return []
  const others = lines.filter((line) => !isRecurring(line))
  return [
    { some: recurring, reserved: reservedLines(recurring, added) },
    // The tax and the shipping that are charged once can be on any line.
    { some: others, reserved: reservedLines(lines, added) }
  ].flatMap(({ some, reserved }) => {
    const most = mostLinesWithSubscription - reserved
    const message = `At most ${most} other products can be bought together with a subscription.`
    return some.slice(most).map(({ path, name }) => {
      const words = `${message} Remove ${name}, or order it separately.`
      return refusal({ path: `${path}.productId`, code: 'too_many_products', message: words }, { message })
    })
  })
}

/** The most lines that shipping and taxes can need: each class has one rate for what is shipped and one for the rest. */
function reservedLines(lines: readonly NewLine[], { shipping, taxes }: AddedLines): number {
  const rates = new Set(lines.map(({ type, taxClass }) => `${taxClass} ${isShipped(type)}`))
  return (shipping && needsShipping(lines) ? 1 : 0) + (taxes ? rates.size : 0)
}
