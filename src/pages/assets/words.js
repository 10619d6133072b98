/** Messages for a failed payment that are safe to show. They do not reveal that a card was reported as stolen. */
const declined = {
  payment_fraud_blocked: 'This payment was blocked. Please use another card or another payment method.',
  payment_card_declined_generic: 'Your card was declined. Please use another card, or ask your bank.',
  payment_insufficient_funds: 'This card has insufficient funds. Please use another card.',
  payment_card_expired: 'This card has expired. Please use another card.',
  payment_card_incorrect: 'The card details are not correct. Please check them.',
  payment_authentication_required: 'Your bank did not confirm the payment. Please try again, or use another card.',
  payment_gateway_unavailable:
    'We cannot reach the payment service at the moment. As far as we know, you have not been charged. Please try again in a minute.',
  payment_failed: 'The payment did not go through. Please try again, or use another card.'
}

export function declineWords(safeReason) {
  return declined[safeReason] ?? declined.payment_failed
}

/**
 * @typedef {import('../../client/api-types.ts').Membership} Membership
 * @typedef {import('../../client/api-types.ts').Subscription} Subscription
 * @typedef {import('../../client/api-types.ts').Affiliate} Affiliate
 * @typedef {import('../../client/api-types.ts').Referral} Referral
 * @typedef {import('../../shop/orders/states.ts').Tone} Tone
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

/** The states of referrals, as in the totals, and of affiliates. */
const labels = {
  unpaid: 'Earned',
  paid: 'Paid out',
  pending: 'Waiting',
  rejected: 'Not accepted',
  active: 'Active',
  inactive: 'Not active'
}

/**
 * The word for the status of an affiliate or a referral.
 *
 * @param {(Affiliate | Referral)['status']} status
 */
export function labelOf(status) {
  return labels[status]
}

/**
 * The colour of the status of a membership, a subscription, an affiliate or a referral.
 *
 * @param {keyof typeof tones} status
 */
export function toneOf(status) {
  return tones[status]
}
