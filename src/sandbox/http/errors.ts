/** The error object of an answer (docs.stripe.com/api/errors). */
export type ErrorBody = {
  type: 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error'
  message: string
  code?: string
  param?: string
  [field: string]: unknown
}

type Extras = { code?: string; param?: string; [field: string]: unknown }

/**
 * A request that Stripe refuses. Throwing it rolls back the request's changes. A declined payment is returned instead
 * (see Declined), because its failed charge must be committed.
 *
 * `began` is true when execution had begun. Only then is the refusal stored under the idempotency key
 * (docs.stripe.com/api/idempotent_requests).
 */
export class StripeRefusal extends Error {
  readonly status: number
  readonly body: ErrorBody
  readonly began: boolean
  override readonly name = 'StripeRefusal'

  constructor(status: number, body: ErrorBody, began: boolean) {
    super(body.message)
    this.status = status
    this.body = withDocs(body)
    this.began = began
  }
}

/** The refusal of a malformed, unknown or missing parameter, before execution. */
export function badParameter(message: string, extras: Extras): StripeRefusal {
  return new StripeRefusal(400, { type: 'invalid_request_error', message, ...extras }, false)
}

/** The refusal of a request without a required parameter. */
export function missingParameter(path: string): StripeRefusal {
  return badParameter(`Missing required param: ${path}.`, { code: 'parameter_missing', param: path })
}

/** The refusal of a valid request that the state of an object does not allow. */
export function badState(message: string, extras: Extras = {}): StripeRefusal {
  return new StripeRefusal(400, { type: 'invalid_request_error', message, ...extras }, true)
}

/** The refusal of an unknown id, with status 404 for an id in the path and 400 for one in a parameter. */
export function noSuch(what: string, id: string, param: string, status: 400 | 404 = 400): StripeRefusal {
  const message = `No such ${what}: '${id.slice(0, 80)}'`
  return new StripeRefusal(status, { type: 'invalid_request_error', code: 'resource_missing', message, param }, true)
}

/** The error with the `doc_url` of its code, as Stripe adds it. */
export function withDocs(body: ErrorBody): ErrorBody {
  if (!body.code) return body
  return { ...body, doc_url: `https://stripe.com/docs/error-codes/${body.code.replaceAll('_', '-')}` }
}

/**
 * What happens on the client's connection: an answer, or a fault. `truncated` sends part of the body and closes;
 * `stalled` sends part of the body and then nothing.
 */
export type ApiOutcome =
  | { kind: 'answer' | 'truncated' | 'stalled'; status: number; headers: Record<string, string>; body: string }
  | { kind: 'reset' }
  | { kind: 'timeout' }
