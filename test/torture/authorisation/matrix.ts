import { routes } from '../../../src/api/routes.ts'
import { sendRequest } from '../http-client.ts'
import type { Reply } from '../http-client.ts'
import { besideTheProxy, placeExpectations, routeExpectations } from './expectations.ts'
import { kinds, targets } from './kinds.ts'
import type { Expected, Kind, Target } from './kinds.ts'
import { placeRequests, routeRequests } from './requests.ts'
import type { Cell, Sent } from './requests.ts'
import { cookieOf, ownersCommission } from './stage.ts'
import type { Person, Stage } from './stage.ts'

/** One question to the matrix: this kind of person, at this place, for his own, another's and nobody's. */
export type Question = {
  name: string
  kind: Kind
  /** Whether it is a route of the API, and by which way it is asked. */
  way: 'api' | 'proxy' | 'place'
}

/** Routes and entries of the tables that do not have each other. */
export function unmatched(): string[] {
  const known = routes.map(({ method, path }) => `${method} ${path}`)
  const tables = [
    ['route', known, 'expectations', Object.keys(routeExpectations)],
    ['route', known, 'requests', Object.keys(routeRequests)],
    ['place', Object.keys(placeExpectations), 'requests', Object.keys(placeRequests)]
  ] as const
  return tables.flatMap(([what, left, table, right]) => [
    ...left.filter((name) => !right.includes(name)).map((name) => `${what} ${name} is not in the ${table}`),
    ...right.filter((name) => !left.includes(name)).map((name) => `the ${table} have ${name}, which is no ${what}`)
  ])
}

/** Every question there is. */
export function everyQuestion(): Question[] {
  const ways = (['api', 'proxy'] as const).flatMap((way) => Object.keys(routeRequests).map((name) => ({ name, way })))
  const places = Object.keys(placeRequests).map((name) => ({ name, way: 'place' as const }))
  return [...ways, ...places].flatMap((place) => kinds.map((kind) => ({ ...place, kind })))
}

type Heard = Reply & { word: string }

/** Asks one question three times over, each time as somebody new, and says what is wrong with the answers. */
export async function put(stage: Stage, owner: Person, question: Question): Promise<string[]> {
  const heard = {
    own: await askAs(stage, owner, question, 'own'),
    foreign: await askAs(stage, owner, question, 'foreign'),
    absent: await askAs(stage, owner, question, 'absent')
  }
  const place = `${question.kind}, ${question.name} (${question.way})`
  const unexpected = targets.flatMap((target) => {
    const expected = expectedOf(question, target)
    const { word, text } = heard[target]
    return word === expected ? [] : [`${place}, ${target}: expected ${expected}, came ${word}: ${text.slice(0, 200)}`]
  })
  const secrets = [owner.email, owner.sessionToken ?? '', 'Name of owner', ownersCommission]
  const leaks = targets.flatMap((target) =>
    secrets
      .filter((secret) => secret !== '' && heard[target].text.includes(secret))
      .map((secret) => `${place}, ${target}: the answer holds ${secret}`)
  )
  const differences = differ(heard.foreign, heard.absent).map(
    (what) => `${place}: another's and nobody's differ in ${what}`
  )
  return [...unexpected, ...leaks, ...differences]
}

function expectedOf({ name, way, kind }: Question, target: Target): string {
  const entry = routes.find(({ method, path }) => `${method} ${path}` === name)
  if (way === 'proxy' && entry?.proxy === null) return besideTheProxy
  const expected: Expected | undefined = (way === 'place' ? placeExpectations : routeExpectations)[name]?.[kind]
  if (expected === undefined) return 'an entry in the table'
  return typeof expected === 'string' ? expected : expected[target]
}

async function askAs(stage: Stage, owner: Person, question: Question, target: Target): Promise<Heard> {
  const { name, kind, way } = question
  const person = stage.enter(kind)
  const cell: Cell = { stage, person, owner, target }
  const sent = await (way === 'place' ? placeRequests : routeRequests)[name]?.(cell)
  if (sent === undefined) throw new Error(`no request is defined for ${name}`)
  stage.settle(person)
  const root = { api: '/api/v1', proxy: '/api/secure', place: '' }[way]
  const answer = await sendRequest(`${stage.url}${root}${sent.path}`, {
    method: methodOf(name, sent),
    headers: { ...cookieOf(person), ...(way === 'place' ? {} : { 'x-nonce': stage.nonceOf(person) }), ...sent.headers },
    ...(sent.body === undefined ? {} : { body: sent.body })
  })
  return { ...answer, word: wordOf(answer) }
}

function methodOf(name: string, { body }: Sent): string {
  const [method = ''] = /^(GET|POST|PATCH) /.exec(name) ?? []
  if (method !== '') return method.trim()
  return body === undefined ? 'GET' : 'POST'
}

function wordOf({ status, headers, text }: Reply): string {
  const isJson = String(headers['content-type']).startsWith('application/json')
  const { error } = (isJson ? JSON.parse(text) : {}) as { error?: { code: string } }
  return error === undefined ? String(status) : `${status} ${error.code}`
}

const volatile = new Set(['date', 'x-request-id', 'content-length', 'set-cookie', 'location', 'etag'])

/** By what somebody could tell one answer from the other, beside what no two answers have in common. */
function differ(left: Heard, right: Heard): string[] {
  const names = (answer: Heard): string => Object.keys(answer.headers).toSorted().join()
  const values = ({ headers }: Heard): string =>
    Object.entries(headers)
      .filter(([name]) => !volatile.has(name))
      .map(([name, value]) => `${name}: ${String(value)}`)
      .toSorted()
      .join('\n')
  return [
    ...(left.word === right.word ? [] : ['the answer']),
    ...(names(left) === names(right) ? [] : ['the names of headers']),
    ...(values(left) === values(right) ? [] : ['headers']),
    ...(bodyOf(left) === bodyOf(right) ? [] : [`the body: ${bodyOf(left)} and ${bodyOf(right)}`])
  ]
}

/** A refusal as it is, but for its numbers; of a success its shape; of a page its words. */
function bodyOf({ status, headers, text }: Heard): string {
  if (!String(headers['content-type']).startsWith('application/json')) return text.replaceAll(/[\w-]{32,}|\d+/g, '#')
  const { error, data } = JSON.parse(text) as { error?: object; data?: unknown }
  return status >= 400 ? JSON.stringify(error) : JSON.stringify(shapeOf(data))
}

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shapeOf(part)]))
}
