import { AppError } from '../errors.ts'

/** Takes a request to the service. `clientAddress` is for a service in the same process, which no socket tells it. */
export type Send = (request: Request, clientAddress: string | undefined) => Promise<Response>

/** An answer of the service, its body still on the way, and cut off at the deadline that the whole exchange has. */
export type UpstreamAnswer = { status: number; headers: Headers; body: AnswerBody | null }

/** Text or bytes of an answer that is here as a whole. */
export type WholeBody = string | Uint8Array<ArrayBuffer>

export type HeaderList = [name: string, value: string][]

/** What goes on to the service. */
export type Sent = { method: string; headers: HeaderList; body: Uint8Array<ArrayBuffer> | null }

/** How requests and answers are made where the service is in the same process, and has ways that are faster than streams. */
export type Inside = {
  request: (url: string, sent: Sent) => Request
  read: (response: Response) => Promise<WholeBody>
  answer: (body: WholeBody | null, status: number, headers: HeaderList) => Response
}

export type AnswerBody = ReadableStream<Uint8Array> | WholeBody

type Asking = {
  /** Makes the request, which the signal cuts off. */
  build: (signal: AbortSignal) => Request
  send: Send
  clientAddress: string | undefined
  timeoutMs: number
  /** Waits for all of the body, as is best for one that never leaves this process. */
  read: Inside['read'] | undefined
}

/**
 * Sends one request on and waits at most `timeoutMs` for all of its answer.
 *
 * @throws DEPENDENCY_UNAVAILABLE with `reason`: `unreachable`, `timeout`, or `malformed` for an answer that no service
 *   of ours gives (a redirect, a page of HTML)
 */
export async function askService({ build, send, clientAddress, timeoutMs, read }: Asking): Promise<UpstreamAnswer> {
  const deadline = startDeadline(timeoutMs)
  try {
    const request = build(deadline.signal)
    const response = await deadline.race(send(request, clientAddress))
    const mayHaveBody = request.method !== 'HEAD' && response.status !== 304
    // Asking one that is in memory for its stream would make one.
    const hasBody = mayHaveBody && (read !== undefined || response.body !== null)
    if (!isOurs(response, hasBody)) {
      void response.body?.cancel().catch(() => undefined)
      throw unavailable('malformed', `status ${response.status}`)
    }
    const { status, headers } = response
    if (hasBody && read === undefined) return { status, headers, body: passOn(response, deadline) }
    const body = hasBody && read !== undefined ? await deadline.race(read(response)) : null
    deadline.end()
    return { status, headers, body }
  } catch (error) {
    deadline.end()
    throw error instanceof AppError ? error : unavailable('unreachable', error)
  }
}

type Deadline = { signal: AbortSignal; race<T>(work: Promise<T>): Promise<T>; end(): void }

function startDeadline(timeoutMs: number): Deadline {
  const cut = new AbortController()
  const { promise: late, reject } = Promise.withResolvers<never>()
  // Nobody need be waiting when it comes.
  late.catch(() => undefined)
  const timer = setTimeout(() => {
    const error = unavailable('timeout', `no answer within ${timeoutMs} ms`)
    reject(error)
    cut.abort(error)
  }, timeoutMs)
  return {
    signal: cut.signal,
    race: (work) => Promise.race([work, late]),
    end: () => clearTimeout(timer)
  }
}

/** An answer of the API is JSON, a 304 or an answer to HEAD, and redirects nowhere. */
function isOurs({ status, headers }: Response, hasBody: boolean): boolean {
  if (status === 304) return true
  if (status < 200 || (status >= 300 && status < 400) || status === 204) return false
  return !hasBody || /^application\/json\b/i.test(headers.get('content-type') ?? '')
}

/** The body as it comes. What breaks off or hangs breaks the client's answer off as well, as it must not look whole. */
function passOn({ body }: Response, deadline: Deadline): ReadableStream<Uint8Array> {
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

function unavailable(reason: 'unreachable' | 'timeout' | 'malformed', cause: unknown): AppError {
  const message = 'The shop cannot be reached at the moment. Please try again in a little while.'
  return new AppError('DEPENDENCY_UNAVAILABLE', message, { reason }, { headers: { 'Retry-After': '5' }, cause })
}
