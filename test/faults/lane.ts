import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { settlePayments } from '../../src/shop/payments/settle-payments.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { serveSandbox } from '../../src/sandbox/socket.ts'
import type { Browser } from '../support/browser.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

/** A shop and the gateway that it pays with, for one run after the other. */
export type Lane = {
  sandbox: Sandbox
  visitor(): Browser
  /** One reconciliation, of a shop that has just started when it had died. */
  reconcile(): Promise<void>
  close(): Promise<void>
}

export const webhookSecret = 'whsec_of_the_fault_matrix'
export const stripeEnv = (origin: string): Record<string, string> => ({
  SHOPSTEAD_PAYMENTS: 'stripe',
  SHOPSTEAD_STRIPE_SECRET_KEY: 'sk_test_faultmatrix',
  SHOPSTEAD_STRIPE_WEBHOOK_SECRET: webhookSecret,
  SHOPSTEAD_STRIPE_API_BASE: origin
})

/** Goods that nobody runs out of, and no limit on how often one address may buy. */
export const shelf = {
  products: [{ slug: 'mug', name: 'Mug', price: '12.50' }],
  coupons: [{ code: 'TEN', percent: 10 }]
}

export function openLimits(shop: RunningShop): void {
  const off = shop.app.db.sqlite.prepare('INSERT OR REPLACE INTO settings (key, value, updated_at) VALUES (?, ?, 0)')
  for (const bucket of ['register_ip', 'checkout_ip', 'checkout_decline']) off.run(`limits.${bucket}`, '"off"')
}

/** The stand-in inside the shop's own process, behind stripe-node's `httpClient`. */
export async function laneInProcess(): Promise<Lane> {
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

/** The stand-in behind a port, as Stripe is: stripe-node as in production, webhooks over HTTP. */
export async function laneOverSocket(): Promise<Lane> {
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

/** A gateway of its own, which outlives whatever happens to the shop at `shopUrl()`. */
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
