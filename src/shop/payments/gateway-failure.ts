import { AppError } from '../../errors.ts'

/** What a customer may be told (CONTRACT 5). */
export type SafeReason =
  | 'payment_fraud_blocked'
  | 'payment_card_declined_generic'
  | 'payment_insufficient_funds'
  | 'payment_card_expired'
  | 'payment_card_incorrect'
  | 'payment_authentication_required'
  | 'payment_gateway_unavailable'
  | 'payment_failed'

export type GatewayStep = 'create_intent' | 'confirm_intent'

/** The gateway's error as it may leave the house: named fields only, cut to what they may hold. */
export type GatewayError = { type: string; code?: string; decline_code: string | null; param: string; message: string }

/** How a gateway call ended that did not answer what was asked. */
export type GatewayFailure = {
  /** `refused`: the payment was turned down; `broken`: the gateway failed without charging; `unknown`: nobody can tell. */
  kind: 'refused' | 'broken' | 'unknown'
  /** Whether the gateway itself said so, with a status; false when the line or the time ran out. */
  answered: boolean
  error: GatewayError
  requestId: string
}

const cardMessages: Readonly<Record<SafeReason, string>> = {
  payment_fraud_blocked: 'The payment was blocked. Please use another way to pay.',
  payment_card_declined_generic: 'Your card was declined. Please use another card.',
  payment_insufficient_funds: 'Your card has too little money on it. Please use another card.',
  payment_card_expired: 'Your card has expired. Please use another card.',
  payment_card_incorrect: "Your card's details are not right. Please check them.",
  payment_authentication_required: 'Your bank asks you to confirm the payment. Please try again.',
  payment_gateway_unavailable: 'Payments are not possible at the moment. Please try again later.',
  payment_failed: 'The payment did not go through.'
}

const byDeclineCode: Readonly<Record<string, SafeReason>> = {
  lost_card: 'payment_card_declined_generic',
  stolen_card: 'payment_card_declined_generic',
  fraudulent: 'payment_card_declined_generic',
  merchant_blacklist: 'payment_card_declined_generic',
  generic_decline: 'payment_card_declined_generic',
  do_not_honor: 'payment_card_declined_generic',
  insufficient_funds: 'payment_insufficient_funds',
  expired_card: 'payment_card_expired',
  incorrect_cvc: 'payment_card_incorrect',
  invalid_cvc: 'payment_card_incorrect',
  incorrect_number: 'payment_card_incorrect',
  invalid_number: 'payment_card_incorrect',
  incorrect_zip: 'payment_card_incorrect',
  invalid_expiry_month: 'payment_card_incorrect',
  invalid_expiry_year: 'payment_card_incorrect',
  authentication_required: 'payment_authentication_required'
}

const byCode: Readonly<Record<string, SafeReason>> = {
  ...byDeclineCode,
  card_declined: 'payment_card_declined_generic',
  payment_intent_authentication_failure: 'payment_authentication_required'
}

/** Fraud first, whatever the decline says; then the decline, then the code. */
export function safeReason(failure: GatewayFailure): SafeReason {
  const { code, decline_code: declineCode } = failure.error
  if (code === 'fraud') return 'payment_fraud_blocked'
  const known = byDeclineCode[declineCode ?? ''] ?? byCode[code ?? '']
  if (known !== undefined) return known
  return failure.kind === 'refused' ? 'payment_failed' : 'payment_gateway_unavailable'
}

export function customerMessage(failure: GatewayFailure): string {
  return cardMessages[safeReason(failure)]
}

const statusOf = { refused: 402, broken: 502, unknown: 504 } as const

/** CHECKOUT_FAILED with the details of interface.md 4.7. */
export function checkoutFailed(failure: GatewayFailure, step: GatewayStep, orderId: number): AppError {
  const message =
    failure.kind === 'unknown'
      ? 'The payment service did not answer in time. We will find out whether the payment went through.'
      : customerMessage(failure)
  return new AppError(
    'CHECKOUT_FAILED',
    message,
    {
      safeReason: safeReason(failure),
      phase: 'payment',
      step,
      gatewayError: failure.error,
      gatewayRequestId: failure.requestId,
      orderId
    },
    { status: statusOf[failure.kind] }
  )
}

/** What stripe-node's errors have in common; a copy of named fields, since the object carries client secrets. */
type StripeErrorLike = {
  type?: unknown
  rawType?: unknown
  code?: unknown
  decline_code?: unknown
  param?: unknown
  message?: unknown
  requestId?: unknown
  statusCode?: unknown
}

/** Reads any error of a gateway call. Card errors and a payment method that is not there are the buyer's; the rest is ours. */
export function readGatewayError(error: unknown): GatewayFailure {
  const raw: StripeErrorLike = typeof error === 'object' && error !== null ? error : {}
  const type = identifier(raw.rawType) || typeName(raw.type)
  const code = identifier(raw.code)
  const param = paymentParam(identifier(raw.param))
  return {
    kind: kindOf(raw, type, param),
    answered: typeof raw.statusCode === 'number' && raw.statusCode >= 400,
    error: {
      type,
      ...(code === '' ? {} : { code }),
      decline_code: identifier(raw.decline_code) || null,
      param,
      message: sanitised(raw.message)
    },
    requestId: identifier(raw.requestId)
  }
}

function kindOf(raw: StripeErrorLike, type: string, param: string): GatewayFailure['kind'] {
  if (type === 'card_error') return 'refused'
  if (type === 'invalid_request_error' && (param === 'payment_method' || param === 'confirmation_token'))
    return 'refused'
  if (typeof raw.statusCode !== 'number') return 'unknown'
  return raw.statusCode >= 500 || raw.statusCode === 409 || raw.statusCode < 400 ? 'unknown' : 'broken'
}

/** A token travels inside payment_method_data; to the site it is the payment method. */
function paymentParam(param: string): string {
  return param.startsWith('payment_method_data') ? 'payment_method' : param
}

/** stripe-node's class names, for errors that Stripe itself did not write. */
function typeName(type: unknown): string {
  return type === 'StripeConnectionError'
    ? 'api_connection_error'
    : type === 'StripeAPIError'
      ? 'api_error'
      : identifier(type)
}

function identifier(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(/[^A-Za-z0-9_.-]/g, '').slice(0, 200) : ''
}

/** A gateway's sentence without anything that could be a card number, at most 200 characters. */
function sanitised(message: unknown): string {
  if (typeof message !== 'string') return ''
  return message
    .replaceAll(/\p{C}/gu, ' ')
    .replaceAll(/\d[\d -]{3,}\d|\d{5,}/g, '')
    .trim()
    .slice(0, 200)
}
