import type Stripe from 'stripe'
import type { ApiRequest } from './api.ts'
import type { ApiOutcome } from './outcome.ts'

type Handle = (request: ApiRequest) => Promise<ApiOutcome>

/**
 * The sandbox in process, for stripe-node's `httpClient`, with what a connection can do to a request: a cut one fails
 * with ECONNRESET, as a socket's would, and the time a request may take covers the reading of its body too.
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
  // Whoever waits for nothing else hears of it.
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
    // `lastResponse.headers` is to be the plain object that its type promises and Node's client gives.
    getRawResponse: () => ({ statusCode: status, headers }),
    toJSON: async () => JSON.parse(await read()) as unknown,
    toStream() {
      throw new Error('The sandbox has nothing that is read as a stream.')
    },
    dispose: deadline.end
  }
}

/** It is loaded, being the one that calls; asking for it at each call would cost more than the errors it makes. */
async function stripeErrors(): Promise<typeof Stripe.HttpClient> {
  return (await import('stripe')).default.HttpClient
}

/** Names in lower case, and text alone. */
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
