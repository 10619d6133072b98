/** The error object of an answer, as docs.stripe.com/api/errors has it. */
export type ErrorBody = {
  type: 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error'
  message: string
  code?: string
  param?: string
  [field: string]: unknown
}

type Extras = { code?: string; param?: string; [field: string]: unknown }

/**
 * A request that Stripe would refuse. What the request had done so far is rolled back, so a decline, which leaves a
 * failed charge behind, is an answer and never thrown.
 *
 * `began` says whether execution had begun: only then is the refusal kept under the idempotency key
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

/** A parameter that is malformed, unknown or missing: refused before anything runs. */
export function badParameter(message: string, extras: Extras): StripeRefusal {
  return new StripeRefusal(400, { type: 'invalid_request_error', message, ...extras }, false)
}

/** A well-formed request that the objects' state does not allow. */
export function badState(message: string, extras: Extras = {}): StripeRefusal {
  return new StripeRefusal(400, { type: 'invalid_request_error', message, ...extras }, true)
}

/** An id in the path (404) or in a parameter (400) that names nothing. */
export function noSuch(what: string, id: string, param: string, status: 400 | 404 = 400): StripeRefusal {
  const message = `No such ${what}: '${id.slice(0, 80)}'`
  return new StripeRefusal(status, { type: 'invalid_request_error', code: 'resource_missing', message, param }, true)
}

export function withDocs(body: ErrorBody): ErrorBody {
  if (!body.code) return body
  return { ...body, doc_url: `https://stripe.com/docs/error-codes/${body.code.replaceAll('_', '-')}` }
}
