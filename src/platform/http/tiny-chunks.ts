import type { IncomingMessage } from 'node:http'
import { stopParsing } from './stop-parsing.ts'

/** A body may have this many chunks of any size, and one more for each `bytesPerChunk`. */
const freeChunks = 256
const bytesPerChunk = 256

/** Emitted by a request when its body comes in too many tiny chunks. No more of it arrives. */
export const tinyChunks = Symbol('tiny chunks')
const refused = new WeakSet<IncomingMessage>()

/** Whether the body of a request came in too many tiny chunks. */
export function hasTinyChunks(req: IncomingMessage): boolean {
  return refused.has(req)
}

/**
 * Stops reading a chunked body (RFC 9112 7.1) whose chunks are tiny: each costs as much time as one of a kilobyte. It
 * counts them where Node's parser delivers them, because a listener for `data` sees the first one after the whole read.
 */
export function limitChunks(req: IncomingMessage): void {
  if (req.headers['transfer-encoding'] === undefined) return
  const push = req.push.bind(req)
  let chunks = 0
  let bytes = 0
  req.push = (chunk: unknown, encoding) => {
    if (chunk instanceof Uint8Array) {
      chunks += 1
      bytes += chunk.length
      if (chunks > freeChunks + bytes / bytesPerChunk) return refuse(req)
    }
    return push(chunk, encoding)
  }
  // When a request was answered before its body was read, Node drops the rest in the parser, without calling push.
  Object.assign(req, { _dump: () => undefined })
}

function refuse(req: IncomingMessage): boolean {
  if (!refused.has(req)) {
    refused.add(req)
    stopParsing(req.socket)
    req.emit(tinyChunks)
  }
  return false
}
