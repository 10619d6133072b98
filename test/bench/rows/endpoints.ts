import { deepStrictEqual } from 'node:assert/strict'
import type { Person } from '../generated-shop.ts'
import { compare } from '../measure/compare.ts'
import type { Side } from '../measure/compare.ts'
import type { Stage } from '../stage.ts'
import type { Comparison, Field, Figure, Row } from './row.ts'

type Endpoint = {
  name: string
  about: string
  path: string
  bar: number
  /** Where the reference gives the same answer, when it is another address. */
  referencePath?: string
  person?: Person
  against: string
}

const constant = 'the same bytes from memory'
const sameSql = 'the same SQL'

const constants: Endpoint[] = [
  { name: 'health', about: 'GET /health', path: '/health', bar: 0.55, against: constant },
  { name: 'nonce', about: 'GET /nonce', path: '/nonce', bar: 0.4, against: constant },
  { name: 'offers', about: 'GET /store/offers', path: '/store/offers', bar: 0.55, against: constant }
]

const lists: Endpoint[] = [
  { name: 'me', about: 'GET /me', path: '/me', bar: 0.8, person: 'member', against: sameSql },
  { name: 'orders', about: 'GET /orders, 20 of 5,000', path: '/orders', bar: 0.8, person: 'regular', against: sameSql },
  {
    name: 'referrals',
    about: 'GET /affiliates/referrals, 20 of 1,000,000',
    path: '/affiliates/referrals',
    bar: 0.8,
    person: 'affiliate',
    against: sameSql
  }
]

const tenLines: Row = {
  name: 'ten-lines',
  about: 'the reference itself',
  async measure(field) {
    const stage = await field.stage('manual')
    const [reference, least] = await compare(stage.reference('/health'), stage.tenLines, field.rounds)
    const sides = { shop: reference, reference: least }
    return [{ kind: 'comparison', name: this.about, against: 'ten lines of node:http', bar: 0.9, ...sides }]
  }
}

const unchanged: Row = {
  name: 'offers-304',
  about: 'GET /store/offers, 304',
  async measure(field) {
    const stage = await field.stage('manual')
    const etag = (await fetch(stage.shop('/api/v1/store/offers').url)).headers.get('etag') ?? ''
    const headers = { 'If-None-Match': etag }
    const sides = [
      stage.shop('/api/v1/store/offers', { headers }),
      stage.reference('/store/offers-unchanged', { headers })
    ] as const
    const [shop, reference] = await compare(...sides, field.rounds)
    return [{ kind: 'comparison', name: this.about, against: constant, bar: 0.55, shop, reference }]
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
    async measure(field) {
      const outcome = await compareEndpoint(field, endpoint)
      return [outcome, ...further(outcome)]
    }
  }
}

async function compareEndpoint(field: Field, endpoint: Endpoint): Promise<Comparison> {
  const stage = await field.stage('manual')
  const { about: name, against, bar, path, referencePath = path } = endpoint
  const asked = askedBy(stage, endpoint.person)
  const sides = [stage.shop(`/api/v1${path}`, asked), stage.reference(referencePath, asked)] as const
  await assertSame(...sides)
  const [shop, reference] = await compare(...sides, field.rounds)
  return { kind: 'comparison', name, against, bar, shop, reference }
}

export function askedBy(stage: Stage, person: Person | undefined): { headers?: Record<string, string> } {
  return person === undefined ? {} : { headers: { Cookie: stage.data.cookieOf(person) } }
}

/** What differs by chance or by a key that the reference does not have. */
const chance = new Set(['nonce', 'nextCursor', 'timestamp', 'correlationId', 'correlation_id', 'request_id'])

/** A reference that did less than the shop would be no measure. */
async function assertSame(...sides: Side[]): Promise<void> {
  const [shop, reference] = await Promise.all(
    sides.map(async ({ url, headers = {} }) => {
      const response = await fetch(url, { headers })
      const text = await response.text()
      const answer: unknown = JSON.parse(text, (name, value: unknown) => (chance.has(name) ? typeof value : value))
      return { status: response.status, length: text.length, answer }
    })
  )
  deepStrictEqual(reference, shop, 'the reference answers something else')
}

function tailOf({ shop }: Comparison): Figure[] {
  const value = shop.p99Ms / shop.p50Ms
  return [
    { kind: 'figure', name: 'GET /me: p99 under load, by its p50', value, unit: '×', most: 3, spread: shop.spread }
  ]
}
