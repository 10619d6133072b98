import { isUtf8 } from 'node:buffer'
import { isRecord } from '../typed.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../../errors.ts'
import { nodeRequest, nodeResponse } from './client-address.ts'
import { bodyInvalid, parseStrictJson } from './strict-json.ts'
import { hasTinyChunks, tinyChunks } from './connections.ts'
import { Node, Yallist } from 'yallist'

const empty = new Uint8Array()

/**
 * Reads the whole body of a request. It stops reading at the limit; the listener discards the rest so that the error
 * still reaches the client.
 *
 * @throws AppError PAYLOAD_TOO_LARGE above `limitBytes`, VALIDATION_FAILED for a body that ends early or comes in too many
 *   pieces, DEPENDENCY_UNAVAILABLE while the bodies of all requests take too much memory
 */
export async function readBody(request: Request, limitBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const node = nodeRequest(request)
  // Node's own stream: wrapping it in a web stream costs more than the rest of the request.
  if (node !== undefined) return readNodeBody(node, nodeResponse(request), limitBytes)
  return request.body === null ? empty : readWebBody(request, request.body, limitBytes)
}

/**
 * Requires the content type application/json, in UTF-8 and not compressed, for every body that is not empty.
 *
 * @throws AppError UNSUPPORTED_MEDIA_TYPE. For a Content-Encoding, Accept-Encoding says which one is read (RFC 9110 12.5.3).
 */
export function requireJson(bytes: Uint8Array, headers: Headers): void {
  if (bytes.length === 0) return
  if (!/^(?:|identity)$/i.test(headers.get('content-encoding') ?? '')) {
    const message = 'The body must be sent without Content-Encoding.'
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', message, {}, { headers: { 'Accept-Encoding': 'identity' } })
  }
  if (!jsonType.test(headers.get('content-type') ?? ''))
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as application/json in UTF-8.')
}

// A form on another site can send text/plain without a CORS preflight, so only application/json counts as JSON.
const jsonType = /^[ \t]*application\/json[ \t]*(?:;[ \t]*(?:charset[ \t]*=[ \t]*"?utf-?8"?[ \t]*)?)*$/i

/**
 * Parses a JSON body to an object. An empty body is an empty object.
 *
 * @throws AppError VALIDATION_FAILED for a body that is not UTF-8, not JSON, not an object, or that parseStrictJson
 *   rejects
 */
export function parseJsonBody(bytes: Uint8Array): Record<string, unknown> {
  if (bytes.length === 0) return {}
  if (!isUtf8(bytes)) throw bodyInvalid('Must be UTF-8 text.')
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  const value = parseStrictJson(text.startsWith('\uFEFF') ? text.slice(1) : text)
  if (!isRecord(value)) throw bodyInvalid('Must be a JSON object.')
  return value
}

function tooLarge(limitBytes: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `The body may have at most ${limitBytes} bytes.`, { limitBytes })
}

/** @param res undefined for a request in memory, whose body counts already for the request that brought it */
function readNodeBody(
  req: IncomingMessage,
  res: ServerResponse | undefined,
  limitBytes: number
): Promise<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer> {
  const declared = req.headers['content-length']
  if (declared === undefined && req.headers['transfer-encoding'] === undefined) return empty
  if (Number(declared) > limitBytes) throw tooLarge(limitBytes)
  if (/^100-continue$/i.test(req.headers.expect ?? '')) res?.writeContinue()
  return new Promise((resolve, reject) => {
    const pieces = new Pieces()
    const onData = (piece: Uint8Array<ArrayBuffer>): void => {
      if (pieces.size + piece.length > limitBytes) return stop(() => reject(tooLarge(limitBytes)))
      if (pieces.count === maxPieces) {
        req.socket.pause()
        return stop(() => reject(tooManyPieces()))
      }
      pieces.add(piece)
      inFlight?.grow(piece.length)
    }
    const onEnd = (): void => {
      inFlight?.complete()
      stop(() => resolve(pieces.whole()))
    }
    const onTinyChunks = (): void => stop(() => reject(tooManyPieces()))
    const onBroken = (): void => stop(() => reject(bodyInvalid('The request body ended early.')))
    const stop = (settle: () => void): void => {
      req
        .off('data', onData)
        .off('end', onEnd)
        .off('error', onBroken)
        .off('close', onBroken)
        .off(tinyChunks, onTinyChunks)
      settle()
    }
    if (req.destroyed || req.readableEnded) return onBroken()
    if (hasTinyChunks(req)) return onTinyChunks()
    const inFlight = res === undefined ? undefined : bodiesInFlight.begin((error) => stop(() => reject(error)))
    if (inFlight !== undefined) res?.once('close', inFlight.release)
    req.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken).on(tinyChunks, onTinyChunks)
  })
}

/** How many reads of the socket a body may take. For chunks, see limitChunks. */
const maxPieces = 1_024

/**
 * The bytes of a body, which come in pieces. A single piece is used as it is. More are copied together, because each array
 * takes 100 bytes itself. This class and the proxy do not use Buffer, which worker runtimes do not have.
 */
class Pieces {
  size = 0
  count = 0
  #bytes: Uint8Array<ArrayBuffer> = empty

  add(piece: Uint8Array<ArrayBuffer>): void {
    const size = this.size + piece.length
    if (this.count === 0) this.#bytes = piece
    else {
      if (size > this.#bytes.length) this.#enlarge(size * 2)
      this.#bytes.set(piece, this.size)
    }
    this.size = size
    this.count += 1
  }

  whole(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.size)
  }

  #enlarge(capacity: number): void {
    const larger = new Uint8Array(capacity)
    larger.set(this.#bytes.subarray(0, this.size))
    this.#bytes = larger
  }
}

/** Closes the connection, because to discard the rest of such a body costs as much time as to read it. */
function tooManyPieces(): AppError {
  const fieldErrors = { body: ['Must come in fewer and larger pieces.'] }
  return new AppError('VALIDATION_FAILED', 'The body comes in too many pieces.', { fieldErrors }, closing)
}

const closing = { headers: { Connection: 'close' } }

async function readWebBody(
  { headers }: Request,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  limitBytes: number
): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(headers.get('content-length')) > limitBytes) throw tooLarge(limitBytes)
  const reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> = body.getReader()
  const pieces = new Pieces()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return pieces.whole()
    if (pieces.size + value.byteLength > limitBytes) {
      await reader.cancel()
      throw tooLarge(limitBytes)
    }
    pieces.add(value)
  }
}

/** One request body, from its first byte until its request ends. */
export type BodyInFlight = {
  /** Counts bytes that have arrived. It may refuse this body or an older one. */
  grow(bytes: number): void
  /** The body is complete, so it cannot be refused any more. Its bytes count until `release`. */
  complete(): void
  /** The request has ended. */
  release(): void
}

/**
 * Limits the memory for the request bodies of a process. Past the limit, it refuses the body that has been arriving for
 * longest: bodies of ordinary clients arrive at once, so clients that send half of a body displace only each other.
 */
export class BodiesInFlight {
  readonly #maxBytes: number
  /** Incomplete bodies and how to refuse each; the one that began first comes first. */
  readonly #arriving = new Yallist<() => void>()
  #bytes = 0
  #refused = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The bytes that all bodies hold now. */
  get bytes(): number {
    return this.#bytes
  }

  /** How many bodies were refused since the process started. */
  get refused(): number {
    return this.#refused
  }

  /**
   * Begins a body.
   *
   * @param refuse stops the body and answers its request with the error (DEPENDENCY_UNAVAILABLE)
   */
  begin(refuse: (error: AppError) => void): BodyInFlight {
    let held = 0
    const release = (): void => {
      this.#bytes -= held
      held = 0
      complete()
    }
    const complete = (): void => {
      if (place.list !== undefined) this.#arriving.removeNode(place)
    }
    const place = new Node(() => {
      release()
      this.#refused += 1
      refuse(tooManyBytes())
    })
    this.#arriving.pushNode(place)
    return {
      grow: (bytes) => {
        held += bytes
        this.#bytes += bytes
        while (this.#bytes > this.#maxBytes && this.#arriving.head !== undefined) this.#arriving.head.value()
      },
      complete,
      release
    }
  }
}

function tooManyBytes(): AppError {
  return new AppError(
    'DEPENDENCY_UNAVAILABLE',
    'The server is receiving too much data at once. Please try again in a moment.',
    {},
    { headers: { 'Retry-After': '2' } }
  )
}

/** The bodies of all requests that this process receives: at most 64 MB. */
export const bodiesInFlight = new BodiesInFlight(64 * 1024 * 1024)
