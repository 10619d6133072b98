import { requestExamples } from '../../../src/api/description/examples.ts'
import { asSchema } from '../../../src/api/description/fields.ts'
import type { Route } from '../../../src/api/route.ts'
import { demoPassword } from '../../../src/operations/seeding/logins.ts'
import { apiDocument } from '../../support/described.ts'
import type { Random } from '../random.ts'
import type { Crowd, Person } from './crowd.ts'
import type { Draft } from './draft.ts'
import { Fields, jsonFor, spoilJson, toJson, writeJson } from './json.ts'
import type { Json } from './json.ts'
import { numbers, oddText } from './odd.ts'
import { setHeader, spoils } from './spoil.ts'
import type { Kind } from './spoil.ts'

/** What is really there, so that a request gets past the first doors. */
export type Material = {
  crowd: Crowd
  productIds: readonly number[]
  /** Of messages: each is good once. */
  tokens: readonly string[]
}

/** Requests to one route: its description's own example with something wrong with it, now and then with nothing. */
export class ApiRequests {
  private readonly route: Route
  private readonly root: string
  private readonly host: string
  private readonly proxied: boolean
  private readonly material: Material

  /** @param root address of the API or of its proxy, with the server's origin before it */
  constructor(route: Route, root: string, material: Material, { proxied = false } = {}) {
    this.route = route
    this.root = new URL(root).pathname
    this.host = new URL(root).host
    this.proxied = proxied
    this.material = material
  }

  next(random: Random): Draft {
    const { crowd } = this.material
    const person = random.oneIn(5) ? crowd.guest : random.pick(crowd.people)
    const draft: Draft = {
      method: this.route.method === 'GET' && random.oneIn(20) ? 'HEAD' : this.route.method,
      target: `${this.root}${this.route.path}${this.query(random)}`,
      headers: this.headers(person, random),
      body: this.body(random),
      chunked: false
    }
    if (draft.body.length > 0) setHeader(draft, 'Content-Type', 'application/json')
    const kinds: readonly Kind[] = [
      'header',
      'header',
      'header',
      'cookie',
      'cookie',
      'query',
      'query',
      'query',
      'path',
      'framing'
    ]
    // Where there is a body, it is what is wrong most of the time.
    const times = this.route.body === undefined ? random.between(0, 3) : random.pick([0, 0, 0, 1, 1, 2])
    for (let time = 0; time < times; time += 1) spoils[random.pick(kinds)](draft, random)
    return draft
  }

  private headers({ token, nonce }: Person, random: Random): [string, string][] {
    const headers: [string, string][] = [['Host', this.host]]
    if (token !== '') headers.push(['Cookie', `shopstead_session=${token}`])
    const wanted = this.route.nonce === 'always' || this.proxied
    if (wanted ? !random.oneIn(12) : random.oneIn(12))
      headers.push(['X-Nonce', random.oneIn(12) ? oddHeader(random) : nonce])
    if (random.oneIn(8)) headers.push(['X-Correlation-Id', random.oneIn(2) ? 'a-basket.7' : oddHeader(random)])
    if (random.oneIn(8)) headers.push(['Origin', `http://${this.host}`])
    for (const name of Object.keys(this.route.headers?.shape ?? {}))
      if (random.oneIn(3)) headers.push([name, random.oneIn(2) ? oddHeader(random) : `cart-${random.between(1, 40)}`])
    return headers
  }

  private query(random: Random): string {
    const parameters = asOperation(this.route)['parameters']
    const named = Array.isArray(parameters) ? parameters.map(asSchema).filter((entry) => entry['in'] === 'query') : []
    const pairs = named
      .filter(() => random.oneIn(2))
      .map(
        (entry) =>
          `${String(entry['name'])}=${encodeURIComponent(valueFor(asSchema(entry['schema']), String(entry['name']), random))}`
      )
    return pairs.length === 0 ? '' : `?${pairs.join('&')}`
  }

  private body(random: Random): Buffer {
    if (this.route.body === undefined)
      return random.oneIn(8) ? oddBytes(Buffer.from('{"a":1}'), random) : Buffer.alloc(0)
    let json = this.example(random)
    const times = random.pick([0, 1, 1, 1, 1, 1, 2, 2, 3, 5])
    for (let time = 0; time < times; time += 1) json = spoilJson(json, random)
    const bytes = Buffer.from(writeJson(json), 'utf8')
    return random.oneIn(12) ? oddBytes(bytes, random) : bytes
  }

  /** The route's example with what is really there, and with fields of its schema that the example leaves out. */
  private example(random: Random): Json {
    const key = `${this.route.method} ${this.route.path}`
    const content = asSchema(asSchema(asSchema(asOperation(this.route)['requestBody'])['content'])['application/json'])
    const schema = resolved(content['schema'])
    const example = toJson(templates[key]?.(random, this.material) ?? requestExamples[key] ?? jsonFor(schema, random))
    if (!(example instanceof Fields)) return example
    for (const [name, part] of Object.entries(asSchema(schema['properties']))) {
      if (random.oneIn(8) && !example.pairs.some(([known]) => known === name))
        example.pairs.push([name, jsonFor(resolved(part), random)])
    }
    example.pairs.forEach((pair) => (pair[1] = real(pair[0], pair[1], random, this.material)))
    return example
  }
}

/**
 * A password that is tried costs ten milliseconds of a processor, so that most of them are none at all: what is wrong
 * elsewhere is told along with it.
 */
function real(name: string, value: Json, random: Random, { crowd, tokens }: Material): Json {
  if (/password/i.test(name)) {
    if (!random.oneIn(8)) return random.pick<Json>(['', null, true, [], new Fields([])])
    return random.oneIn(3) ? 'wrong-harbour-7' : demoPassword
  }
  if (name === 'token')
    return random.oneIn(3) ? (tokens.length > 0 ? random.pick(tokens) : '') : random.bytes(32).toString('base64url')
  if (name === 'email' && typeof value === 'string') {
    if (random.oneIn(3)) return random.pick(crowd.people).email
    return `somebody${random.between(1, 1_000_000)}@example.com`
  }
  return value
}

const templates: Readonly<Record<string, (random: Random, material: Material) => object>> = {
  'POST /store/checkout-session': (random, { productIds }) => {
    const items = Array.from({ length: random.pick([1, 1, 2]) }, () => ({
      productId: random.pick(productIds),
      quantity: random.pick([1, 1, 2, 50])
    }))
    const urls = { returnUrl: 'https://shop.example/thanks', cancelUrl: 'https://shop.example/basket?x=1#y' }
    const coupon = random.oneIn(3)
      ? { couponCode: random.pick(['WELCOME10', 'ONCE', 'EXPIRED', 'HARBOUR5', 'none']) }
      : {}
    const address = {
      firstName: 'Ada',
      lastName: 'Quill',
      address1: 'Quay 1',
      postcode: '1',
      city: 'Port',
      country: 'DE'
    }
    const customer = { email: 'ada@example.com', firstName: 'Ada', createAccount: random.oneIn(6), password: '' }
    const more = {
      ...urls,
      ...coupon,
      ...(random.oneIn(3) ? { billingAddress: address } : {}),
      ...(random.oneIn(3) ? { customer } : {})
    }
    if (random.oneIn(2)) return { items, ...more }
    const paymentToken = random.pick([
      'pm_card_visa',
      'pm_card_chargeDeclined',
      'pm_card_authenticationRequired',
      'tok_visa',
      'pm_sandbox_code_fraud',
      'pm_none'
    ])
    return { items, ...more, strategy: 'token_handoff', paymentToken }
  }
}

function asOperation({ method, path }: Route): Readonly<Record<string, unknown>> {
  return asSchema(asSchema(asSchema(apiDocument()['paths'])[path])[method.toLowerCase()])
}

function resolved(schema: unknown): Readonly<Record<string, unknown>> {
  const known = asSchema(schema)
  if (typeof known['$ref'] !== 'string') return known
  const name = known['$ref'].slice(known['$ref'].lastIndexOf('/') + 1)
  return resolved(asSchema(asSchema(apiDocument()['components'])['schemas'])[name])
}

function valueFor(schema: Readonly<Record<string, unknown>>, name: string, random: Random): string {
  if (random.oneIn(4)) return oddText(random).slice(0, 3_000).toWellFormed()
  if (schema['type'] === 'integer') return random.oneIn(3) ? random.pick(numbers) : String(random.between(1, 40))
  return name === 'ref'
    ? random.pick(['mira', 'MIRA', '1', 'petra', 'nobody'])
    : random.pick(['spring', 'lantern', 'Wool', 'newsletter'])
}

function oddHeader(random: Random): string {
  return Buffer.from(oddText(random).slice(0, 400))
    .toString('latin1')
    .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?')
}

/** Bytes that are hardly the ones that were given. */
export function oddBytes(bytes: Buffer, random: Random): Buffer {
  const at = random.between(0, Math.max(0, bytes.length - 1))
  switch (random.between(1, 9)) {
    case 1:
      return random.bytes(random.pick([1, 10, 200]))
    case 2:
      return bytes.subarray(0, at)
    case 3: {
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << random.between(0, 7))
      return flipped
    }
    case 4:
      return Buffer.concat([bytes.subarray(0, at), random.bytes(random.between(1, 8)), bytes.subarray(at)])
    case 5:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])
    case 6:
      return Buffer.from(bytes.toString('utf8'), 'utf16le')
    case 7:
      return Buffer.concat([bytes, bytes])
    case 8:
      return Buffer.concat([bytes, Buffer.alloc(random.pick([100, 70_000, 300_000]), 0x20)])
    default:
      return Buffer.from(bytes.toString('utf8').replace(/"/, random.pick(["'", '\\"', '\\u0000', '\\ud800'])))
  }
}
