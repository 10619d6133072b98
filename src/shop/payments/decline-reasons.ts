/** Reasons that a site may show to the customer (docs/contract.md 5.11). */
export type SafeReason =
  | 'payment_fraud_blocked'
  | 'payment_card_declined_generic'
  | 'payment_insufficient_funds'
  | 'payment_card_expired'
  | 'payment_card_incorrect'
  | 'payment_authentication_required'
  | 'payment_gateway_unavailable'
  | 'payment_failed'

const messages: Readonly<Record<SafeReason, string>> = {
  payment_fraud_blocked: 'The payment was blocked. Please use another way to pay.',
  payment_card_declined_generic: 'Your card was declined. Please use another card.',
  payment_insufficient_funds: 'Your card has insufficient funds. Please use another card.',
  payment_card_expired: 'Your card has expired. Please use another card.',
  payment_card_incorrect: "Your card's details are not right. Please check them.",
  payment_authentication_required: 'Your bank requires you to confirm the payment. Please try again.',
  payment_gateway_unavailable: 'Payments are not possible at the moment. Please try again later.',
  payment_failed: 'The payment did not go through.'
}

const byDeclineCode: ReadonlyMap<string, SafeReason> = new Map<string, SafeReason>([
  // Lost and stolen cards get the same reason: the person who holds the card must not learn that it was reported.
  ['lost_card', 'payment_card_declined_generic'],
  ['stolen_card', 'payment_card_declined_generic'],
  ['fraudulent', 'payment_card_declined_generic'],
  ['merchant_blacklist', 'payment_card_declined_generic'],
  ['generic_decline', 'payment_card_declined_generic'],
  ['do_not_honor', 'payment_card_declined_generic'],
  ['insufficient_funds', 'payment_insufficient_funds'],
  ['expired_card', 'payment_card_expired'],
  ['incorrect_cvc', 'payment_card_incorrect'],
  ['invalid_cvc', 'payment_card_incorrect'],
  ['incorrect_number', 'payment_card_incorrect'],
  ['invalid_number', 'payment_card_incorrect'],
  ['incorrect_zip', 'payment_card_incorrect'],
  ['invalid_expiry_month', 'payment_card_incorrect'],
  ['invalid_expiry_year', 'payment_card_incorrect'],
  ['authentication_required', 'payment_authentication_required']
])

const byCode: ReadonlyMap<string, SafeReason> = new Map([
  ...byDeclineCode,
  ['card_declined', 'payment_card_declined_generic'],
  ['payment_intent_authentication_failure', 'payment_authentication_required']
])

/** The parts of a GatewayFailure that decide the customer's message. */
type Failure = { kind: 'refused' | 'broken' | 'unknown'; error: { code?: string; decline_code: string | null } }

const otherwise: Readonly<Record<Failure['kind'], SafeReason>> = {
  refused: 'payment_failed',
  broken: 'payment_gateway_unavailable',
  unknown: 'payment_gateway_unavailable'
}

/** Fraud takes precedence, then the decline code, then the error code (docs/interface.md 4.7). */
export function safeReason({ kind, error }: Failure): SafeReason {
  if (error.code === 'fraud') return 'payment_fraud_blocked'
  const known = byDeclineCode.get(error.decline_code ?? '') ?? byCode.get(error.code ?? '')
  return known ?? otherwise[kind]
}

/** A message about a failed payment that a site may show to the customer. */
export function customerMessage(failure: Failure): string {
  return failure.kind === 'unknown'
    ? 'The payment service did not answer in time. We are checking whether the payment went through.'
    : messages[safeReason(failure)]
}
