import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Gateway } from '../../faults/shop-and-gateway.ts'
import { quay } from '../../support/addresses.ts'
import { Browser } from '../../support/browser.ts'
import type { CrashingShop } from '../crash/crashing-shop.ts'
import type { Random } from '../random.ts'

/** An order that the shop has acknowledged. */
export type Placed = { id: number; email: string; answeredAt: number }

type Context = { shop: CrashingShop; gateway: Gateway; orders: Placed[]; isOver: () => boolean }

/** A buyer who places one order after another, by card on the site or on the gateway's page, until the machine is lost. */
export async function runBuyer(context: Context, random: Random): Promise<void> {
  const { shop, gateway, orders } = context
  while (!context.isOver()) {
    const email = `${randomUUID()}@example.com`
    const items = [{ productId: 1, quantity: 1 }]
    const byToken = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example' }
    const how = random.oneIn(2) ? byToken : { shippingAddress: quay }
    const answer = await new Browser(shop.apiRoot)
      .post('/store/checkout-session', { items, customer: { email }, ...how })
      .catch(() => undefined)
    if (answer === undefined) return
    if (answer.status !== 200) throw new Error(`a checkout returned ${answer.status}: ${answer.text}`)
    const { orderId, checkoutUrl } = answer.data as { orderId: string; checkoutUrl?: string }
    orders.push({ id: Number(orderId), email, answeredAt: Date.now() })
    if (checkoutUrl !== undefined && checkoutUrl.includes('/sandbox/checkout/')) await pay(gateway, checkoutUrl)
    await sleep(random.between(0, 40))
  }
}

async function pay({ sandbox }: Gateway, url: string): Promise<void> {
  const body = new URLSearchParams({ payment_method: 'pm_card_visa' })
  await sandbox.pages(new Request(url, { method: 'POST', body }))
}
