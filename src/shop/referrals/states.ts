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

/**
 * Why an operator decides about a referral: signs that the buyer is the affiliate, or that nobody can tell. Until then it
 * is `pending`, whatever `affiliates.autoAccept` says.
 */
export const reviewReasons = ['plus_address', 'former_mailbox', 'same_person', 'same_card', 'no_email'] as const
export type ReviewReason = (typeof reviewReasons)[number]
