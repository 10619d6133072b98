import type { GrantSpec } from '../catalog/schema.ts'

type Line = { grants: readonly GrantSpec[] }

/** How often lines renew that Stripe is to renew; null when nothing of them is a subscription. */
export function subscriptionInterval(lines: readonly Line[]): 'month' | 'year' | null {
  for (const grant of lines.flatMap(({ grants }) => grants)) {
    if (grant.kind === 'subscription') return grant.interval
  }
  return null
}
