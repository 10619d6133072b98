import { AppError, validationFailed } from '../../errors.ts'
import { isStorageError } from '../../platform/db/storage-errors.ts'
import { customerMessage, safeReason } from './decline-reasons.ts'

export type GatewayStep = 'create_intent' | 'confirm_intent'

/** The gateway's error as the API may return it: named fields only, sanitised and limited in length. */
export type GatewayError = { type: string; code?: string; decline_code: string | null; param: string; message: string }

/** How a failed gateway call ended. */
export type GatewayFailure = {
  /** `refused`: the payment was declined; `broken`: the gateway failed without charging; `unknown`: it may have charged. */
  kind: 'refused' | 'broken' | 'unknown'
  /** Whether the gateway answered with an HTTP status; false after a network error or a timeout. */
  answered: boolean
  /** The request itself may be right and succeed later: the key, the permission or the rate limit refused it. */
  temporary: boolean
  /** The gateway does not know the object. */
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

/**
 * The answer to the buyer when the gateway rejects their email address, which the shop's own rules allow (letters
 * outside ASCII before the @); undefined for any other failure. Nothing was charged.
 */
export function emailRefused({ answered, error: { code, param } }: GatewayFailure): AppError | undefined {
  if (!answered || (code !== 'email_invalid' && !/(?:^|_|\b)email\b/.test(param))) return undefined
  return validationFailed({ 'customer.email': ['Cannot be used for card payments. Please use another address.'] })
}

/** The fields that are read of the gateway's errors; the error object itself carries client secrets. */
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
 * Reads the error of a gateway call or a PaymentIntent's `last_payment_error`. Card errors and unusable payment methods are
 * the buyer's to fix; the rest is the shop's.
 *
 * @param token the payment token that was sent; the gateway's message may repeat it
 */
export function readGatewayError(error: unknown, token = ''): GatewayFailure {
  // What our own database says must not leave the service. Whether the gateway charged is then unknown.
  const isOfGateway = typeof error === 'object' && error !== null && !isStorageError(error)
  const raw: StripeErrorLike = isOfGateway ? error : {}
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
      message: sanitised(raw.message, token)
    },
    requestId: identifier(raw.requestId)
  }
}

/** Whether a call got no answer; the next call will probably get none either. */
export function isSilence(error: unknown): boolean {
  const { kind, answered } = readGatewayError(error)
  return kind === 'unknown' && !answered
}

/** Whether Stripe refused a call because there were too many; it was not executed (docs.stripe.com/rate-limits). */
export function isRateLimited(error: unknown): boolean {
  return statusOfError(error) === 429
}

/** Whether the next call will probably fail too: the gateway does not answer, or it asks for fewer calls. */
export function isUnavailable(error: unknown): boolean {
  return isSilence(error) || isRateLimited(error)
}

/** Whether the same call is still running under the same idempotency key; it may yet succeed. */
export function isRunningAlready(error: unknown): boolean {
  return statusOfError(error) === 409
}

function statusOfError(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? (error as StripeErrorLike).statusCode : undefined
}

function kindOf(status: number, type: string, param: string): GatewayFailure['kind'] {
  if (type === 'card_error') return 'refused'
  if (type === 'invalid_request_error' && param === 'payment_method') return 'refused'
  // After a 409 the same request is still running and may yet succeed.
  return status >= 400 && status < 500 && status !== 409 ? 'broken' : 'unknown'
}

/** A token in any parameter is the payment method, from the site's point of view. */
function paymentParam(param: string): string {
  return param === 'confirmation_token' || param.startsWith('payment_method_data') ? 'payment_method' : param
}

/** The type of an error that stripe-node made, by its class name. */
function typeName(type: unknown): string {
  if (type === 'StripeConnectionError') return 'api_connection_error'
  return type === 'StripeAPIError' ? 'api_error' : identifier(type)
}

function identifier(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(/[^A-Za-z0-9_.-]/g, '').slice(0, 200) : ''
}

/**
 * The gateway's message as plain text of at most 200 characters: without tags, without the payment token, and without
 * anything that could be a card number.
 */
function sanitised(message: unknown, token: string): string {
  if (typeof message !== 'string') return ''
  const harmless = (token === '' ? message : message.replaceAll(token, ''))
    .replaceAll(/\b(?:pm|tok|ctoken|card|src)_\w+/g, '')
    .replaceAll(/<\/?[a-z!][^>]*>?/gi, '')
    .replaceAll(/[<>]/g, '')
    .replaceAll(/\p{C}/gu, ' ')
    .replaceAll(/\d(?:[ -]?\d){4,}/g, '')
  return Array.from(harmless.trim()).slice(0, 200).join('').trim()
}
