import type { ErrorDetails } from './api-types.ts'

/** An error code of the service, or NO_ANSWER for a request that got no valid response from it. */
export type ErrorCode = keyof ErrorDetails | 'NO_ANSWER'

/** The details of an error by its code. */
export type DetailsOf<Code extends ErrorCode> = Code extends keyof ErrorDetails
  ? ErrorDetails[Code]
  : Record<string, never>

/** What a ShopError knows besides its code and message. */
export type ErrorFacts = {
  status?: number
  details?: unknown
  requestId?: string | null
  retryAfter?: string | null
  cause?: unknown
}

/** An error response of the service. `isShopError` narrows an unknown error to it. */
export class ShopError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'ShopError'
  readonly code: Code
  /** The HTTP status; 0 for NO_ANSWER. */
  readonly status: number
  readonly details: DetailsOf<Code>
  /** The request's id in the service's log. */
  readonly requestId: string | null
  /** The value of Retry-After: how long to wait before a retry. */
  readonly retryAfterSeconds: number | null

  constructor(code: Code, message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.code = code
    this.status = facts.status ?? 0
    this.details = (facts.details ?? {}) as DetailsOf<Code>
    this.requestId = facts.requestId ?? null
    this.retryAfterSeconds = facts.retryAfter ? Number(facts.retryAfter) : null
  }

  /** Whether this error has the given code. */
  is<Wanted extends ErrorCode>(code: Wanted): this is ShopError<Wanted> {
    const own: ErrorCode = this.code
    return own === code
  }
}

/** A ShopError of any code. A comparison of `code` narrows its `details`. */
export type AnyShopError = { [Code in ErrorCode]: ShopError<Code> }[ErrorCode]

/**
 * Whether a caught value is an error of the shop, and one with the given code if there is one. Also recognises the errors
 * of another copy of this module, which `instanceof` does not.
 */
export function isShopError(error: unknown): error is AnyShopError
export function isShopError<Code extends ErrorCode>(error: unknown, code: Code): error is ShopError<Code>
export function isShopError(error: unknown, code?: ErrorCode): boolean {
  if (!(error instanceof Error) || error.name !== 'ShopError' || !('code' in error)) return false
  return code === undefined || error.code === code
}

/** Whether it is unknown if the service has done the work: it gave no answer, or the first request still runs. */
export function isLost(error: unknown): boolean {
  return (
    isShopError(error, 'NO_ANSWER') ||
    (isShopError(error, 'DEPENDENCY_UNAVAILABLE') && error.details.reason !== undefined) ||
    (isShopError(error, 'IDEMPOTENCY_KEY_REUSE_CONFLICT') && error.details.reason === 'in_progress')
  )
}
