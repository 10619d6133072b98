import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { NodeRequest } from 'srvx/node'

/**
 * A request as the listener makes them, of what Node would have read, for a handler in this process: a Request of the
 * platform's own kind costs more than most of what becomes of it.
 */
export function requestInMemory(sent: {
  method: string
  target: string
  headers: readonly (readonly [name: string, value: string])[]
  body: Uint8Array | null
  /** Who it is for, as a socket would tell it. */
  remoteAddress: string | undefined
}): Request {
  const { method, target, body, remoteAddress } = sent
  const headers = body === null ? sent.headers : [...sent.headers, ['content-length', String(body.length)] as const]
  const read = {
    method,
    url: target,
    headers: Object.fromEntries(headers),
    rawHeaders: headers.flat(),
    // What names no host is made an address of by the socket's own end.
    socket: { remoteAddress, localAddress: 'localhost', localPort: 80 }
  }
  const req = body === null ? read : Object.assign(Readable.from([body], { objectMode: false }), read)
  return new NodeRequest({ req: req as unknown as IncomingMessage })
}
