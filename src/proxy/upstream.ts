import { AppError } from '../errors.ts'

/** Takes a request to the service. */
export type Send = (request: Request) => Promise<Response>

/** What is looked at of an answer's headers. */
export type AnswerHeaders = Pick<Headers, 'get' | 'getSetCookie'>

/** An answer of the service, its body still on the way, and cut off at the deadline that the whole exchange has. */
export type UpstreamAnswer = { status: number; headers: AnswerHeaders; body: ReadableStream<Uint8Array> | null }

/** An answer that is here as a whole. */
export type WholeAnswer = { status: number; headers: AnswerHeaders; body: WholeBody | null }

/** Text or bytes. */
export type WholeBody = string | Uint8Array<ArrayBuffer>

export type HeaderList = [name: string, value: string][]

/** What goes on to the service. */
export type ForwardedRequest = { method: string; headers: HeaderList; body: Uint8Array<ArrayBuffer> | null }

/** A service in the same process, which is asked and answers without a network, and so without streams between. */
export type InProcessService = {
  /** `clientAddress` is whom no socket tells it of. */
  handle: (url: string, sent: ForwardedRequest, clientAddress: string | undefined) => WholeAnswer | Promise<WholeAnswer>
  respond: (body: WholeBody | null, status: number, headers: HeaderList) => Response
}

type ServiceRequest = {
  /** Makes the request, which the signal cuts off. */
  build: (signal: AbortSignal) => Request
  send: Send
  timeoutMs: number
}

/**
 * Sends one request on and waits at most `timeoutMs` for all of its answer.
 *
 * @throws DEPENDENCY_UNAVAILABLE with `reason`: `unreachable`, `timeout`, or `malformed` for an answer that no service
 *   of ours gives (a redirect, a page of HTML)
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

/** The same of a service in this process. What it answers at once needs no deadline. */
export async function requestInProcess(
  { handle }: InProcessService,
  {
    url,
    sent,
    clientAddress,
    timeoutMs
  }: { url: string; sent: ForwardedRequest; clientAddress: string | undefined; timeoutMs: number }
): Promise<WholeAnswer> {
  try {
    const answer = handle(url, sent, clientAddress)
    const { status, headers, body } = answer instanceof Promise ? await withTimeout(answer, timeoutMs) : answer
    const hasBody = mayHaveBody(sent.method, status)
    if (!isApiResponse(status, headers, hasBody)) throw malformed(status)
    return { status, headers, body: hasBody ? body : null }
  } catch (error) {
    throw unreachable(error)
  }
}

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const deadline = startDeadline(timeoutMs)
  try {
    return await deadline.race(work)
  } finally {
    deadline.end()
  }
}

type Deadline = { signal: AbortSignal; race<T>(work: Promise<T>): Promise<T>; end(): void }

function startDeadline(timeoutMs: number): Deadline {
  const controller = new AbortController()
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  // Nobody need be waiting when it comes.
  timedOut.catch(() => undefined)
  const timer = setTimeout(() => {
    const error = unavailable('timeout', `no answer within ${timeoutMs} ms`)
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

/** An answer of the API is JSON, a 304 or an answer to HEAD, and redirects nowhere. */
function isApiResponse(status: number, headers: AnswerHeaders, hasBody: boolean): boolean {
  if (status === 304) return true
  if (status < 200 || (status >= 300 && status < 400) || status === 204) return false
  return !hasBody || /^application\/json\b/i.test(headers.get('content-type') ?? '')
}

/** The body as it comes. What breaks off or hangs breaks the client's answer off as well, as it must not look whole. */
function streamBody({ body }: Response, deadline: Deadline): ReadableStream<Uint8Array> {
  if (body === null) throw new TypeError('an answer with a body has one')
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
        // The signal alone would not do: fetch follows it only while the request has not been collected.
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

/** Whatever keeps an answer from coming, but for what has been told already. */
function unreachable(error: unknown): AppError {
  return error instanceof AppError ? error : unavailable('unreachable', error)
}

function unavailable(reason: 'unreachable' | 'timeout' | 'malformed', cause: unknown): AppError {
  const message = 'The shop cannot be reached at the moment. Please try again in a little while.'
  return new AppError('DEPENDENCY_UNAVAILABLE', message, { reason }, { headers: { 'Retry-After': '5' }, cause })
}
