import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { settlePayments } from '../../src/shop/payments/reconcile.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { serveSandbox } from '../../src/sandbox/http/socket.ts'
import type { Browser } from '../support/browser.ts'
import { withoutHoldLimits } from '../support/hold-limits.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

/** A shop and its gateway, which a worker uses for one run after another. */
export type ShopAndGateway = {
  sandbox: Sandbox
  visitor(): Browser
  /** Runs the reconciler once. */
  reconcile(): Promise<void>
  close(): Promise<void>
}

export const webhookSecret = 'whsec_of_the_fault_matrix'
/** The environment of a shop that uses the gateway at this origin. */
export const stripeEnv = (origin: string): Record<string, string> => ({
  SHOPSTEAD_PAYMENTS: 'stripe',
  SHOPSTEAD_STRIPE_SECRET_KEY: 'sk_test_faultmatrix',
  SHOPSTEAD_STRIPE_WEBHOOK_SECRET: webhookSecret,
  SHOPSTEAD_STRIPE_API_BASE: origin
})

/** A product without stock limit, a coupon, shipping and a tax. */
export const shelf = {
  products: [{ slug: 'mug', name: 'Mug', price: '12.50' }],
  coupons: [{ code: 'TEN', percent: 10 }],
  shipping: [{ zone: 'Germany', countries: ['DE'], methods: [{ id: 'parcel', name: 'Parcel', amount: '4.90' }] }],
  tax: [{ country: 'DE', class: 'standard', ratePercent: 19 }]
}

/** Turns the rate limits of registration and checkout off. The tax is a line of its own at the gateway. */
export function openLimits(shop: RunningShop): void {
  const off = shop.app.db.sqlite.prepare('INSERT OR REPLACE INTO settings (key, value, updated_at) VALUES (?, ?, 0)')
  for (const bucket of ['register_ip', 'checkout_ip', 'checkout_decline']) off.run(`limits.${bucket}`, '"off"')
  for (const [key, value] of Object.entries(withoutHoldLimits)) off.run(key, value)
  off.run('tax.pricesIncludeTax', 'false')
}

/** A shop with the sandbox in its own process, as stripe-node's `httpClient`. */
export async function openInProcess(): Promise<ShopAndGateway> {
  const shop = await startShop({ seed: shelf })
  openLimits(shop)
  const { sandbox } = shop.app
  if (sandbox === null) throw new Error('this shop has no sandbox')
  return {
    sandbox,
    visitor: () => shop.visitor(),
    reconcile: async () => void (await settlePayments(shop.app, { underWay: 'take' })),
    close: () => shop.stop()
  }
}

/** A shop with the sandbox on a port, like Stripe: stripe-node's own HTTP client, and webhooks over HTTP. */
export async function openOverSocket(): Promise<ShopAndGateway> {
  const gateway = await openGateway(() => shop.url)
  const shop = await startShop({ seed: shelf, env: stripeEnv(gateway.origin) })
  openLimits(shop)
  return {
    sandbox: gateway.sandbox,
    visitor: () => shop.visitor(),
    reconcile: async () => void (await settlePayments(shop.app, { underWay: 'take' })),
    async close() {
      await gateway.close()
      await shop.stop()
    }
  }
}

export type Gateway = { sandbox: Sandbox; origin: string; close(): Promise<void> }

/** Starts a gateway that keeps running when the shop at `shopUrl()` stops. */
export async function openGateway(shopUrl: () => string, onKill?: () => void): Promise<Gateway> {
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-gateway-'))
  const sandbox = createSandbox({
    file: join(folder, 'sandbox.db'),
    publicUrl: shopUrl,
    clock: systemClock,
    webhookSecret,
    deliver: (body, headers) =>
      fetch(`${shopUrl()}/api/v1/webhooks/stripe`, {
        method: 'POST',
        body,
        headers,
        signal: AbortSignal.timeout(30_000)
      }),
    log: { warn: () => undefined },
    ...(onKill === undefined ? {} : { onKill })
  })
  const server = await serveSandbox(sandbox)
  sandbox.start()
  return {
    sandbox,
    origin: server.origin,
    async close() {
      await server.close()
      sandbox.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
