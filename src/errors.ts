/** The HTTP status, exit code and log level of each error code. No other place defines them. */
const table = {
  AFFILIATE_EXISTS: { status: 409, exit: 1, level: 'info' },
  AFFILIATE_NOT_ACTIVE: { status: 403, exit: 1, level: 'info' },
  AFFILIATE_NOT_FOUND: { status: 404, exit: 1, level: 'info' },
  AFFILIATE_TERMS_REQUIRED: { status: 403, exit: 1, level: 'info' },
  AUTH_ACCOUNT_DEACTIVATED: { status: 403, exit: 1, level: 'info' },
  AUTH_EMAIL_NOT_VERIFIED: { status: 403, exit: 1, level: 'info' },
  AUTH_INVALID_CREDENTIALS: { status: 401, exit: 1, level: 'info' },
  AUTH_RATE_LIMITED: { status: 429, exit: 1, level: 'warn' },
  AUTH_REGISTRATION_DISABLED: { status: 403, exit: 1, level: 'info' },
  AUTH_REGISTRATION_FAILED: { status: 400, exit: 1, level: 'info' },
  CHECKOUT_DISABLED: { status: 403, exit: 1, level: 'info' },
  CHECKOUT_FAILED: { status: 402, exit: 1, level: 'warn' },
  CHECKOUT_GATEWAY_NOT_CONFIGURED: { status: 503, exit: 69, level: 'error' },
  CHECKOUT_NOT_IMPLEMENTED: { status: 501, exit: 1, level: 'info' },
  CONFIG_INVALID: { status: 500, exit: 1, level: 'error' },
  CONFIG_INVALID_AFFILIATE_TERMS_VERSION: { status: 500, exit: 1, level: 'error' },
  CONFLICT: { status: 409, exit: 1, level: 'info' },
  CSRF_FAILED: { status: 403, exit: 1, level: 'info' },
  DEPENDENCY_UNAVAILABLE: { status: 503, exit: 69, level: 'error' },
  IDEMPOTENCY_KEY_REUSE_CONFLICT: { status: 409, exit: 1, level: 'info' },
  INTERNAL_SERVER_ERROR: { status: 500, exit: 1, level: 'error' },
  METHOD_NOT_ALLOWED: { status: 405, exit: 1, level: 'info' },
  NOT_AUTHENTICATED: { status: 401, exit: 1, level: 'info' },
  NOT_FOUND: { status: 404, exit: 1, level: 'info' },
  PASSWORD_POLICY_VIOLATION: { status: 400, exit: 1, level: 'info' },
  PAYLOAD_TOO_LARGE: { status: 413, exit: 1, level: 'info' },
  RATE_LIMITED: { status: 429, exit: 1, level: 'warn' },
  TOKEN_INVALID: { status: 400, exit: 1, level: 'info' },
  TRANSITION_REFUSED: { status: 409, exit: 1, level: 'info' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, exit: 1, level: 'info' },
  UPSTREAM_UNAVAILABLE: { status: 500, exit: 1, level: 'error' },
  USAGE: { status: 400, exit: 2, level: 'info' },
  VALIDATION_FAILED: { status: 422, exit: 1, level: 'info' },
  WEBHOOK_SIGNATURE_INVALID: { status: 400, exit: 1, level: 'warn' }
} as const satisfies Record<string, { status: number; exit: number; level: 'info' | 'warn' | 'error' }>

export type ErrorCode = keyof typeof table
/** Every code, in alphabetical order. */
export const errorCodes = Object.keys(table) as ErrorCode[]
export type ErrorDetails = Readonly<Record<string, unknown>>
/** The messages for each field by dotted path (`items.0.quantity`, `_body` for the body as a whole). */
export type FieldErrors = Record<string, string[]>

type Extras = {
  /** Replaces the table's status, for codes that have several (CHECKOUT_FAILED, VALIDATION_FAILED). */
  status?: number
  /** Response headers that belong to this error, such as Retry-After or Allow. */
  headers?: Readonly<Record<string, string>>
  cause?: unknown
}

/**
 * An error for the client or operator. Its message and details leave the service unchanged, so they must not contain a
 * secret, a stack or a rejected value.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails
  readonly headers: Readonly<Record<string, string>>
  readonly status: number
  override readonly name = 'AppError'

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, extras: Extras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.code = code
    this.details = details
    this.headers = extras.headers ?? {}
    this.status = extras.status ?? table[code].status
  }

  get exitCode(): number {
    return table[this.code].exit
  }

  get logLevel(): 'info' | 'warn' | 'error' {
    return table[this.code].level
  }
}

/** VALIDATION_FAILED for at most 20 fields, so that a request cannot determine the size of its answer. */
export function validationFailed(fieldErrors: FieldErrors, message = 'Some fields are missing or invalid.'): AppError {
  return new AppError('VALIDATION_FAILED', message, {
    fieldErrors: Object.fromEntries(Object.entries(fieldErrors).slice(0, 20))
  })
}
