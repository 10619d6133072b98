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
      // It is loaded, being the one that calls.
      const { HttpClient } = (await import('stripe')).default
      const deadline = startDeadline(timeoutMs, () => HttpClient.makeTimeoutError())
      const work = handle({ method, path, headers: readHeaders(headers), body })
      const outcome = await Promise.race([work, deadline.passed])
      if (outcome.kind === 'timeout') return deadline.passed
      if (outcome.kind === 'reset') {
        deadline.end()
        throw connectionReset()
      }
      return responseOf(outcome, deadline, (error) => HttpClient.makeResponseBodyError(error))
    }
  }
}

type Deadline = { passed: Promise<never>; end: () => void }

function startDeadline(ms: number, makeError: () => Error): Deadline {
  const { promise: passed, reject } = Promise.withResolvers<never>()
  // Whoever waits for nothing else hears of it.
  passed.catch(() => undefined)
  const timer = setTimeout(() => reject(makeError()), ms)
  return { passed, end: () => clearTimeout(timer) }
}

function responseOf(
  { kind, status, headers, body }: Extract<ApiOutcome, { body: string }>,
  deadline: Deadline,
  bodyError: (error: unknown) => Error
): Stripe.HttpClientResponse {
  if (kind !== 'stalled') deadline.end()
  const read = async (): Promise<string> => {
    if (kind === 'answer') return body
    throw bodyError(kind === 'truncated' ? connectionReset() : await deadline.passed.catch((error: unknown) => error))
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
