import { renewalInterval } from '../benefits/kinds.ts'
import type { GrantSpec } from '../catalog/grants.ts'

type Line = { grants: readonly GrantSpec[] }

/** How often lines renew that Stripe is to renew; null when nothing of them is a subscription. */
export function subscriptionInterval(lines: readonly Line[]): 'month' | 'year' | null {
  const intervals = lines.flatMap(({ grants }) => grants).map(renewalInterval)
  return intervals.find((interval) => interval !== null) ?? null
}
