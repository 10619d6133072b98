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
