import { z } from 'zod'
import type { ErrorCode } from '../../errors.ts'
import { cartProblem } from '../../shop/orders/shapes.ts'
import { balance } from '../../shop/referrals/shapes.ts'
import type { PasswordRule } from '../../shop/accounts/password-rules.ts'

/** An error code in the API description. */
type ErrorDescription = { when: string; details: z.ZodObject; example?: Record<string, unknown> }

const none = z.object({})
const bucket = z.object({ bucket: z.string().meta({ description: 'The limit that was exceeded.' }) })

const passwordRules = [
  'min_length',
  'max_length',
  'well_formed',
  'common',
  'personal'
] as const satisfies readonly PasswordRule[]

const checkoutFailed = z.object({
  safeReason: z.string().meta({
    description:
      'Safe to act on: payment_fraud_blocked, payment_card_declined_generic, payment_insufficient_funds, payment_card_expired, payment_card_incorrect, payment_authentication_required, payment_gateway_unavailable or payment_failed.'
  }),
  phase: z.string(),
  step: z.enum(['create_intent', 'confirm_intent']),
  gatewayError: z.object({
    type: z.string(),
    code: z.string().optional(),
    decline_code: z.string().nullable(),
    param: z.string(),
    message: z.string()
  }),
  gatewayRequestId: z.string()
})

const declined = {
  safeReason: 'payment_card_declined_generic',
  phase: 'payment',
  step: 'confirm_intent',
  gatewayError: {
    type: 'card_error',
    code: 'card_declined',
    decline_code: 'lost_card',
    param: 'payment_method',
    message: 'Your card has been declined.'
  },
  gatewayRequestId: 'req_8RjQ2n'
}

/** The codes of HTTP responses, with their occasion and details. */
export const errors = {
  AFFILIATE_EXISTS: { when: 'The user already has an affiliate account.', details: none },
  AFFILIATE_NOT_ACTIVE: { when: 'The affiliate account is not active.', details: none },
  AFFILIATE_NOT_FOUND: { when: 'The user has no affiliate account, or the affiliate module is off.', details: none },
  AFFILIATE_TERMS_REQUIRED: {
    when: 'The user must accept the current terms first.',
    details: z.object({ requiredVersion: z.string(), acceptedVersion: z.string().nullable() }),
    example: { requiredVersion: '2026-01-31', acceptedVersion: null }
  },
  AUTH_ACCOUNT_DEACTIVATED: { when: 'The account is deactivated.', details: none },
  AUTH_EMAIL_NOT_VERIFIED: { when: 'The email must be verified first.', details: none },
  AUTH_INVALID_CREDENTIALS: {
    when: 'The user is unknown or the password is wrong; the response does not reveal which.',
    details: none
  },
  AUTH_RATE_LIMITED: { when: 'Too many attempts.', details: bucket, example: { bucket: 'login_account' } },
  AUTH_REGISTRATION_DISABLED: { when: 'Registration is disabled.', details: none },
  AUTH_REGISTRATION_FAILED: {
    when: 'The account cannot be created; the response does not reveal the reason.',
    details: none
  },
  CHECKOUT_DISABLED: { when: 'Nothing can be bought at the moment.', details: none },
  CHECKOUT_FAILED: {
    when: '402: the payment was declined. 502: the gateway failed and charged nothing. 504: the outcome is not known yet.',
    details: checkoutFailed,
    example: declined
  },
  CHECKOUT_GATEWAY_NOT_CONFIGURED: { when: "The gateway's credentials are missing.", details: none },
  CHECKOUT_NOT_IMPLEMENTED: { when: 'The configured gateway does not offer this strategy.', details: none },
  CONFIG_INVALID_AFFILIATE_TERMS_VERSION: { when: "The shop's terms version is not valid.", details: none },
  CONFLICT: {
    when: 'The state of the order or account does not allow it. `balance`: what deleting this affiliate would leave open.',
    details: z.object({ balance: balance.optional() }),
    example: {}
  },
  CSRF_FAILED: {
    when: 'The nonce is missing, invalid or expired, or another site sent the request.',
    details: z.object({ reason: z.enum(['missing_nonce', 'invalid_nonce', 'cross_site']) }),
    example: { reason: 'invalid_nonce' }
  },
  DEPENDENCY_UNAVAILABLE: {
    when: 'A dependency does not respond, or there are too many requests; try again after Retry-After.',
    details: z.object({
      reason: z.string().optional().meta({ description: 'From the proxy: unreachable, timeout or malformed.' })
    })
  },
  IDEMPOTENCY_KEY_REUSE_CONFLICT: {
    when: 'The key was used with another request, or its request is still running.',
    details: z.object({ reason: z.enum(['payload_mismatch', 'in_progress']) }),
    example: { reason: 'payload_mismatch' }
  },
  INTERNAL_SERVER_ERROR: { when: 'An error of the service; its log has the cause under request_id.', details: none },
  METHOD_NOT_ALLOWED: {
    when: 'The endpoint does not support this method; Allow lists the supported ones.',
    details: none
  },
  NOT_AUTHENTICATED: { when: 'There is no valid session.', details: none },
  NOT_FOUND: { when: 'There is nothing at this address.', details: none },
  PASSWORD_POLICY_VIOLATION: {
    when: 'The password is too weak.',
    details: z.object({
      reason: z.string().meta({ const: 'password_policy' }),
      rules: z.array(z.enum(passwordRules)).meta({ description: 'The rules that the password breaks.' })
    }),
    example: { reason: 'password_policy', rules: ['common'] }
  },
  PAYLOAD_TOO_LARGE: {
    when: 'The body is larger than the endpoint allows.',
    details: z.object({ limitBytes: z.int() }),
    example: { limitBytes: 65_536 }
  },
  RATE_LIMITED: { when: 'Too many attempts.', details: bucket, example: { bucket: 'checkout_decline' } },
  TOKEN_INVALID: { when: 'The token is unknown, used or expired.', details: none },
  UNSUPPORTED_MEDIA_TYPE: {
    when: 'The body is not sent as application/json, or has a Content-Encoding.',
    details: none
  },
  UPSTREAM_UNAVAILABLE: { when: 'An error of the service while it read referrals.', details: none },
  VALIDATION_FAILED: {
    when: 'Fields are missing or invalid.',
    details: z.object({
      fieldErrors: z
        .record(z.string(), z.array(z.string()))
        .meta({ description: 'Messages by dotted path (items.0.quantity); _body means the whole body.' }),
      problems: z
        .array(cartProblem)
        .optional()
        .meta({ description: 'From checkout: the reasons why the cart cannot be bought, for programs.' })
    }),
    example: { fieldErrors: { email: ['Must be an email address.'] } }
  },
  WEBHOOK_SIGNATURE_INVALID: { when: 'The signature is missing, wrong or too old.', details: none }
} satisfies Partial<Record<ErrorCode, ErrorDescription>>

export type PublicCode = keyof typeof errors

/** Whether an error code is one of HTTP responses. */
export function isPublicCode(code: ErrorCode): code is PublicCode {
  return Object.hasOwn(errors, code)
}

/** The description of an error code. */
export function describeCode(code: PublicCode): ErrorDescription {
  return errors[code]
}
