import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { AppError } from '../../errors.ts'
import type { Eventually } from '../eventually.ts'
import { nodeRequest } from './node-request.ts'
import { bodyInvalid, parseStrictJson } from './strict-json.ts'

const empty = Buffer.alloc(0)

/**
 * Reads the whole body of a request. It stops reading at the limit; the listener discards the rest so that the error
 * still reaches the client.
 *
 * @throws AppError PAYLOAD_TOO_LARGE above `limitBytes`, VALIDATION_FAILED for a body that ends early
 */
export function readBody(request: Request, limitBytes: number): Eventually<Buffer> {
  const node = nodeRequest(request)
  // Node's own stream: wrapping it in a web stream costs more than the rest of the request.
  if (node !== undefined) return readNodeBody(node, limitBytes)
  return request.body === null ? empty : readWebBody(request, request.body, limitBytes)
}

/**
 * Requires the content type application/json, in UTF-8, for every body that is not empty.
 *
 * @throws AppError UNSUPPORTED_MEDIA_TYPE
 */
export function requireJson(bytes: Uint8Array, contentType: string | null | undefined): void {
  if (bytes.length > 0 && !jsonType.test(contentType ?? '')) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as application/json in UTF-8.')
  }
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
  if (!isObject(value)) throw bodyInvalid('Must be a JSON object.')
  return value
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function tooLarge(limitBytes: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `The body may have at most ${limitBytes} bytes.`, { limitBytes })
}

function readNodeBody(req: IncomingMessage, limitBytes: number): Eventually<Buffer> {
  const declared = req.headers['content-length']
  if (declared === undefined && req.headers['transfer-encoding'] === undefined) return empty
  if (Number(declared) > limitBytes) throw tooLarge(limitBytes)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= limitBytes) chunks.push(chunk)
      else stop(() => reject(tooLarge(limitBytes)))
    }
    const onEnd = (): void => {
      stop(() => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size)))
    }
    const onBroken = (): void => stop(() => reject(bodyInvalid('The request body ended early.')))
    const stop = (settle: () => void): void => {
      req.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
      settle()
    }
    if (req.destroyed || req.readableEnded) return onBroken()
    req.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken)
  })
}

async function readWebBody(
  { headers }: Request,
  body: ReadableStream<Uint8Array>,
  limitBytes: number
): Promise<Buffer> {
  if (Number(headers.get('content-length')) > limitBytes) throw tooLarge(limitBytes)
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks, size)
    size += value.byteLength
    if (size > limitBytes) {
      await reader.cancel()
      throw tooLarge(limitBytes)
    }
    chunks.push(value)
  }
}
