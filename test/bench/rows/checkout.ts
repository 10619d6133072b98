import { compare } from '../measure/compare.ts'
import type { Side } from '../measure/compare.ts'
import type { RequestSpec } from '../measure/load.ts'
import type { Row } from './row.ts'
import { quay } from '../../support/addresses.ts'

/** Two products; the first one differs in each request. */
const items = [
  { productId: '{n}', quantity: 1 },
  { productId: 7, quantity: 2 }
]

/** A cart as a quote takes it. */
export const cart = {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ items, shippingAddress: quay }).replace('"{n}"', '{n}')
} as const satisfies Omit<RequestSpec, 'url'>

/** The cart of a guest whom no other request has: with their own email, and from their own address. */
export const purchase = {
  ...cart,
  body: cart.body.replace(/}$/, ',"customer":{"email":"guest-{guest}@shop.example"}}')
} as const satisfies Omit<RequestSpec, 'url'>

export const checkoutRow: Row = {
  name: 'checkout',
  about: 'POST /store/checkout-session, redirect, sandbox',
  async measure(context) {
    const servers = await context.servers('sandbox')
    const sides = [
      servers.shop('/api/v1/store/checkout-session', purchase),
      servers.reference('/store/checkout-session', purchase)
    ] as const
    for (const side of sides) await assertBuys(side)
    const [shop, reference] = await compare(...sides, context.rounds)
    const comparison = { name: this.about, against: 'the same durable transaction', target: 0.6, shop, reference }
    const { connections } = context.rounds
    return [
      { kind: 'comparison', ...comparison, serves: 'orders' },
      {
        kind: 'figure',
        name: `a checkout, with ${connections} at once`,
        value: 1_000 / shop.requestsASecond,
        unit: 'ms',
        max: 1,
        spread: shop.spread
      },
      {
        kind: 'figure',
        name: `failed checkouts with ${connections} at once`,
        value: shop.failures,
        unit: 'failures',
        max: 0
      }
    ]
  }
}

async function assertBuys({ url, method = 'POST', headers = {}, body = '' }: Side): Promise<void> {
  const response = await fetch(url, { method, headers, body: body.replace('{n}', '1').replace('{guest}', '0') })
  const { data } = (await response.json()) as { data?: { checkoutUrl?: string; orderId?: string } }
  if (data?.checkoutUrl === undefined || data.orderId === undefined) throw new Error(`${url} created no order.`)
}
