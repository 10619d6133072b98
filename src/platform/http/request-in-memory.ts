import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { NodeRequest } from 'srvx/node'

/**
 * A Request for a handler in this process, built as the listener builds them from Node's parsed input. A standard Request
 * costs more than handling it.
 */
export function requestInMemory(sent: {
  method: string
  target: string
  headers: readonly (readonly [name: string, value: string])[]
  body: Uint8Array | null
  /** The client's address, as a socket would report it. */
  remoteAddress: string | undefined
}): Request {
  const { method, target, body, remoteAddress } = sent
  const headers = body === null ? sent.headers : [...sent.headers, ['content-length', String(body.length)] as const]
  const read = {
    method,
    url: target,
    headers: Object.fromEntries(headers),
    rawHeaders: headers.flat(),
    // srvx builds the URL of a request without a Host header from the socket's local address.
    socket: { remoteAddress, localAddress: 'localhost', localPort: 80 }
  }
  const req = body === null ? read : Object.assign(Readable.from([body], { objectMode: false }), read)
  return new NodeRequest({ req: req as unknown as IncomingMessage })
}
