import type Stripe from 'stripe'
import { AppError, validationFailed } from '../../errors.ts'
import type { CardGateway, ShopContext } from '../context.ts'
import type { AttemptRow } from './rows.ts'
import { isConstraintError, isStorageError } from '../../platform/db/storage-errors.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { isObject } from '../../platform/typed.ts'

/** A gateway whose credentials are configured. */
export type ReadyGateway = CardGateway & { readonly client: () => Promise<Stripe> }

/** @throws AppError CHECKOUT_GATEWAY_NOT_CONFIGURED while the credentials are missing. */
export function readyGateway(shop: Pick<ShopContext, 'cards'>): ReadyGateway {
  const { cards } = shop
  if (!isReady(cards)) {
    throw new AppError('CHECKOUT_GATEWAY_NOT_CONFIGURED', 'Card payments are not set up yet.')
  }
  return cards
}

/** Whether the gateway has its credentials. */
export function isReady(cards: CardGateway | null): cards is ReadyGateway {
  return cards?.client !== undefined
}

/** The gateway that holds a payment; undefined when it cannot be asked, because its key is missing or the shop uses another gateway. */
export function findGatewayOf(
  { cards }: Pick<ShopContext, 'cards'>,
  { gateway }: Pick<AttemptRow, 'gateway'>
): ReadyGateway | undefined {
  return isReady(cards) && cards.name === gateway ? cards : undefined
}

/** @throws AppError DEPENDENCY_UNAVAILABLE, naming the settings without which the gateway cannot be asked. */
export function gatewayOf(
  shop: Pick<ShopContext, 'cards'>,
  attempt: Pick<AttemptRow, 'orderId' | 'gateway'>
): ReadyGateway {
  const found = findGatewayOf(shop, attempt)
  if (found !== undefined) return found
  const { orderId, gateway } = attempt
  const needs = `SHOPSTEAD_PAYMENTS=${gateway}${gateway === 'stripe' ? ' and SHOPSTEAD_STRIPE_SECRET_KEY' : ''}`
  const why = `The payment of order ${orderId} is at a gateway that cannot be asked without ${needs}.`
  throw new AppError('DEPENDENCY_UNAVAILABLE', why)
}

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

/**
 * Whether a call got no answer; the next call will probably get none either. A row that our own database refused says
 * nothing about the gateway, so the work on the next order goes on.
 */
export function isSilence(error: unknown): boolean {
  const { kind, answered } = readGatewayError(error)
  return kind === 'unknown' && !answered && !isConstraintError(error)
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
  return isObject(error) ? error['statusCode'] : undefined
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

/** The time that all gateway calls of one checkout share. */
const wholeMs = 20_000
const longestCallMs = 10_000
/** The pauses before a call is repeated that Stripe refused for its rate limit; stripe-node does not repeat these. */
const rateLimitPausesMs = [500, 1_000, 2_000]

/** The time for the gateway ran out. The call may still reach it, so its outcome is unknown. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed'
}

export type Deadline = {
  /**
   * Runs a call within the time that is left, at most 10 s a try; stripe-node's own retries count. A call that meets the
   * rate limit was not executed, so it is made again after a pause.
   */
  call<T>(work: (options: { timeout: number }) => Promise<T>): Promise<T>
}

/** Counts real time, also in a shop whose clock is set by a test. */
export function startDeadline(totalMs = wholeMs): Deadline {
  const endsAt = performance.now() + totalMs
  const leftMs = (): number => Math.floor(endsAt - performance.now())
  return {
    async call(work) {
      for (const pauseMs of rateLimitPausesMs) {
        try {
          return await within(leftMs(), work)
        } catch (error) {
          // Calls that were refused at the same time must not be repeated at the same time.
          const pause = pauseMs * (1 + Math.random() / 4)
          if (!isRateLimited(error) || leftMs() <= pause) throw error
          await sleep(pause)
        }
      }
      return within(leftMs(), work)
    }
  }
}

async function within<T>(leftMs: number, work: (options: { timeout: number }) => Promise<T>): Promise<T> {
  if (leftMs <= 0) throw new DeadlinePassed('no time is left for the gateway')
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DeadlinePassed('the gateway did not answer in time')), leftMs)
  })
  try {
    return await Promise.race([work({ timeout: Math.max(1, Math.min(leftMs, longestCallMs)) }), late])
  } finally {
    clearTimeout(timer)
  }
}
