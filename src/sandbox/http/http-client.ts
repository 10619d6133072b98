import type Stripe from 'stripe'
import type { ApiRequest } from './api.ts'
import type { ApiOutcome } from './errors.ts'

type Handle = (request: ApiRequest) => Promise<ApiOutcome>

/**
 * An `httpClient` for stripe-node that calls the sandbox in process. Connection faults look like a socket's: a reset
 * fails with ECONNRESET, and the timeout covers reading the body.
 */
export function httpClientOver(handle: Handle): Stripe.HttpClient {
  return {
    getClientName: () => 'sandbox',
    async makeRequest(_host, _port, path, method, headers, body, _protocol, timeoutMs) {
      const deadline = startDeadline(timeoutMs)
      const work = handle({ method, path, headers: readHeaders(headers), body })
      const outcome = await Promise.race([work, deadline.passed])
      if (outcome.kind === 'timeout') return deadline.passed
      if (outcome.kind === 'reset') {
        deadline.end()
        throw connectionReset()
      }
      return responseOf(outcome, deadline)
    }
  }
}

type Deadline = { passed: Promise<never>; end: () => void }

function startDeadline(ms: number): Deadline {
  const { promise: passed, reject } = Promise.withResolvers<never>()
  // Prevents an unhandled rejection; those who await `passed` still get it.
  passed.catch(() => undefined)
  const fail = async (): Promise<void> => reject((await stripeErrors()).makeTimeoutError())
  const timer = setTimeout(() => void fail(), ms)
  return { passed, end: () => clearTimeout(timer) }
}

function responseOf(
  { kind, status, headers, body }: Extract<ApiOutcome, { body: string }>,
  deadline: Deadline
): Stripe.HttpClientResponse {
  if (kind !== 'stalled') deadline.end()
  const read = async (): Promise<string> => {
    if (kind === 'answer') return body
    const cause = kind === 'truncated' ? connectionReset() : await deadline.passed.catch((error: unknown) => error)
    throw (await stripeErrors()).makeResponseBodyError(cause)
  }
  return {
    getStatusCode: () => status,
    getHeaders: () => headers,
    // stripe-node exposes these as `lastResponse.headers`, which must be a plain object, as with Node's client.
    getRawResponse: () => ({ statusCode: status, headers }),
    toJSON: async () => {
      const value: unknown = JSON.parse(await read())
      return value
    },
    toStream() {
      throw new Error('The sandbox does not support streaming answers.')
    },
    dispose: deadline.end
  }
}

/** Imported on error only: stripe-node is loaded already, because it is the caller. */
async function stripeErrors(): Promise<typeof Stripe.HttpClient> {
  return (await import('stripe')).default.HttpClient
}

/** The headers with names in lower case and values as strings. */
function readHeaders(sent: Parameters<Stripe.HttpClient['makeRequest']>[4]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(sent)) {
    if (value !== undefined && value !== null) headers[name.toLowerCase()] = String(value)
  }
  return headers
}

function connectionReset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
}
