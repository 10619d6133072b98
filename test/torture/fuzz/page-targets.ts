import { accountPages } from '../../../src/pages/account-pages.ts'
import { addressPages } from '../../../src/pages/address-form.ts'
import { checkoutPages } from '../../../src/pages/pay-page.ts'
import { donePages, subscriptionPages } from '../../../src/pages/order-page.ts'
import type { PageRoute } from '../../../src/pages/page.ts'
import { storefrontPages } from '../../../src/pages/storefront-pages.ts'
import type { Random } from '../random.ts'
import { corruptBytes } from './api-requests.ts'
import type { Target } from './campaign.ts'
import type { Draft } from './draft.ts'
import { verifyOutsideApi } from './verify.ts'
import { oddText, oddWord } from './odd-values.ts'
import { setHeader, corruptions } from './corruptions.ts'
import type { Corruption } from './corruptions.ts'

/** The existing objects that pages show. */
export type PageMaterial = {
  /** Public tokens of orders, some of them paid. */
  orders: readonly string[]
  /** Paths of the sandbox's payment and bank pages. */
  sandbox: readonly string[]
  /** Tokens from emails. */
  tokens: readonly string[]
  downloads: readonly string[]
  /** The path of the API's root. */
  apiPrefix: string
}

/** Generates a form's fields, some valid and some not. */
type Form = (random: Random, places: PageMaterial) => [name: string, value: string][]

const payment: Form = (random) => [
  [
    'payment_method',
    random.pick([
      'card',
      'manual',
      'pm_card_visa',
      'pm_card_chargeDeclined',
      'pm_card_authenticationRequired',
      'pm_none',
      oddText(random)
    ])
  ],
  ['email', random.pick(['ada@example.com', '', oddText(random)])],
  ['firstName', random.oneIn(2) ? 'Ada' : oddText(random)],
  ['lastName', random.oneIn(2) ? 'Quill' : oddText(random)],
  ...(random.oneIn(3)
    ? []
    : (['address1', 'address2', 'postcode', 'city', 'country'] as const).map((name): [string, string] => [
        name,
        random.oneIn(4) ? oddText(random) : 'DE'
      ])),
  ...(random.oneIn(5) ? ([['coupon', random.pick(['WELCOME10', 'ONCE', oddText(random)])]] as [string, string][]) : [])
]

const bank: Form = (random) => [['outcome', random.pick(['approve', 'fail', oddText(random)])]]

/** Few passwords are long enough, because hashing one costs ten milliseconds of processor time. */
const account: Form = (random, { tokens }) => [
  ['token', tokens.length > 0 && random.oneIn(2) ? random.pick(tokens) : oddWord(random)],
  ['password', random.oneIn(10) ? oddText(random) : random.pick(['', 'short'])]
]

/** The path of a page with parameters. */
const pathOf: Readonly<Record<string, (random: Random, places: PageMaterial) => string>> = {
  '/checkout/:token': (random, { orders }) => `/checkout/${random.oneIn(6) ? 'none' : random.pick(orders)}`,
  '/checkout/done/:token': (random, { orders }) => `/checkout/done/${random.oneIn(6) ? 'none' : random.pick(orders)}`,
  '/checkout/return/:token': (random, { orders }) =>
    `/checkout/return/${random.oneIn(6) ? 'none' : random.pick(orders)}`,
  '/checkout/cancel/:token': (random, { orders }) =>
    `/checkout/cancel/${random.oneIn(6) ? 'none' : random.pick(orders)}`,
  '/checkout/subscription/:token': (random, { orders }) =>
    `/checkout/subscription/${random.oneIn(6) ? 'none' : random.pick(orders)}`,
  '/checkout/prove/:token': (random, { orders }) => `/checkout/prove/${random.oneIn(6) ? 'none' : random.pick(orders)}`,
  '/checkout/end-subscription': (random, places) => `/checkout/end-subscription?token=${tokenFor(random, places)}`,
  '/checkout/invoice/:token': (random, { orders }) => {
    const query = random.pick([
      '',
      '?format=pdf',
      `?number=${encodeURIComponent(oddText(random).toWellFormed()).slice(0, 200)}`
    ])
    return `/checkout/invoice/${random.oneIn(6) ? 'none' : random.pick(orders)}${query}`
  },
  '/account/verify': (random, places) => `/account/verify?token=${tokenFor(random, places)}`,
  '/account/email': (random, places) => `/account/email?token=${tokenFor(random, places)}`,
  '/account/email/undo': (random, places) => `/account/email/undo?token=${tokenFor(random, places)}`,
  '/account/reset': (random, places) => `/account/reset?token=${tokenFor(random, places)}`,
  '/products/:slug': (random) => `/products/${random.pick(['storm-lantern', 'hurricane-lamp', 'none'])}`,
  '/': (random) =>
    `/?page=${random.between(0, 3)}&search=${encodeURIComponent(oddText(random).toWellFormed()).slice(0, 2_000)}`
}

function tokenFor(random: Random, { tokens }: PageMaterial): string {
  return tokens.length > 0 && random.oneIn(2) ? random.pick(tokens) : random.bytes(32).toString('base64url')
}

/** The targets: the hosted checkout, the account pages, the storefront, the sandbox's pages, downloads, and other URLs. */
export function pageTargets(url: string, publicUrl: string, places: PageMaterial): Target[] {
  const { host } = new URL(publicUrl)
  const target = (
    name: string,
    make: (random: Random) => Pick<Draft, 'method' | 'target'> & { form?: Form }
  ): Target => ({
    name,
    url,
    next: (random) => testCaseFor(make(random), { host, places, apiPrefix: places.apiPrefix }, random)
  })
  const routed = (name: string, routes: readonly PageRoute[], form: Form): Target =>
    target(name, (random) => {
      const route = random.pick(routes)
      const path = pathOf[route.name]?.(random, places) ?? route.name
      return {
        method: random.oneIn(25) ? 'HEAD' : route.method,
        target: path,
        ...(route.method === 'POST' ? { form } : {})
      }
    })
  return [
    routed('hosted checkout', [...checkoutPages, ...checkoutPages, ...donePages, ...subscriptionPages], payment),
    routed('account pages', accountPages, account),
    routed('storefront', [...storefrontPages, ...addressPages], payment),
    target("the sandbox's pages", (random) => {
      const path = random.pick(places.sandbox)
      const isBank = path.includes('/3ds/')
      if (random.oneIn(3))
        return {
          method: 'GET',
          target: random.oneIn(6) ? `/sandbox/${random.oneIn(2) ? 'style.css' : 'stripe.js'}` : path
        }
      return random.oneIn(5)
        ? { method: 'POST', target: `${path}/cancel` }
        : { method: 'POST', target: path, form: isBank ? bank : payment }
    }),
    target('downloads', (random) => ({
      method: random.oneIn(10) ? 'HEAD' : 'GET',
      target: random.pick(places.downloads)
    })),
    target('other URLs', (random) => ({
      method: 'GET',
      target: random.pick([
        '/openapi.json',
        '/docs',
        '/livez',
        '/readyz',
        '/favicon.ico',
        '/assets/style.css',
        '/robots.txt',
        '/.env',
        '/data/shopstead.db',
        '/metrics',
        '/api/v1',
        '/api/secure',
        '/%',
        '/x'
      ])
    }))
  ]
}

type Where = { host: string; places: PageMaterial; apiPrefix: string }

function testCaseFor(
  { form, ...line }: Pick<Draft, 'method' | 'target'> & { form?: Form },
  { host, places, apiPrefix }: Where,
  random: Random
): ReturnType<Target['next']> {
  const draft: Draft = { ...line, headers: [['Host', host]], body: Buffer.alloc(0), chunked: false }
  if (random.oneIn(2)) setHeader(draft, 'Accept', 'text/html,application/xhtml+xml')
  if (random.oneIn(6))
    setHeader(
      draft,
      'Range',
      random.pick([
        'bytes=0-',
        'bytes=5-2',
        'bytes=-0',
        'bytes=1-1',
        'bytes=9999999999999999999-',
        'bytes=0-0,2-3',
        'x'
      ])
    )
  if (form !== undefined) {
    draft.body = random.oneIn(8)
      ? corruptBytes(formBytes(form(random, places), random), random)
      : formBytes(form(random, places), random)
    setHeader(
      draft,
      'Content-Type',
      random.oneIn(15)
        ? random.pick(['multipart/form-data; boundary=x', 'multipart/form-data', 'text/plain', 'application/json'])
        : 'application/x-www-form-urlencoded'
    )
  }
  const kinds: readonly Corruption[] = ['header', 'header', 'cookie', 'query', 'query', 'path', 'framing']
  const times = random.pick([0, 0, 1, 1, 2])
  for (let time = 0; time < times; time += 1) corruptions[random.pick(kinds)](draft, random)
  // A target in absolute form has an origin before its path.
  const path = draft.target.replace(/^https?:\/\/[^/]+/, '')
  const isApi = path.startsWith(`${apiPrefix}/`) || path.startsWith('/openapi.json')
  return { draft, verify: (answer) => (isApi ? [] : verifyOutsideApi(draft.method, answer)) }
}

function formBytes(fields: readonly (readonly [string, string])[], random: Random): Buffer {
  const pairs = fields.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`)
  const odd = [
    'token',
    '=',
    '&&',
    '%zz=%zz',
    'payment_method=card',
    '__proto__=x',
    'email[]=a',
    'coupon=',
    'x=%00',
    '%ff=%ed%a0%80'
  ]
  if (random.oneIn(4)) pairs.splice(random.between(0, pairs.length), 0, random.pick(odd))
  if (random.oneIn(5)) pairs.splice(random.between(0, Math.max(0, pairs.length - 1)), 1)
  return Buffer.from(pairs.join('&').slice(0, 100_000))
}
