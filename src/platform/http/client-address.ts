import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from 'node:net'
import { AppError } from '../../errors.ts'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { describeError } from '../log.ts'
import { isCountry } from '../postal/countries.ts'
import type { Logger } from '../log.ts'
import { checkNonceHeader } from './cross-site.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The proxies whose X-Forwarded-For the shop believes, parsed once. */
export type TrustedProxies = { count: number; list: BlockList }

/**
 * Parses SHOPSTEAD_TRUSTED_PROXIES.
 *
 * @param entries addresses or CIDR ranges: IPv4, IPv6, or IPv4 mapped into IPv6
 * @throws AppError CONFIG_INVALID with the position of an entry that is neither
 */
export function parseTrustedProxies(entries: readonly string[]): TrustedProxies {
  const list = new BlockList()
  for (const [index, entry] of entries.entries()) {
    if (!addEntry(list, entry.trim())) {
      throw new AppError(
        'CONFIG_INVALID',
        `Entry ${index + 1} of the trusted proxies must be an IP address or a range such as 10.0.0.0/8.`
      )
    }
  }
  return { count: entries.length, list }
}

/**
 * The client's address: the socket's address, or, if that is a trusted proxy, the right-most address in X-Forwarded-For
 * that is not a trusted proxy. The client can forge the entries to its left.
 */
export function clientAddress(
  socketAddress: string | undefined,
  forwardedFor: string | null | undefined,
  trusted: TrustedProxies
): string {
  let client = plainAddress(socketAddress ?? '')
  if (trusted.count === 0 || !forwardedFor) return client
  const hops = forwardedFor.split(',')
  while (hops.length > 0 && isTrusted(client, trusted)) {
    const hop = forwardedAddress(hops.pop() ?? '')
    if (isIP(hop) === 0) break
    client = hop
  }
  return client
}

/** The host of the site that a trusted proxy forwarded a request for; null without such a proxy. */
export function forwardedHost(request: Request, trusted: TrustedProxies): string | null {
  return isTrusted(plainAddress(socketAddress(request) ?? ''), trusted) ? request.headers.get('x-forwarded-host') : null
}

/**
 * The country of the client (ISO 3166-1) as a trusted proxy names it in a header; null without such a proxy, and for codes
 * that are not a country, such as T1 for Tor.
 */
export function forwardedCountry(request: Request, header: string, trusted: TrustedProxies): string | null {
  if (header === '' || !isTrusted(plainAddress(socketAddress(request) ?? ''), trusted)) return null
  const [country = '', ...others] = headerValues(request, header).map((value) => value.trim().toUpperCase())
  return others.length === 0 && isCountry(country) ? country : null
}

/** Whether an untrusted address sent X-Forwarded-For: a client that forges it, or a proxy missing from the settings. */
export function isUntrustedForwarding(
  socketAddress: string | undefined,
  forwardedFor: string | null | undefined,
  trusted: TrustedProxies
): boolean {
  return Boolean(forwardedFor) && !isTrusted(plainAddress(socketAddress ?? ''), trusted)
}

/** The key for rate limits: an IPv4 address, or the /64 network of an IPv6 address, because one customer has a whole /64. */
export function addressKey(address: string): string {
  const plain = plainAddress(address)
  if (!plain.includes(':')) return plain
  return `${firstGroups(plain).join(':')}${networkSuffix}`
}

/** The /48 network around the /64 network of an addressKey; undefined for other keys. */
export function widerNetwork(key: string): string | undefined {
  return key.endsWith(networkSuffix) ? `${key.split(':', 3).join(':')}::/48` : undefined
}

const networkSuffix = '::/64'

function isTrusted(address: string, { count, list }: TrustedProxies): boolean {
  const version = isIP(address)
  return count > 0 && version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
}

function addEntry(list: BlockList, entry: string): boolean {
  const [address = '', bits, ...rest] = entry.split('/')
  const plain = plainAddress(address)
  const version = isIP(plain)
  if (version === 0 || address.includes('%') || rest.length > 0) return false
  const family = version === 4 ? 'ipv4' : 'ipv6'
  if (bits === undefined) {
    list.addAddress(plain, family)
    return true
  }
  // ::ffff:10.0.0.0/104 is 10.0.0.0/8.
  const prefix = Number(bits) - (plain === address || version === 6 ? 0 : 96)
  if (!/^\d{1,3}$/.test(bits) || prefix < 0 || prefix > (version === 4 ? 32 : 128)) return false
  list.addSubnet(plain, prefix, family)
  return true
}

/**
 * An address in lower case, without its zone; an IPv4-mapped address, as a dual-stack socket or a proxy writes it
 * (`::ffff:192.0.2.1`, `::ffff:c000:201`), becomes IPv4.
 */
export function plainAddress(address: string): string {
  if (!address.includes(':')) return address
  const mapped = dottedMapped.exec(address)?.[1]
  if (mapped !== undefined && isIPv4(mapped)) return mapped
  const unzoned = address.includes('%') ? address.slice(0, address.indexOf('%')) : address
  if (!maybeMapped.test(unzoned) || !isIPv6(unzoned)) return unzoned.toLowerCase()
  // The shortest form of a mapped address contains the IPv4 address in dots (RFC 5952 5).
  const shortest = new SocketAddress({ address: unzoned, family: 'ipv6' }).address
  return dottedMapped.exec(shortest)?.[1] ?? shortest
}

const dottedMapped = /^::ffff:([\d.]+)$/i
const maybeMapped = /^[0:]+:ffff:/i

/** Some proxies append a port to the address: `192.0.2.1:5000`, `[2001:db8::1]:5000`. */
function forwardedAddress(hop: string): string {
  const text = hop.trim()
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1]
  if (bracketed !== undefined) return plainAddress(bracketed)
  const ported = /^([\d.]+):\d+$/.exec(text)?.[1]
  return plainAddress(ported ?? text)
}

/** The first four groups of an IPv6 address, without leading zeros. */
function firstGroups(address: string): string[] {
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':')
    const width = after.length + (tail.includes('.') ? 1 : 0)
    while (groups.length + width < 8) groups.push('0')
    groups.push(...after)
  }
  return groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''))
}

/** An address that sent a request of a kind, and when (epoch milliseconds). */
export type SeenSender = { address: string; at: number }

const schema = z.object({ address: z.string(), at: z.number() })
const noteEveryMs = 60_000

/** The kinds of requests that show a wrong configuration, each with the file that records the last one. */
const files = {
  untrusted: 'forwarded-by-stranger.json',
  withoutAddress: 'proxied-without-address.json'
} as const

export type Misforwarding = keyof typeof files

/**
 * Records in the data folder, at most once a minute, what makes all visitors count as one client, and `shopstead health`
 * reports: an untrusted address sent X-Forwarded-For (SHOPSTEAD_TRUSTED_PROXIES lacks the shop's proxy), or a first-party
 * proxy does not send the client's address. The log warns of the second once.
 */
export function watchForwarding(
  dataDir: string,
  trusted: TrustedProxies,
  now: () => number,
  log: Logger
): (request: Request) => void {
  const notedAt = { untrusted: 0, withoutAddress: 0 }
  const note = (kind: Misforwarding, address: string): void => {
    if (Math.abs(now() - notedAt[kind]) < noteEveryMs) return
    if (kind === 'withoutAddress' && notedAt[kind] === 0)
      log.warn('a first-party proxy does not send the address of its clients, so they all share one rate limit')
    notedAt[kind] = now()
    try {
      write(join(dataDir, files[kind]), { address, at: notedAt[kind] })
    } catch (error) {
      // The record is only for `health`, so the request continues.
      log.warn('a forwarded request could not be recorded', { error: describeError(error) })
    }
  }
  return (request) => {
    const forwardedFor = request.headers.get('x-forwarded-for')
    if (forwardedFor === null && !request.headers.has(checkNonceHeader)) return
    const address = socketAddress(request)
    if (address === undefined) return
    if (isUntrustedForwarding(address, forwardedFor, trusted)) note('untrusted', address)
    if (forwardedFor === null) note('withoutAddress', address)
  }
}

function write(file: string, sender: SeenSender): void {
  writeFileSync(`${file}.draft`, JSON.stringify(sender), { mode: 0o600 })
  renameSync(`${file}.draft`, file)
}

/** The last sender that watchForwarding recorded; undefined if it recorded none. */
export function readMisforwarding(dataDir: string, kind: Misforwarding): SeenSender | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(join(dataDir, files[kind]), 'utf8')))
  } catch {
    // The file does not exist.
    return undefined
  }
}

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
 * rule about paths must not read `request.url`: that path may differ from the one the client sent. Of a target in
 * absolute form (RFC 9112 3.2.2), the part after the host.
 */
export function rawTarget(request: Request): string {
  const node = nodeRequest(request)
  const target = node?.originalUrl ?? node?.url ?? request.url
  return /^https?:\/\//i.test(target) ? targetOf(target) : target
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
