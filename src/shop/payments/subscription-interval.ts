import { renewalInterval } from '../benefits/kinds.ts'
import type { GrantSpec } from '../catalog/grants.ts'

type Line = { grants: readonly GrantSpec[] }

/** The billing interval of the lines; null when no line is a subscription. */
export function subscriptionInterval(lines: readonly Line[]): 'month' | 'year' | null {
  const intervals = lines.flatMap(({ grants }) => grants).map(renewalInterval)
  return intervals.find((interval) => interval !== null) ?? null
}
