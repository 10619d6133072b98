import { t } from './texts.js'

/** Messages for a failed payment that are safe to show. They do not reveal that a card was reported as stolen. */
const declined = /** @type {const} */ ([
  'payment_fraud_blocked',
  'payment_card_declined_generic',
  'payment_insufficient_funds',
  'payment_card_expired',
  'payment_card_incorrect',
  'payment_authentication_required',
  'payment_gateway_unavailable'
])

export function declineWords(safeReason) {
  return t(`declined.${declined.find((reason) => reason === safeReason) ?? 'payment_failed'}`)
}

/**
 * @typedef {import('../../client/api-types.ts').Membership} Membership
 * @typedef {import('../../client/api-types.ts').Subscription} Subscription
 * @typedef {import('../../client/api-types.ts').Affiliate} Affiliate
 * @typedef {import('../../client/api-types.ts').Referral} Referral
 * @typedef {import('../storefront/order-states.ts').Tone} Tone
 */

/** @type {Readonly<Record<(Membership | Subscription | Affiliate | Referral)['status'], Tone>>} */
const tones = {
  active: 'good',
  past_due: 'bad',
  cancelled: 'bad',
  expired: 'bad',
  pending: 'wait',
  unpaid: 'good',
  paid: 'good',
  inactive: 'wait',
  rejected: 'bad'
}

/**
 * The word for the status of a membership, a subscription, an affiliate or a referral.
 *
 * @param {keyof typeof tones} status
 */
export function labelOf(status) {
  return t(`status.${status}`)
}

const roles = /** @type {const} */ (['member', 'pro', 'affiliate', 'admin'])

/**
 * The word for a role of the account.
 *
 * @param {string} role
 */
export function roleOf(role) {
  const known = roles.find((each) => each === role)
  return known === undefined ? role : t(`role.${known}`)
}

/**
 * The colour of the status of a membership, a subscription, an affiliate or a referral.
 *
 * @param {keyof typeof tones} status
 */
export function toneOf(status) {
  return tones[status]
}
