import { deepStrictEqual } from 'node:assert/strict'
import type { Person } from '../generated-shop.ts'
import { compare } from '../measure/compare.ts'
import type { Side } from '../measure/compare.ts'
import { productPath, searchPath } from '../servers.ts'
import type { Servers } from '../servers.ts'
import type { Comparison, BenchContext, Figure, Row } from './row.ts'

type Endpoint = {
  name: string
  about: string
  path: string
  target: number
  /** The path of the same response in the reference, if it differs. */
  referencePath?: string
  person?: Person
  against: string
  serves?: string
}

const constant = 'the same bytes from memory'
const sameSql = 'the same SQL'

/** A kept response leaves out only what the network and the rules of every request cost. */
const keptTarget = 0.4
const sqlTarget = 0.75

const constants: Endpoint[] = [
  { name: 'health', about: 'GET /health', path: '/health', target: keptTarget, against: constant },
  { name: 'nonce', about: 'GET /nonce', path: '/nonce', target: keptTarget, against: constant },
  {
    name: 'offers',
    about: 'GET /store/offers',
    path: '/store/offers',
    target: keptTarget,
    against: constant,
    serves: 'lists of offers'
  },
  {
    name: 'products',
    about: 'GET /store/products',
    path: '/store/products',
    target: keptTarget,
    against: constant,
    serves: 'lists of products'
  },
  {
    name: 'search',
    about: 'GET /store/products?search=lantern',
    path: searchPath,
    target: keptTarget,
    referencePath: '/store/products-search',
    against: constant,
    serves: 'searches'
  },
  {
    name: 'product',
    about: 'GET /store/products/{slug}',
    path: productPath,
    target: keptTarget,
    against: constant,
    serves: 'views of a product'
  }
]

const lists: Endpoint[] = [
  {
    name: 'me',
    about: 'GET /me',
    path: '/me',
    target: sqlTarget,
    person: 'member',
    against: sameSql,
    serves: 'pages for logged-in customers'
  },
  {
    name: 'orders',
    about: 'GET /orders, 20 of 5,000',
    path: '/orders',
    target: sqlTarget,
    person: 'regular',
    against: sameSql,
    serves: 'views of the own orders'
  },
  {
    name: 'referrals',
    about: 'GET /affiliates/referrals, 20 of 1,000,000',
    path: '/affiliates/referrals',
    target: sqlTarget,
    person: 'affiliate',
    against: sameSql,
    serves: 'views of the own referrals'
  }
]

const tenLines: Row = {
  name: 'ten-lines',
  about: 'the reference itself',
  async measure(context) {
    const servers = await context.servers('manual')
    const [reference, least] = await compare(servers.reference('/health'), servers.tenLines, context.rounds)
    const sides = { shop: reference, reference: least }
    return [{ kind: 'comparison', name: this.about, against: 'ten lines of node:http', target: 0.9, ...sides }]
  }
}

const unchanged: Row = {
  name: 'offers-304',
  about: 'GET /store/offers, 304',
  async measure(context) {
    const servers = await context.servers('manual')
    const etag = (await fetch(servers.shop('/api/v1/store/offers').url)).headers.get('etag') ?? ''
    const headers = { 'If-None-Match': etag }
    const sides = [
      servers.shop('/api/v1/store/offers', { headers }),
      servers.reference('/store/offers-unchanged', { headers })
    ] as const
    const [shop, reference] = await compare(...sides, context.rounds)
    return [{ kind: 'comparison', name: this.about, against: constant, target: keptTarget, shop, reference }]
  }
}

export const endpointRows: Row[] = [
  tenLines,
  ...constants.map((endpoint) => rowOf(endpoint)),
  unchanged,
  ...lists.map((endpoint) => rowOf(endpoint, endpoint.name === 'me' ? tailOf : () => []))
]

function rowOf(endpoint: Endpoint, further: (outcome: Comparison) => Figure[] = () => []): Row {
  return {
    name: endpoint.name,
    about: endpoint.about,
    async measure(context) {
      const outcome = await compareEndpoint(context, endpoint)
      return [outcome, ...further(outcome)]
    }
  }
}

async function compareEndpoint(context: BenchContext, endpoint: Endpoint): Promise<Comparison> {
  const servers = await context.servers('manual')
  const { about: name, against, target, serves, path, referencePath = path } = endpoint
  const request = requestAs(servers, endpoint.person)
  const sides = [servers.shop(`/api/v1${path}`, request), servers.reference(referencePath, request)] as const
  await assertSame(...sides)
  const [shop, reference] = await compare(...sides, context.rounds)
  return { kind: 'comparison', name, against, target, serves, shop, reference }
}

/** The headers of a request by this person; none for a guest. */
export function requestAs(servers: Servers, person: Person | undefined): { headers?: Record<string, string> } {
  return person === undefined ? {} : { headers: { Cookie: servers.data.cookieOf(person) } }
}

/** Fields that are random or depend on the shop's keys. */
const volatileFields = new Set(['nonce', 'nextCursor', 'timestamp', 'correlationId', 'correlation_id', 'request_id'])

/** Verifies that both sides send the same response, because a reference that does less is not comparable. */
async function assertSame(...sides: Side[]): Promise<void> {
  const [shop, reference] = await Promise.all(
    sides.map(async ({ url, headers = {} }) => {
      const response = await fetch(url, { headers })
      const text = await response.text()
      const answer: unknown = JSON.parse(text, (name, value: unknown) =>
        volatileFields.has(name) ? typeof value : value
      )
      return { status: response.status, length: text.length, answer }
    })
  )
  deepStrictEqual(reference, shop, 'the reference sends a different response')
}

function tailOf({ shop }: Comparison): Figure[] {
  const value = shop.p99Ms / shop.p50Ms
  return [
    { kind: 'figure', name: 'GET /me: p99 divided by p50 under load', value, unit: '×', max: 3, spread: shop.spread }
  ]
}
