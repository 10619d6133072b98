import { AppError } from '../../errors.ts'
import { customerMessage, safeReason } from './decline-reasons.ts'

export type GatewayStep = 'create_intent' | 'confirm_intent'

/** The gateway's error as it may leave the house: named fields only, cut to what they may hold. */
export type GatewayError = { type: string; code?: string; decline_code: string | null; param: string; message: string }

/** How a gateway call ended that did not answer what was asked. */
export type GatewayFailure = {
  /** `refused`: the payment was turned down; `broken`: the gateway failed without charging; `unknown`: nobody can tell. */
  kind: 'refused' | 'broken' | 'unknown'
  /** Whether the gateway itself said so, with a status; false when the line or the time ran out. */
  answered: boolean
  /** The request itself may be right and succeed later: the key, the permission or the rate limit refused it. */
  temporary: boolean
  /** It does not know the object that it was asked about. */
  missing: boolean
  error: GatewayError
  requestId: string
}

/** Unauthorised, forbidden, timed out, too early, too many requests (docs.stripe.com/error-low-level). */
const temporaryStatuses: ReadonlySet<number> = new Set([401, 403, 408, 425, 429])

const statusOf = { refused: 402, broken: 502, unknown: 504 } as const

/** CHECKOUT_FAILED with exactly the details of docs/interface.md 4.7. */
export function checkoutFailed(failure: GatewayFailure, step: GatewayStep): AppError {
  return new AppError(
    'CHECKOUT_FAILED',
    customerMessage(failure),
    {
      safeReason: safeReason(failure),
      phase: 'payment',
      step,
      gatewayError: failure.error,
      gatewayRequestId: failure.requestId
    },
    { status: statusOf[failure.kind] }
  )
}

/** What the gateway's errors have in common; a copy of named fields, since the object carries client secrets. */
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

/**
 * Reads any error of a gateway call, and a PaymentIntent's own `last_payment_error`. Card errors and a payment method
 * that cannot be used are the buyer's; the rest is ours.
 */
export function readGatewayError(error: unknown): GatewayFailure {
  const raw: StripeErrorLike = typeof error === 'object' && error !== null ? error : {}
  const type = identifier(raw.rawType) || typeName(raw.type)
  const code = identifier(raw.code)
  const param = paymentParam(identifier(raw.param))
  const status = typeof raw.statusCode === 'number' ? raw.statusCode : 0
  return {
    kind: kindOf(status, type, param),
    answered: status >= 400,
    temporary: temporaryStatuses.has(status),
    missing: status === 404 || code === 'resource_missing',
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

/** Whether a call got no answer at all: what is asked next will hardly get one either. */
export function isSilence(error: unknown): boolean {
  const { kind, answered } = readGatewayError(error)
  return kind === 'unknown' && !answered
}

/** Whether the very same call is still at work, sent by somebody else under the same key: it may yet succeed. */
export function isRunningAlready(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as StripeErrorLike).statusCode === 409
}

function kindOf(status: number, type: string, param: string): GatewayFailure['kind'] {
  if (type === 'card_error') return 'refused'
  if (type === 'invalid_request_error' && param === 'payment_method') return 'refused'
  // A 409 says that the same request is still at work, which may yet succeed.
  return status >= 400 && status < 500 && status !== 409 ? 'broken' : 'unknown'
}

/** However a token travels, to the site it is the payment method. */
function paymentParam(param: string): string {
  return param === 'confirmation_token' || param.startsWith('payment_method_data') ? 'payment_method' : param
}

/** stripe-node's class names, for errors that Stripe itself did not write. */
function typeName(type: unknown): string {
  if (type === 'StripeConnectionError') return 'api_connection_error'
  return type === 'StripeAPIError' ? 'api_error' : identifier(type)
}

function identifier(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(/[^A-Za-z0-9_.-]/g, '').slice(0, 200) : ''
}

/** A gateway's sentence without anything that could be a card number, at most 200 characters. */
function sanitised(message: unknown): string {
  if (typeof message !== 'string') return ''
  const harmless = message.replaceAll(/\p{C}/gu, ' ').replaceAll(/\d(?:[ -]?\d){4,}/g, '')
  return Array.from(harmless.trim()).slice(0, 200).join('').trim()
}
