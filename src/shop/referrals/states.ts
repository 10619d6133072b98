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
export const reviewReasons = [
  'plus_address',
  'former_mailbox',
  'same_person',
  'same_card',
  'no_email',
  'unverified_affiliate'
] as const
export type ReviewReason = (typeof reviewReasons)[number]

/**
 * Why a referral is not accepted, as its affiliate sees it. `shop`: an operator rejected it, or another shop before it was
 * moved in.
 */
export const referralReasons = [
  'review',
  'self',
  'known_customer',
  'order_failed',
  'order_cancelled',
  'order_refunded',
  'order_excluded',
  'nothing_to_pay',
  'shop'
] as const
export type ReferralReason = (typeof referralReasons)[number]

/** The beginning of the reason that an operator gave. */
export const byOperator = 'operator'

/** Why a pending or rejected referral is not accepted, with the words of the operator; without a reason for others. */
export function reasonOf({ status, review, rejectedFor }: Unaccepted): { reason?: ReferralReason; note?: string } {
  if (status === 'pending') return review === null ? {} : { reason: 'review' }
  if (status !== 'rejected') return {}
  const known = referralReasons.find((reason) => reason === rejectedFor)
  const note = rejectedFor?.startsWith(`${byOperator}: `) ? rejectedFor.slice(byOperator.length + 2) : undefined
  return { reason: known ?? 'shop', ...(note === undefined ? {} : { note }) }
}

type Unaccepted = { status: ReferralStatus; review: readonly ReviewReason[] | null; rejectedFor: string | null }

/** What gives a line of an order its commission rate. */
export const rateSources = ['excluded', 'coupon', 'product', 'category', 'affiliate', 'shop', 'import'] as const
export type RateSource = (typeof rateSources)[number]
