import { keysOf } from '../../platform/typed.ts'
/** Every referral state. `accepted`: the affiliate has earned the commission, whether or not it has been paid out. */
const states = {
  pending: { accepted: false },
  unpaid: { accepted: true },
  paid: { accepted: true },
  rejected: { accepted: false }
} as const satisfies Record<string, { accepted: boolean }>

export type ReferralStatus = keyof typeof states

const names = keysOf(states)

export const referralStatuses: readonly [ReferralStatus, ...ReferralStatus[]] = names
export const acceptedStatuses: readonly ReferralStatus[] = names.filter(isAccepted)

export function isAccepted(status: ReferralStatus): boolean {
  return states[status].accepted
}
