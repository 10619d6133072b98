import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Express cuts the path of a mount off `url`, and keeps the whole target in `originalUrl`. */
type NodeRequest = IncomingMessage & { originalUrl?: string }
type OnNode = Request & { runtime?: { node?: { req?: NodeRequest; res?: ServerResponse } }; ip?: string | undefined }

/** Node's request behind a Request from the listener; undefined for a Request that was built in memory. */
export function nodeRequest(request: OnNode): NodeRequest | undefined {
  return request.runtime?.node?.req
}

/** Node's response to a Request from the listener; undefined for a Request that was built in memory. */
export function nodeResponse(request: OnNode): ServerResponse | undefined {
  return request.runtime?.node?.res
}

/**
 * The request target exactly as sent, including the query. URL and h3 resolve `..` and `%2e` before a handler runs, so a
 * rule about paths must not read `request.url`: that path may differ from the one the client sent.
 */
export function rawTarget(request: Request): string {
  const node = nodeRequest(request)
  return node?.originalUrl ?? node?.url ?? targetOf(request.url)
}

/** The part of a request target before the query. */
export function rawPath(target: string): string {
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}

/** The peer's address; undefined for a Request without one, or after the peer has disconnected. */
export function socketAddress(request: OnNode): string | undefined {
  const node = request.runtime?.node?.req
  if (node === undefined) return request.ip
  // Node removes the socket from a request whose body stream was cancelled, although its types say otherwise.
  const socket: Socket | null | undefined = node.socket
  return socket?.remoteAddress
}

/**
 * The values of a header in the order sent. Headers joins repeated ones with a comma, which would hide that a client sent
 * a header twice.
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

/** @param flat alternating names and values, as in Node's rawHeaders; a name may repeat and have any case */
function valuesIn(flat: readonly string[], name: string): string[] {
  return flat.filter((_value, index) => index % 2 === 1 && flat[index - 1]?.toLowerCase() === name)
}

/** A path template as a pattern: `{id}` stands for one segment of letters, digits, `_` and `-`, never an encoded one. */
export function pathPattern(template: string): RegExp {
  const escaped = template.replaceAll(/[^\w/{}-]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replaceAll(/\{\w+\}/g, segment)}$`)
}

/** What a path parameter can be. */
export const segment = String.raw`[\w-]{1,100}`

/** Gives a request that a handler of this process made the address of the client that it comes from. */
export function fromAddress(request: Request, address: string | undefined): Request {
  return Object.assign(request, { ip: address })
}
