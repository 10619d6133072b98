import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { findAttribution, getOrder, itemsOf } from '../../src/shop/orders/find.ts'
import type { SettingKey } from '../../src/shop/settings/definitions.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { quay } from '../support/addresses.ts'
import type { Answer, Browser } from '../support/browser.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

export type Result = {
  checkoutUrl?: string
  orderId: string | number
  orderToken: string
  statusUrl: string
  paymentStatus?: string
  status?: string
}

export const mug = { productId: 1, quantity: 1 }
export const lamp = { productId: 2, quantity: 1 }
export const print = { productId: 3, quantity: 1 }
export const lastOne = { productId: 4, quantity: 1 }
export const freeSheet = { productId: 5, quantity: 1 }
export const hidden = { productId: 6, quantity: 1 }

export const handoff = {
  strategy: 'token_handoff',
  returnUrl: 'https://front.example/done',
  paymentToken: 'pm_card_visa'
}

/** A shop that ends with the test; `settings` as an operator types them. */
export async function shopFor(
  options: Parameters<typeof startShop>[0] & { settings?: { [K in SettingKey]?: string } } = {}
): Promise<RunningShop> {
  const { settings = {}, ...rest } = options
  const shop = await startShop(rest)
  onTestFinished(() => shop.stop())
  set(shop, settings)
  return shop
}

export function set(shop: RunningShop, settings: { [K in SettingKey]?: string }): void {
  for (const [key, value] of Object.entries(settings)) {
    setSetting(shop.app.db, key as SettingKey, value, shop.app.clock.now())
  }
}

/** Sends a checkout; a redirect gets an address, because it would lead to the page that asks for one otherwise. */
export function checkOut(
  visitor: Browser,
  body: unknown = { items: [mug] },
  { query = '', key }: { query?: string; key?: string } = {}
): Promise<Answer<Result>> {
  const isRedirect = typeof body === 'object' && body !== null && 'items' in body && !('paymentToken' in body)
  const sent = isRedirect ? { shippingAddress: quay, ...body } : body
  return visitor.post(`/store/checkout-session${query}`, sent, key === undefined ? {} : { 'idempotency-key': key })
}

/** Someone with an account who is logged in. */
export async function loggedIn(shop: RunningShop, email = 'lena@shop.example'): Promise<Browser> {
  await makeUser(shop.app, { email, verified: true })
  const visitor = shop.visitor()
  const answer = await visitor.post('/auth/login', { email, password: goodPassword })
  if (answer.status !== 200) throw new Error(answer.text)
  return visitor
}

export function fieldErrors(answer: Answer<unknown>): string[] {
  return Object.keys(answer.error.details.fieldErrors ?? {})
}

/** Everything that is stored of the order that an answer names. */
export function orderOf(shop: RunningShop, answer: Answer<Result>) {
  const id = Number(answer.data.orderId)
  const { db } = shop.app
  return { order: getOrder(db, id), items: itemsOf(db, id), attribution: findAttribution(db, id) }
}

export function count(shop: RunningShop, table: 'orders' | 'users' | 'payment_attempts' | 'idempotency_keys'): number {
  return Number(shop.app.db.sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
}

/** Something on a port of its own that a shop takes for Stripe (SHOPSTEAD_STRIPE_API_BASE). */
export async function fakeStripe(
  answer: (req: IncomingMessage, res: ServerResponse) => void
): Promise<Record<string, string>> {
  const server = createServer((req, res) => {
    req.resume()
    req.on('end', () => answer(req, res))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    SHOPSTEAD_PAYMENTS: 'stripe',
    SHOPSTEAD_STRIPE_SECRET_KEY: 'sk_test_abc',
    SHOPSTEAD_STRIPE_WEBHOOK_SECRET: 'whsec_abc',
    SHOPSTEAD_STRIPE_API_BASE: `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
}

export function stripeError(res: ServerResponse, status: number, error: object): void {
  res.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_test' })
  res.end(JSON.stringify({ error }))
}
