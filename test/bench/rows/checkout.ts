import { compare } from '../measure/compare.ts'
import type { Side } from '../measure/compare.ts'
import type { Asked } from '../measure/load.ts'
import type { Row } from './row.ts'

/** Two products, the first another one each time. */
const items = [
  { productId: '{n}', quantity: 1 },
  { productId: 7, quantity: 2 }
]

export const purchase = {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ items }).replace('"{n}"', '{n}')
} as const satisfies Omit<Asked, 'url'>

export const checkoutRow: Row = {
  name: 'checkout',
  about: 'POST /store/checkout-session, redirect, sandbox',
  async measure(field) {
    const stage = await field.stage('sandbox')
    const sides = [
      stage.shop('/api/v1/store/checkout-session', purchase),
      stage.reference('/store/checkout-session', purchase)
    ] as const
    for (const side of sides) await assertBuys(side)
    const [shop, reference] = await compare(...sides, field.rounds)
    const comparison = { name: this.about, against: 'the same durable transaction', bar: 0.6, shop, reference }
    const failures = {
      name: 'checkouts that failed at 32 connections',
      value: shop.failures,
      unit: 'failures'
    } as const
    return [
      { kind: 'comparison', ...comparison },
      { kind: 'figure', ...failures, most: 0 }
    ]
  }
}

async function assertBuys({ url, method = 'POST', headers = {}, body = '' }: Side): Promise<void> {
  const response = await fetch(url, { method, headers, body: body.replace('{n}', '1') })
  const { data } = (await response.json()) as { data?: { checkoutUrl?: string; orderId?: string } }
  if (data?.checkoutUrl === undefined || data.orderId === undefined) throw new Error(`${url} sold nothing.`)
}
