import { AppError } from '../errors.ts'

/** Sends a request to the service. */
export type Send = (request: Request) => Promise<Response>

/** The part of Headers that the proxy reads. */
export type AnswerHeaders = Pick<Headers, 'get' | 'getSetCookie'>

/** A response with a streamed body, which is cut off at the deadline of the whole request. */
export type UpstreamAnswer = { status: number; headers: AnswerHeaders; body: ReadableStream<Uint8Array> | null }

export type HeaderList = [name: string, value: string][]

type ServiceRequest = {
  /** Creates the request; the signal aborts it. */
  build: (signal: AbortSignal) => Request
  send: Send
  timeoutMs: number
}

/**
 * Sends one request to the service and waits at most `timeoutMs` for the complete response.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE with `details.reason`: `unreachable`, `timeout`, or `malformed` for a response
 *   that is not the API's (a redirect, HTML)
 */
export async function requestService({ build, send, timeoutMs }: ServiceRequest): Promise<UpstreamAnswer> {
  const deadline = startDeadline(timeoutMs)
  try {
    const request = build(deadline.signal)
    const response = await deadline.race(send(request))
    const { status, headers } = response
    const hasBody = mayHaveBody(request.method, status) && response.body !== null
    if (!isApiResponse(status, headers, hasBody)) {
      void response.body?.cancel().catch(() => undefined)
      throw malformed(status)
    }
    if (hasBody) return { status, headers, body: streamBody(response, deadline) }
    deadline.end()
    return { status, headers, body: null }
  } catch (error) {
    deadline.end()
    throw unreachable(error)
  }
}

/** Calls the API in this process. @throws AppError DEPENDENCY_UNAVAILABLE, as requestService */
export async function requestInProcess(
  handle: (request: Request) => Promise<Response>,
  request: Request,
  timeoutMs: number
): Promise<Response> {
  const deadline = startDeadline(timeoutMs)
  try {
    return await deadline.race(handle(request))
  } catch (error) {
    throw unreachable(error)
  } finally {
    deadline.end()
  }
}

type Deadline = { signal: AbortSignal; race<T>(work: Promise<T>): Promise<T>; end(): void }

function startDeadline(timeoutMs: number): Deadline {
  const controller = new AbortController()
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  // Prevents an unhandled rejection when nothing awaits it.
  timedOut.catch(() => undefined)
  const timer = setTimeout(() => {
    const error = unavailable('timeout', `no response within ${timeoutMs} ms`)
    reject(error)
    controller.abort(error)
  }, timeoutMs)
  return {
    signal: controller.signal,
    race: (work) => Promise.race([work, timedOut]),
    end: () => clearTimeout(timer)
  }
}

function mayHaveBody(method: string, status: number): boolean {
  return method !== 'HEAD' && status !== 304
}

/** Whether a response can come from the API: JSON, a 304, or a response to HEAD; never a redirect. */
function isApiResponse(status: number, headers: AnswerHeaders, hasBody: boolean): boolean {
  if (status === 304) return true
  if (status < 200 || (status >= 300 && status < 400) || status === 204) return false
  return !hasBody || /^application\/json\b/i.test(headers.get('content-type') ?? '')
}

/** Streams the body. An interrupted or hanging body also interrupts the client's response, which must not look complete. */
function streamBody({ body }: Response, deadline: Deadline): ReadableStream<Uint8Array> {
  if (body === null) throw new TypeError('the response has no body')
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await deadline.race(reader.read())
        if (!done) return controller.enqueue(value)
        deadline.end()
        controller.close()
      } catch (error) {
        deadline.end()
        controller.error(error)
        // The signal is not enough: fetch ignores it once the request has been garbage-collected.
        void reader.cancel(error).catch(() => undefined)
      }
    },
    cancel(reason) {
      deadline.end()
      return reader.cancel(reason)
    }
  })
}

function malformed(status: number): AppError {
  return unavailable('malformed', `status ${status}`)
}

/** Reports any failure as `unreachable`, except one that is an AppError already. */
function unreachable(error: unknown): AppError {
  return error instanceof AppError ? error : unavailable('unreachable', error)
}

function unavailable(reason: 'unreachable' | 'timeout' | 'malformed', cause: unknown): AppError {
  const message = 'The shop is temporarily unavailable. Try again in a few seconds.'
  return new AppError('DEPENDENCY_UNAVAILABLE', message, { reason }, { headers: { 'Retry-After': '5' }, cause })
}
