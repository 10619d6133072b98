import type { App } from '../../src/app.ts'
import { write } from '../../src/platform/db/database.ts'
import { parseWith } from '../../src/platform/http/validation.ts'
import { checkoutBody } from '../../src/shop/checkout/input.ts'
import { createPhoneOrder, findNamedItems } from '../../src/shop/checkout/phone-order.ts'
import { holdCards } from '../../src/shop/orders/refunds/credits.ts'
import { invite } from '../../src/shop/desk/people.ts'
import { markPaid } from '../../src/shop/payments/attempts.ts'
import type { Role } from '../../src/shop/desk/roles.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { Browser } from './browser.ts'
import { Passkey } from './passkey.ts'
import type { Asked } from './passkey.ts'
import type { RunningShop } from './running-shop.ts'

export type Seen = { status: number; html: string; location: string | null; headers: Headers }

/** A person at the desk with a browser and a passkey. */
export class DeskVisitor {
  readonly browser: Browser
  readonly passkey: Passkey
  email = ''
  private readonly url: string

  constructor({ app, apiRoot, url }: Pick<RunningShop, 'app' | 'apiRoot' | 'url'>) {
    this.browser = new Browser(apiRoot, { 'user-agent': 'Mozilla/5.0 (Linux; Android 16) Chrome/150' })
    this.passkey = new Passkey(app.publicUrl())
    this.url = url
  }

  async get(path: string): Promise<Seen> {
    return seen(await this.browser.fetch(`${this.url}${path}`))
  }

  async post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Seen> {
    const body = new URLSearchParams(fields)
    return seen(await this.browser.fetch(`${this.url}${path}`, { method: 'POST', body, headers }))
  }

  /** Sends the form of a page of the desk with these values, confirms, and uses the passkey when it is asked for. */
  async send(path: string, fields: Record<string, string> = {}): Promise<Seen> {
    const form = await this.get(path)
    return this.confirm(path, await this.post(path, { ...hiddenOf(form.html), ...fields }))
  }

  /** Answers a page that asks for a confirmation, or for the passkey. Any other page stays the answer. */
  async confirm(path: string, asking: Seen): Promise<Seen> {
    const asked = askedBy(asking.html)
    if (asking.status !== 200 || (asked === undefined && !asking.html.includes('name="sure"'))) return asking
    const more = asked === undefined ? {} : { credential: this.passkey.use(asked) }
    return this.post(path, { ...hiddenOf(asking.html), ...more })
  }

  async logIn(): Promise<Seen> {
    const asked = askedBy((await this.get('/desk/login')).html)
    return this.post('/desk/login', { next: '/desk', credential: this.passkey.use(asked ?? { challenge: '' }) })
  }
}

async function seen(response: Response): Promise<Seen> {
  const { status, headers } = response
  return { status, headers, location: headers.get('location'), html: await response.text() }
}

/** The hidden fields of the last form of a page. */
export function hiddenOf(html: string): Record<string, string> {
  const form = html.slice(html.lastIndexOf('<form method="post"'))
  const inputs = [
    ...form.matchAll(/<input type="(?:text|hidden)" name="([^"]+)" value="([^"]*)"(?: autocomplete="[^"]*" hidden)?>/g)
  ]
  return Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, unescaped(value)]))
}

/** What a page asks the passkey for. */
export function askedBy(html: string): Asked | undefined {
  const options = /data-options="([^"]+)"/.exec(html)?.[1]
  return options === undefined ? undefined : (JSON.parse(unescaped(options)) as Asked)
}

const unescaped = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

export function enableDesk(app: App): void {
  setSetting(app.db, 'desk.enabled', 'true', app.clock.now())
}

let people = 0

/** A person of a role who has accepted their invitation, and is logged in. */
export async function personAtDesk(
  shop: RunningShop,
  role: Role,
  email = `${role}-${(people += 1)}@shop.example`
): Promise<DeskVisitor> {
  const visitor = new DeskVisitor(shop)
  visitor.email = email
  const { url } = invite(shop.app, { email, role }, shop.app.clock.now())
  const { pathname, search } = new URL(url)
  const asked = askedBy((await visitor.get(`${pathname}${search}`)).html)
  const credential = visitor.passkey.create(asked ?? { challenge: '' })
  const { status, html } = await visitor.post(pathname, {
    token: new URLSearchParams(search).get('token') ?? '',
    credential
  })
  if (status !== 303) throw new Error(`the invitation was answered with ${status}: ${html}`)
  return visitor
}

/** An order that was paid by transfer (what gift cards leave of it), with two pieces of each product: without others, of mugs, and a lamp. Returns its id. */
export function paidOrder(
  app: App,
  { items = [], giftCardIds = [], ...rest }: { items?: string[]; shippingAddress?: object; giftCardIds?: number[] } = {}
): number {
  const now = app.clock.now()
  const named = items.map((slug) => ({ slug, sku: undefined, quantity: 2 }))
  const usual = [
    { slug: 'mug', sku: undefined, quantity: 2 },
    { slug: 'lamp', sku: undefined, quantity: 1 }
  ]
  const email = 'lena@example.com'
  const body = parseWith(checkoutBody, {
    items: findNamedItems(app.db, named.length > 0 ? named : usual),
    customer: { firstName: 'Lena', lastName: 'Blue' },
    ...rest
  })
  const { order } = createPhoneOrder(app, { body, email, holdMinutes: 60, mailed: false, ref: null }, now)
  write(app.db, (tx) => holdCards(tx, order.id, giftCardIds, now))
  markPaid(app.db, order.id, 'operator', now)
  return order.id
}
