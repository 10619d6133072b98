import { asSchema } from './fields.ts'

/** Valid request bodies, by method and path. */
export const requestExamples: Readonly<Record<string, object>> = {
  'POST /auth/register': {
    email: 'ada@example.com',
    password: 'tidal-basalt-93',
    displayName: 'Ada Quill',
    acceptTerms: true,
    marketingOptIn: false
  },
  'POST /auth/login': { email: 'ada@example.com', password: 'tidal-basalt-93', rememberMe: true },
  'POST /auth/verify-email': { token: 'the token of the link' },
  'POST /auth/resend-verification': { email: 'ada@example.com' },
  'POST /auth/forgot-password': { email: 'ada@example.com' },
  'POST /auth/reset-password': { token: 'the token of the link', password: 'granite-ferry-27' },
  'POST /auth/change-password': { currentPassword: 'tidal-basalt-93', newPassword: 'granite-ferry-27' },
  'POST /auth/change-email': { email: 'ada.new@example.com', password: 'tidal-basalt-93' },
  'POST /auth/confirm-email': { token: 'the token of the link' },
  'POST /auth/undo-email-change': { token: 'the token of the link', password: 'granite-ferry-27' },
  'POST /me/delete': { password: 'tidal-basalt-93' },
  'PATCH /me': { displayName: 'Ada M. Quill', companyName: null },
  'POST /me/address': { address: { address1: 'Quay 7', postcode: '20457', city: 'Hamburg', country: 'DE' } },
  'POST /store/checkout-session': {
    items: [{ productId: 3, quantity: 2 }],
    couponCode: 'WELCOME10',
    returnUrl: 'https://shop.example/thanks',
    cancelUrl: 'https://shop.example/basket'
  },
  'POST /store/quote': { items: [{ productId: 3, quantity: 2 }], couponCode: 'WELCOME10' },
  'POST /store/prove-email': { email: 'ada@example.com', code: '48201937' },
  'POST /affiliates/clicks': { ref: 'mira' },
  'POST /affiliates/apply': { website: 'https://mira.example', message: 'I write about lanterns.' },
  'POST /affiliates/terms': { version: '2026-01-01' },
  'POST /webhooks/stripe': {
    id: 'evt_1QpT3xLkdIwHu7ix',
    object: 'event',
    type: 'checkout.session.completed',
    livemode: true,
    created: 1_773_480_413,
    data: { object: { id: 'cs_live_a1B2c3', object: 'checkout.session' } }
  }
}

type Schema = Readonly<Record<string, unknown>>

/**
 * An example value of a schema, composed of the examples of its parts.
 *
 * @param components the schemas that `$ref` names
 */
export function exampleOf(schema: unknown, components: Readonly<Record<string, unknown>>): unknown {
  const known = asSchema(schema)
  if ('example' in known) return known['example']
  if ('const' in known) return known['const']
  if (typeof known['$ref'] === 'string') return exampleOf(components[lastPart(known['$ref'])], components)
  if (Array.isArray(known['enum'])) return known['enum'][0]
  for (const combined of [known['anyOf'], known['oneOf']]) {
    if (Array.isArray(combined)) return exampleOf(combined[0], components)
  }
  if (Array.isArray(known['allOf'])) {
    return Object.assign({}, ...known['allOf'].map((part) => exampleOf(part, components))) as object
  }
  return exampleOfType(known, components)
}

function exampleOfType(known: Schema, components: Readonly<Record<string, unknown>>): unknown {
  const type = Array.isArray(known['type']) ? known['type'].find((name) => name !== 'null') : known['type']
  if (Array.isArray(known['type']) && type === 'string') return null
  if (type === 'array') return [exampleOf(known['items'], components)]
  if (type === 'boolean') return true
  if (type === 'integer' || type === 'number') return 1
  if (type === 'string') return 'text'
  const properties = Object.entries(asSchema(known['properties']))
  return Object.fromEntries(properties.map(([name, part]) => [name, exampleOf(part, components)]))
}

function lastPart(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}
