import type Stripe from 'stripe'
import type { ApiRequest } from './api.ts'
import type { ApiOutcome } from './outcome.ts'

type Handle = (request: ApiRequest) => Promise<ApiOutcome>

/**
 * The sandbox as a `fetch` in process: obeys the caller's abort signal, while it waits for an answer and while it reads
 * a body. A cut connection rejects with ECONNRESET, as a socket's would.
 */
export function fetchOver(handle: Handle): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    // A Request only follows its caller's signal for as long as it is not collected itself.
    const signal = init?.signal ?? request.signal
    signal.throwIfAborted()
    const { pathname, search } = new URL(request.url)
    const headers = Object.fromEntries(request.headers)
    const work = request
      .text()
      .then((body) => handle({ method: request.method, path: pathname + search, headers, body }))
    const outcome = await Promise.race([work, aborted(signal)])
    if (outcome.kind === 'reset') throw connectionReset()
    if (outcome.kind === 'timeout') return aborted(signal)
    if (outcome.kind === 'answer')
      return new Response(outcome.body, { status: outcome.status, headers: outcome.headers })
    return new Response(cutBody(outcome.body, outcome.kind, signal), {
      status: outcome.status,
      headers: outcome.headers
    })
  }
}

/** A client for stripe-node's `httpClient`. stripe-node itself, which makes the requests, is loaded at the first of them. */
export function httpClientOver(handle: Handle): Stripe.HttpClient {
  let client: Promise<Stripe.HttpClient> | undefined
  const load = async (): Promise<Stripe.HttpClient> => {
    const { default: StripeNode } = await import('stripe')
    return StripeNode.createFetchHttpClient(fetchOver(handle))
  }
  return {
    getClientName: () => 'sandbox',
    makeRequest: async (...request) => {
      const response = await (await (client ??= load())).makeRequest(...request)
      // `lastResponse.headers` is to be the plain object that its type promises and Node's client gives.
      const raw = { statusCode: response.getStatusCode(), headers: response.getHeaders() }
      response.getRawResponse = () => raw
      return response
    }
  }
}

function cutBody(body: string, kind: 'truncated' | 'stalled', signal: AbortSignal): ReadableStream<Uint8Array> {
  let stop: (() => void) | undefined
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode(body))
      stop = () => controller.error(signal.reason)
      signal.addEventListener('abort', stop, { once: true })
    },
    pull: (controller) => {
      if (kind === 'truncated') controller.error(connectionReset())
    },
    cancel: () => {
      if (stop) signal.removeEventListener('abort', stop)
    }
  })
}

async function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function connectionReset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
}
