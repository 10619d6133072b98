import { requestExamples } from '../../../src/api/description/examples.ts'
import { asSchema } from '../../../src/api/description/fields.ts'
import type { Route } from '../../../src/api/route.ts'
import { demoPassword } from '../../../src/operations/seeding/logins.ts'
import { apiDocument } from '../../support/described.ts'
import { filledPath } from '../../support/filled-path.ts'
import type { Random } from '../random.ts'
import type { Users, Person } from './users.ts'
import type { Draft } from './draft.ts'
import { JsonObject, jsonFor, corruptJson, toJson, writeJson } from './json.ts'
import type { Json } from './json.ts'
import { numbers, oddText } from './odd-values.ts'
import { setHeader, corruptions } from './corruptions.ts'
import type { Corruption } from './corruptions.ts'

/** Existing users, products and tokens, so that requests pass the first checks. */
export type Material = {
  users: Users
  productIds: readonly number[]
  /** Tokens from emails, each valid once. */
  tokens: readonly string[]
}

/** Generates requests to one route: the example of its API description, mostly with faults. */
export class ApiRequests {
  private readonly route: Route
  private readonly root: string
  private readonly host: string
  private readonly proxied: boolean
  private readonly material: Material

  /** @param root the URL of the API or of its proxy */
  constructor(route: Route, root: string, material: Material, { proxied = false } = {}) {
    this.route = route
    this.root = new URL(root).pathname
    this.host = new URL(root).host
    this.proxied = proxied
    this.material = material
  }

  next(random: Random): Draft {
    const { users } = this.material
    const person = random.oneIn(5) ? users.guest : random.pick(users.people)
    const draft: Draft = {
      method: this.route.method === 'GET' && random.oneIn(20) ? 'HEAD' : this.route.method,
      target: `${this.root}${filledPath(this.route.path)}${this.query(random)}`,
      headers: this.headers(person, random),
      body: this.body(random),
      chunked: false
    }
    if (draft.body.length > 0) setHeader(draft, 'Content-Type', 'application/json')
    const kinds: readonly Corruption[] = [
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
    // With a body, most faults are in the body.
    const times = this.route.body === undefined ? random.between(0, 3) : random.pick([0, 0, 0, 1, 1, 2])
    for (let time = 0; time < times; time += 1) corruptions[random.pick(kinds)](draft, random)
    return draft
  }

  private headers({ token, nonce }: Person, random: Random): [string, string][] {
    const headers: [string, string][] = [['Host', this.host]]
    if (token !== '') headers.push(['Cookie', `shopstead_session=${token}`])
    const wanted = this.route.nonce === 'always' || this.proxied
    if (wanted ? !random.oneIn(12) : random.oneIn(12))
      headers.push(['X-Nonce', random.oneIn(12) ? oddHeaderValue(random) : nonce])
    if (random.oneIn(8)) headers.push(['X-Correlation-Id', random.oneIn(2) ? 'a-basket.7' : oddHeaderValue(random)])
    if (random.oneIn(8)) headers.push(['Origin', `http://${this.host}`])
    for (const name of Object.keys(this.route.headers?.shape ?? {}))
      if (random.oneIn(3))
        headers.push([name, random.oneIn(2) ? oddHeaderValue(random) : `cart-${random.between(1, 40)}`])
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
      return random.oneIn(8) ? corruptBytes(Buffer.from('{"a":1}'), random) : Buffer.alloc(0)
    let json = this.example(random)
    const times = random.pick([0, 1, 1, 1, 1, 1, 2, 2, 3, 5])
    for (let time = 0; time < times; time += 1) json = corruptJson(json, random)
    const bytes = Buffer.from(writeJson(json), 'utf8')
    return random.oneIn(12) ? corruptBytes(bytes, random) : bytes
  }

  /** The route's example with existing values and with optional fields of its schema. */
  private example(random: Random): Json {
    const key = `${this.route.method} ${this.route.path}`
    const content = asSchema(asSchema(asSchema(asOperation(this.route)['requestBody'])['content'])['application/json'])
    const schema = resolved(content['schema'])
    const example = toJson(templates[key]?.(random, this.material) ?? requestExamples[key] ?? jsonFor(schema, random))
    if (!(example instanceof JsonObject)) return example
    for (const [name, part] of Object.entries(asSchema(schema['properties']))) {
      if (random.oneIn(8) && !example.pairs.some(([known]) => known === name))
        example.pairs.push([name, jsonFor(resolved(part), random)])
    }
    example.pairs.forEach((pair) => (pair[1] = withRealValue(pair[0], pair[1], random, this.material)))
    return example
  }
}

/**
 * Replaces a field's value with an existing one. Most passwords are invalid, because checking a password costs ten
 * milliseconds of processor time.
 */
function withRealValue(name: string, value: Json, random: Random, { users, tokens }: Material): Json {
  if (/password/i.test(name)) {
    if (!random.oneIn(8)) return random.pick<Json>(['', null, true, [], new JsonObject([])])
    return random.oneIn(3) ? 'wrong-harbour-7' : demoPassword
  }
  if (name === 'token')
    return random.oneIn(3) ? (tokens.length > 0 ? random.pick(tokens) : '') : random.bytes(32).toString('base64url')
  if (name === 'email' && typeof value === 'string') {
    if (random.oneIn(3)) return random.pick(users.people).email
    return `unknown${random.between(1, 1_000_000)}@example.com`
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
      ...(random.oneIn(2)
        ? { shippingAddress: address, shippingMethod: random.pick(['standard', 'express', 'none']) }
        : {}),
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
    ? random.pick(['mira', 'MIRA', '1', 'petra', 'unknown'])
    : random.pick(['spring', 'lantern', 'Wool', 'newsletter'])
}

function oddHeaderValue(random: Random): string {
  return Buffer.from(oddText(random).slice(0, 400))
    .toString('latin1')
    .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?')
}

/** The bytes with one fault. */
export function corruptBytes(bytes: Buffer, random: Random): Buffer {
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
