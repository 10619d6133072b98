import { undescribed } from '../../support/described.ts'
import { cut } from './draft.ts'
import type { Answer } from './connection.ts'

/** Texts that must not appear in a response or a log. */
export class Secrets {
  private readonly texts = new Map<string, string>()

  /** @param what its name in reports, which must not repeat the text */
  add(what: string, text: string): void {
    if (text.length >= 8) this.texts.set(text, what)
  }

  /** The names of the secrets and internals that a text contains. */
  leaksIn(text: string): string[] {
    const found = [...this.texts].filter(([secret]) => text.includes(secret)).map(([, what]) => what)
    const traces = traits.filter(([, pattern]) => pattern.test(text)).map(([what]) => what)
    return [...found, ...traces]
  }
}

const traits: readonly [what: string, pattern: RegExp][] = [
  ['a stack trace', /^\s+at .*:\d+:\d+\)?$|\(node:internal|file:\/\/\/[^\s"]+\.[cm]?[jt]s:\d+:\d+/m],
  [
    'database messages',
    /SqliteError|SQLITE_[A-Z]|constraint failed|no such (?:table|column)|\b(?:SELECT|INSERT|UPDATE|DELETE)\b .{0,80}\b(?:FROM|INTO|SET|VALUES)\b|better-sqlite3|drizzle/
  ],
  ['a password hash', /\$argon2/],
  ['a secret key', /\b(?:sk|rk)_(?:test|live)_|whsec_/],
  [
    'a JavaScript error',
    /\b(?:TypeError|RangeError|SyntaxError|ReferenceError|ZodError)\b|is not a function|Cannot read properties|undefined \(reading/
  ]
]

/** The statuses with which Node refuses invalid HTTP. */
const bareStatuses = new Set([400, 408, 413, 417, 431, 505])

const ids = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The violations in any response of the server. */
export function verifyAny(answer: Answer, secrets: Secrets): string[] {
  const text = `${answer.head}\n${answer.body.toString('utf8')}`
  return [
    ...(Number.isNaN(answer.status) ? [`no status line: ${cut(answer.head, 200)}`] : []),
    ...(answer.status >= 500 && !(answer.status in documented) ? [`${answer.status}: ${cut(text, 900)}`] : []),
    ...secrets.leaksIn(text).map((what) => `${what} in the response: ${cut(text, 1_500)}`)
  ]
}

/** The allowed statuses of 500 and above. The API description says which of them a route may return. */
const documented: Record<number, string> = {
  501: 'CHECKOUT_NOT_IMPLEMENTED',
  502: 'CHECKOUT_FAILED',
  503: '',
  504: 'CHECKOUT_FAILED'
}

/** Whether Node refused the request before the shop received it. */
export function isBareRefusal({ status, headers, body }: Answer): boolean {
  return bareStatuses.has(status) && body.length === 0 && !headers.has('x-request-id')
}

/**
 * The violations in a response of the API or its proxy: its headers, its envelope, and differences from the API
 * description.
 *
 * @param path relative to the root, or undefined for a path outside the API
 */
export function verifyApi(method: string, path: string | undefined, answer: Answer): string[] {
  const { status, headers } = answer
  const wrong: string[] = []
  const requestId = headers.get('x-request-id')?.[0] ?? ''
  if (!ids.test(requestId)) wrong.push('no request id')
  if (headers.get('x-content-type-options')?.[0] !== 'nosniff') wrong.push('no nosniff')
  if (status === 405 && !headers.has('allow')) wrong.push('405 without Allow')
  if ((status === 429 || status === 503) && !headers.has('retry-after')) wrong.push(`${status} without Retry-After`)
  if (method === 'HEAD' || status === 304) return wrong
  const json = parse(answer.body)
  if (json === undefined || !(headers.get('content-type')?.[0] ?? '').startsWith('application/json'))
    return [...wrong, `not JSON: ${cut(answer.body.toString('utf8'), 300)}`]
  wrong.push(...verifyEnvelope(status, json, requestId))
  if (status >= 500 && json.error?.code !== undefined && !isDocumented(status, json.error.code))
    wrong.push(`${status} ${json.error.code}`)
  if (path === undefined) return wrong
  const list = [...headers].flatMap(([name, values]) => values.map((value): [string, string] => [name, value]))
  return [...wrong, ...undescribed(method, path, { status, headers: new Headers(list), body: json })]
}

function isDocumented(status: number, code: string): boolean {
  return status === 503
    ? /^(DEPENDENCY_UNAVAILABLE|CHECKOUT_GATEWAY_NOT_CONFIGURED)$/.test(code)
    : documented[status] === code
}

type Envelope = {
  data?: unknown
  error?: { code?: string; message?: unknown; details?: unknown }
  meta?: { request_id?: string }
}

function verifyEnvelope(status: number, { data, error, meta }: Envelope, requestId: string): string[] {
  const wrong: string[] = []
  if (status < 400 ? data === undefined : error === undefined) wrong.push(`no envelope for a ${status}`)
  if (data !== undefined && error !== undefined) wrong.push('data beside an error')
  if (meta?.request_id !== undefined && meta.request_id !== requestId) wrong.push('two request ids')
  if (error === undefined) return wrong
  if (meta?.request_id === undefined) wrong.push('an error without a request id')
  if (typeof error.code !== 'string' || typeof error.message !== 'string' || typeof error.details !== 'object')
    wrong.push('an error without code, message and details')
  return wrong
}

function parse(body: Buffer): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** The violations in a response outside the API, which is a page or an envelope. */
export function verifyOutsideApi(method: string, answer: Answer): string[] {
  const isJson = (answer.headers.get('content-type')?.[0] ?? '').startsWith('application/json')
  return isJson ? verifyApi(method, undefined, answer) : verifyPage(method, answer)
}

/** The violations in a page or a redirect. */
export function verifyPage(method: string, answer: Answer): string[] {
  const { status, headers, body } = answer
  if (status === 303 || status === 302) return headers.has('location') ? [] : ['a redirect without Location']
  const type = headers.get('content-type')?.[0] ?? ''
  if (method === 'HEAD' || body.length === 0) return []
  const isPage = /^text\/html; charset=utf-8$/i.test(type)
  return [
    ...(isPage && headers.get('x-content-type-options')?.[0] !== 'nosniff' ? ['a page without nosniff'] : []),
    ...(isPage && !headers.has('content-security-policy') ? ['a page without a content security policy'] : []),
    ...(isPage && !isWhole(body.toString('utf8')) ? ['an incomplete page'] : [])
  ]
}

/** Whether a page has its end. A part of a page, which a script puts into the page, ends with one of its elements. */
function isWhole(html: string): boolean {
  return /^<!doctype html>/i.test(html) ? /<\/html>\s*$/.test(html) : /<\/\w+>\s*$/.test(html)
}
