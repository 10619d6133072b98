import { accountPages } from '../../../src/pages/account-pages.ts'
import { checkoutPages } from '../../../src/pages/pay-page.ts'
import { donePages } from '../../../src/pages/order-page.ts'
import type { PageRoute } from '../../../src/pages/page.ts'
import { storefrontPages } from '../../../src/pages/storefront/storefront.ts'
import type { Dice } from '../dice.ts'
import { oddBytes } from './api-requests.ts'
import type { Target } from './campaign.ts'
import type { Draft } from './draft.ts'
import { judgeElsewhere } from './judge.ts'
import { oddText, oddWord } from './odd.ts'
import { setHeader, spoils } from './spoil.ts'
import type { Kind } from './spoil.ts'

/** What pages are about. */
export type Places = {
  /** Of orders, some of them paid by now. */
  orders: readonly string[]
  /** Sandbox pages: of checkout sessions, and of banks. */
  sandbox: readonly string[]
  /** Of messages. */
  tokens: readonly string[]
  downloads: readonly string[]
  /** The API's own root. */
  apiPrefix: string
}

/** A form's fields, some good and some not. */
type Form = (dice: Dice, places: Places) => [name: string, value: string][]

const payment: Form = (dice) => [
  [
    'payment_method',
    dice.pick([
      'card',
      'manual',
      'pm_card_visa',
      'pm_card_chargeDeclined',
      'pm_card_authenticationRequired',
      'pm_none',
      oddText(dice)
    ])
  ],
  ['email', dice.pick(['ada@example.com', '', oddText(dice)])],
  ['firstName', dice.once(2) ? 'Ada' : oddText(dice)],
  ['lastName', dice.once(2) ? 'Quill' : oddText(dice)],
  ...(dice.once(3)
    ? []
    : (['address1', 'address2', 'postcode', 'city', 'country'] as const).map((name): [string, string] => [
        name,
        dice.once(4) ? oddText(dice) : 'DE'
      ])),
  ...(dice.once(5) ? ([['coupon', dice.pick(['WELCOME10', 'ONCE', oddText(dice)])]] as [string, string][]) : [])
]

const bank: Form = (dice) => [['outcome', dice.pick(['approve', 'fail', oddText(dice)])]]

/** A password that is long enough costs ten milliseconds of a processor; few are. */
const account: Form = (dice, { tokens }) => [
  ['token', tokens.length > 0 && dice.once(2) ? dice.pick(tokens) : oddWord(dice)],
  ['password', dice.once(10) ? oddText(dice) : dice.pick(['', 'short'])]
]

/** One of the addresses that pages have, without a body's form. */
const pathOf: Readonly<Record<string, (dice: Dice, places: Places) => string>> = {
  '/checkout/:token': (dice, { orders }) => `/checkout/${dice.once(6) ? 'none' : dice.pick(orders)}`,
  '/checkout/done/:token': (dice, { orders }) => `/checkout/done/${dice.once(6) ? 'none' : dice.pick(orders)}`,
  '/account/verify': (dice, places) => `/account/verify?token=${tokenFor(dice, places)}`,
  '/account/reset': (dice, places) => `/account/reset?token=${tokenFor(dice, places)}`,
  '/products/:slug': (dice) => `/products/${dice.pick(['storm-lantern', 'hurricane-lamp', 'none'])}`,
  '/': (dice) =>
    `/?page=${dice.between(0, 3)}&search=${encodeURIComponent(oddText(dice).toWellFormed()).slice(0, 2_000)}`
}

function tokenFor(dice: Dice, { tokens }: Places): string {
  return tokens.length > 0 && dice.once(2) ? dice.pick(tokens) : dice.bytes(32).toString('base64url')
}

/** The hosted checkout, the account pages, the storefront, the stand-in's pages, downloads, and what lies about. */
export function pageTargets(url: string, publicUrl: string, places: Places): Target[] {
  const { host } = new URL(publicUrl)
  const target = (name: string, make: (dice: Dice) => Pick<Draft, 'method' | 'target'> & { form?: Form }): Target => ({
    name,
    url,
    next: (dice) => shotAt(make(dice), { host, places, apiPrefix: places.apiPrefix }, dice)
  })
  const routed = (name: string, routes: readonly PageRoute[], form: Form): Target =>
    target(name, (dice) => {
      const route = dice.pick(routes)
      const path = pathOf[route.name]?.(dice, places) ?? route.name
      return {
        method: dice.once(25) ? 'HEAD' : route.method,
        target: path,
        ...(route.method === 'POST' ? { form } : {})
      }
    })
  return [
    routed('hosted checkout', [...checkoutPages, ...checkoutPages, ...donePages], payment),
    routed('account pages', accountPages, account),
    routed('storefront', storefrontPages, payment),
    target("the sandbox's pages", (dice) => {
      const path = dice.pick(places.sandbox)
      const isBank = path.includes('/3ds/')
      if (dice.once(3)) return { method: 'GET', target: dice.once(6) ? '/sandbox/style.css' : path }
      return dice.once(5)
        ? { method: 'POST', target: `${path}/cancel` }
        : { method: 'POST', target: path, form: isBank ? bank : payment }
    }),
    target('downloads', (dice) => ({ method: dice.once(10) ? 'HEAD' : 'GET', target: dice.pick(places.downloads) })),
    target('what lies about', (dice) => ({
      method: 'GET',
      target: dice.pick([
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

type Where = { host: string; places: Places; apiPrefix: string }

function shotAt(
  { form, ...line }: Pick<Draft, 'method' | 'target'> & { form?: Form },
  { host, places, apiPrefix }: Where,
  dice: Dice
): ReturnType<Target['next']> {
  const draft: Draft = { ...line, headers: [['Host', host]], body: Buffer.alloc(0), chunked: false }
  if (dice.once(2)) setHeader(draft, 'Accept', 'text/html,application/xhtml+xml')
  if (dice.once(6))
    setHeader(
      draft,
      'Range',
      dice.pick(['bytes=0-', 'bytes=5-2', 'bytes=-0', 'bytes=1-1', 'bytes=9999999999999999999-', 'bytes=0-0,2-3', 'x'])
    )
  if (form !== undefined) {
    draft.body = dice.once(8)
      ? oddBytes(formBytes(form(dice, places), dice), dice)
      : formBytes(form(dice, places), dice)
    setHeader(
      draft,
      'Content-Type',
      dice.once(15)
        ? dice.pick(['multipart/form-data; boundary=x', 'multipart/form-data', 'text/plain', 'application/json'])
        : 'application/x-www-form-urlencoded'
    )
  }
  const kinds: readonly Kind[] = ['header', 'header', 'cookie', 'query', 'query', 'path', 'framing']
  const times = dice.pick([0, 0, 1, 1, 2])
  for (let time = 0; time < times; time += 1) spoils[dice.pick(kinds)](draft, dice)
  const isApi = draft.target.startsWith(`${apiPrefix}/`) || draft.target.startsWith('/openapi.json')
  return { draft, judge: (answer) => (isApi ? [] : judgeElsewhere(draft.method, answer)) }
}

function formBytes(fields: readonly (readonly [string, string])[], dice: Dice): Buffer {
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
  if (dice.once(4)) pairs.splice(dice.between(0, pairs.length), 0, dice.pick(odd))
  if (dice.once(5)) pairs.splice(dice.between(0, Math.max(0, pairs.length - 1)), 1)
  return Buffer.from(pairs.join('&').slice(0, 100_000))
}
