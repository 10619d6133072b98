/** Customer-safe words for a payment that did not go through; none of them tells a thief what gave him away. */
const declined = {
  payment_fraud_blocked: 'This payment was stopped. Please use another card or another way to pay.',
  payment_card_declined_generic: 'Your card was declined. Please use another card, or ask your bank.',
  payment_insufficient_funds: 'There is not enough money on this card. Please use another one.',
  payment_card_expired: 'This card has expired. Please use another one.',
  payment_card_incorrect: 'Something in the card’s details is not right. Please check them.',
  payment_authentication_required: 'Your bank did not confirm the payment. Please try again, or use another card.',
  payment_gateway_unavailable:
    'We cannot reach the payment service just now. Nothing was charged as far as we know; please try again in a moment.',
  payment_failed: 'The payment did not go through. Please try again, or use another card.'
}

export function declineWords(safeReason) {
  return declined[safeReason] ?? declined.payment_failed
}

const standings = {
  pending: 'Waiting for payment',
  failed: 'Payment did not go through',
  'on-hold': 'On hold',
  processing: 'Paid, being packed',
  completed: 'Completed',
  cancelled: 'Cancelled',
  refunded: 'Refunded'
}

export function statusWords(status) {
  return standings[status] ?? status
}

const tones = {
  processing: 'good',
  completed: 'good',
  pending: 'wait',
  'on-hold': 'wait',
  active: 'good',
  unpaid: 'good',
  paid: 'good'
}

/** How a status looks: good, wait or bad. */
export function toneOf(status) {
  return tones[status] ?? 'bad'
}
