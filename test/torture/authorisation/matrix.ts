import { routes } from '../../../src/api/routes.ts'
import { sendRequest } from '../http-client.ts'
import type { Reply } from '../http-client.ts'
import { notProxied, pageExpectations, routeExpectations } from './expectations.ts'
import { kinds, targets } from './kinds.ts'
import type { Expected, Kind, Target } from './kinds.ts'
import { pageRequests, routeRequests } from './requests.ts'
import type { Cell, RequestParts } from './requests.ts'
import { cookieOf, ownersCommission } from './matrix-shop.ts'
import type { Person, MatrixShop } from './matrix-shop.ts'

/** One cell of the matrix: a kind of person at a route or page. It is sent once for each target. */
export type MatrixRequest = {
  name: string
  kind: Kind
  /** A route of the API called directly, or through the proxy, or a page. */
  via: 'api' | 'proxy' | 'page'
}

/** The routes without an entry in the tables, and the entries without a route. */
export function unmatched(): string[] {
  const known = routes.map(({ method, path }) => `${method} ${path}`)
  const tables = [
    ['route', known, 'expectations', Object.keys(routeExpectations)],
    ['route', known, 'requests', Object.keys(routeRequests)],
    ['page', Object.keys(pageExpectations), 'requests', Object.keys(pageRequests)]
  ] as const
  return tables.flatMap(([what, left, table, right]) => [
    ...left.filter((name) => !right.includes(name)).map((name) => `${what} ${name} is not in the ${table}`),
    ...right.filter((name) => !left.includes(name)).map((name) => `the ${table} have ${name}, which is not a ${what}`)
  ])
}

/** All cells of the matrix. */
export function allRequests(): MatrixRequest[] {
  const apiRoutes = (['api', 'proxy'] as const).flatMap((via) =>
    Object.keys(routeRequests).map((name) => ({ name, via }))
  )
  const pages = Object.keys(pageRequests).map((name) => ({ name, via: 'page' as const }))
  return [...apiRoutes, ...pages].flatMap((page) => kinds.map((kind) => ({ ...page, kind })))
}

type CodedReply = Reply & { code: string }

/** Sends one cell for each target, each time as a new person, and returns the violations. */
export async function sendAll(shop: MatrixShop, owner: Person, request: MatrixRequest): Promise<string[]> {
  const replies = {
    own: await sendAs(shop, owner, request, 'own'),
    foreign: await sendAs(shop, owner, request, 'foreign'),
    absent: await sendAs(shop, owner, request, 'absent')
  }
  const page = `${request.kind}, ${request.name} (${request.via})`
  const unexpected = targets.flatMap((target) => {
    const expected = expectedOf(request, target)
    const { code, text } = replies[target]
    return code === expected ? [] : [`${page}, ${target}: expected ${expected}, got ${code}: ${text.slice(0, 200)}`]
  })
  const secrets = [owner.email, owner.sessionToken ?? '', 'Name of owner', ownersCommission]
  const leaks = targets.flatMap((target) =>
    secrets
      .filter((secret) => secret !== '' && replies[target].text.includes(secret))
      .map((secret) => `${page}, ${target}: the response contains ${secret}`)
  )
  const differences = differ(replies.foreign, replies.absent).map(
    (what) => `${page}: the responses for another person's and a missing object differ in ${what}`
  )
  return [...unexpected, ...leaks, ...differences]
}

function expectedOf({ name, via, kind }: MatrixRequest, target: Target): string {
  const entry = routes.find(({ method, path }) => `${method} ${path}` === name)
  if (via === 'proxy' && entry?.proxy === null) return notProxied
  const expected: Expected | undefined = (via === 'page' ? pageExpectations : routeExpectations)[name]?.[kind]
  if (expected === undefined) return 'an entry in the table'
  return typeof expected === 'string' ? expected : expected[target]
}

async function sendAs(shop: MatrixShop, owner: Person, request: MatrixRequest, target: Target): Promise<CodedReply> {
  const { name, kind, via } = request
  const person = shop.createPerson(kind)
  const cell: Cell = { shop, person, owner, target }
  const sent = await (via === 'page' ? pageRequests : routeRequests)[name]?.(cell)
  if (sent === undefined) throw new Error(`no request is defined for ${name}`)
  shop.deactivateIfNeeded(person)
  const root = { api: '/api/v1', proxy: '/api/secure', page: '' }[via]
  const answer = await sendRequest(`${shop.url}${root}${sent.path}`, {
    method: methodOf(name, sent),
    headers: { ...cookieOf(person), ...(via === 'page' ? {} : { 'x-nonce': shop.nonceOf(person) }), ...sent.headers },
    ...(sent.body === undefined ? {} : { body: sent.body })
  })
  return { ...answer, code: codeOf(answer) }
}

function methodOf(name: string, { body }: RequestParts): string {
  const [method = ''] = /^(GET|POST|PATCH) /.exec(name) ?? []
  if (method !== '') return method.trim()
  return body === undefined ? 'GET' : 'POST'
}

function codeOf({ status, headers, text }: Reply): string {
  const isJson = String(headers['content-type']).startsWith('application/json')
  const { error } = (isJson ? JSON.parse(text) : {}) as { error?: { code: string } }
  return error === undefined ? String(status) : `${status} ${error.code}`
}

const volatile = new Set(['date', 'x-request-id', 'content-length', 'set-cookie', 'location', 'etag'])

/** The differences by which a client could distinguish two responses; volatile headers are ignored. */
function differ(left: CodedReply, right: CodedReply): string[] {
  const names = (answer: CodedReply): string => Object.keys(answer.headers).toSorted().join()
  const values = ({ headers }: CodedReply): string =>
    Object.entries(headers)
      .filter(([name]) => !volatile.has(name))
      .map(([name, value]) => `${name}: ${String(value)}`)
      .toSorted()
      .join('\n')
  return [
    ...(left.code === right.code ? [] : ['the code']),
    ...(names(left) === names(right) ? [] : ['the header names']),
    ...(values(left) === values(right) ? [] : ['the headers']),
    ...(bodyOf(left) === bodyOf(right) ? [] : [`the body: ${bodyOf(left)} and ${bodyOf(right)}`])
  ]
}

/** The comparable part of a body: a page without tokens and numbers, an error, or the shape of the data. */
function bodyOf({ status, headers, text }: CodedReply): string {
  if (!String(headers['content-type']).startsWith('application/json')) return text.replaceAll(/[\w-]{32,}|\d+/g, '#')
  const { error, data } = JSON.parse(text) as { error?: object; data?: unknown }
  return status >= 400 ? JSON.stringify(error) : JSON.stringify(shapeOf(data))
}

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shapeOf(part)]))
}
