import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { valuesIn } from './flat-headers.ts'

type OnNode = { runtime?: { node?: { req?: IncomingMessage } } }

/** Node's own request under a Request that the listener made; nothing for one that was built in memory. */
export function nodeRequest(request: Request): IncomingMessage | undefined {
  return (request as OnNode).runtime?.node?.req
}

/**
 * The request target exactly as it came over the wire, query included. URL and h3 resolve `..`, `%2e` and their like
 * before a handler runs, so a rule about paths that reads `request.url` judges a path that nobody sent.
 */
export function rawTarget(request: Request): string {
  return nodeRequest(request)?.url ?? targetOf(request.url)
}

/** The target's part before the query, as sent. */
export function rawPath(target: string): string {
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}

/** The address at the other end of the socket; nothing for a request in memory, or once the peer has gone. */
export function socketAddress(request: Request): string | undefined {
  // Node takes the socket off a request whose body stream was cancelled, whatever its types say.
  const socket: Socket | null | undefined = nodeRequest(request)?.socket
  return socket?.remoteAddress
}

/**
 * Each value of a header in the order sent: Headers joins repeats by a comma, which hides that a header that must be
 * sent once came twice.
 */
export function headerValues(request: Request, name: string): string[] {
  const node = nodeRequest(request)
  if (node !== undefined) return valuesIn(node.rawHeaders, name.toLowerCase())
  const value = request.headers.get(name)
  return value === null ? [] : [value]
}

function targetOf(url: string): string {
  const authority = url.indexOf('://') + 3
  const start = url.slice(authority).search(/[/?#]/)
  if (start === -1) return '/'
  const target = url.slice(authority + start)
  const fragment = target.indexOf('#')
  const sent = fragment === -1 ? target : target.slice(0, fragment)
  return sent.startsWith('/') ? sent : `/${sent}`
}
