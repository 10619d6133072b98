import { validationFailed } from '../../errors.ts'
import type { GrantSpec } from '../catalog/schema.ts'

type Line = { grants: readonly GrantSpec[] }

/** How often lines renew that Stripe is to renew; null when nothing of them is a subscription. */
export function subscriptionInterval(lines: readonly Line[]): 'month' | 'year' | null {
  for (const grant of lines.flatMap(({ grants }) => grants)) {
    if (grant.kind === 'subscription') return grant.interval
  }
  return null
}

/**
 * Stripe renews a cart as one subscription, in one rhythm.
 *
 * @throws AppError VALIDATION_FAILED on each line that renews in another rhythm than the first that renews at all
 */
export function assertOneInterval(lines: readonly (Line & { path: string })[]): void {
  const first = subscriptionInterval(lines)
  const others = lines.filter(({ grants }) =>
    grants.some((grant) => grant.kind === 'subscription' && grant.interval !== first)
  )
  if (others.length === 0) return
  const message = 'Cannot be bought together with a subscription of another interval.'
  throw validationFailed(Object.fromEntries(others.map(({ path }) => [`${path}.productId`, [message]])))
}
