import { write } from '../../../src/platform/db/database.ts'
import { warn } from '../../../src/shop/payments/warnings.ts'
import { shopstead } from '../../support/command-line.ts'
import { silent } from '../health-support.ts'
import { byVariable, set, unset } from './break.ts'
import type { Break } from './break.ts'
import { listen, soundEndpoint } from './broken-shop.ts'
import type { BrokenShop } from './broken-shop.ts'

export const paymentBreaks: Break[] = [
  {
    what: 'a missing Stripe key',
    break: unset('SHOPSTEAD_STRIPE_SECRET_KEY'),
    check: 'payments',
    status: 'failed',
    message: /is not set/,
    advice: /secret key from Stripe's dashboard/,
    repair: byVariable('SHOPSTEAD_STRIPE_SECRET_KEY')
  },
  {
    what: 'a Stripe that does not answer',
    break: set({ SHOPSTEAD_STRIPE_API_BASE: 'http://127.0.0.1:1' }),
    check: 'payments',
    status: 'failed',
    message: /did not answer/,
    advice: /the network/,
    repair: byVariable('SHOPSTEAD_STRIPE_SECRET_KEY')
  },
  {
    what: 'a test key in production',
    break: set({ SHOPSTEAD_ENV: 'production', SHOPSTEAD_ALLOW_HTTP: 'true' }),
    check: 'payments',
    status: 'warning',
    message: /test key.*paid without money/,
    advice: /live key/,
    repair: byVariable('SHOPSTEAD_STRIPE_SECRET_KEY')
  },
  {
    what: 'a missing webhook secret',
    break: unset('SHOPSTEAD_STRIPE_WEBHOOK_SECRET'),
    check: 'webhooks from Stripe',
    status: 'failed',
    message: /is not set/,
    advice: /"shopstead stripe setup"\. It prints the secret/,
    repair: byVariable('SHOPSTEAD_STRIPE_WEBHOOK_SECRET')
  },
  {
    what: 'a webhook endpoint that is missing at Stripe',
    break: removeEndpoints,
    check: 'webhooks from Stripe',
    status: 'warning',
    message: /has no webhook endpoint/,
    advice: /"shopstead stripe setup"/,
    repair: shopsteadSetup
  },
  {
    what: 'a webhook endpoint that Stripe has disabled',
    async break(world) {
      const [endpoint] = (await world.stripe.webhookEndpoints.list()).data
      await world.stripe.webhookEndpoints.update(endpoint?.id ?? '', { disabled: true })
    },
    check: 'webhooks from Stripe',
    status: 'warning',
    message: /is disabled/,
    advice: /"shopstead stripe setup"/,
    repair: shopsteadSetup
  },
  {
    what: 'a webhook endpoint at another API version',
    async break(world) {
      await removeEndpoints(world)
      const endpoint = soundEndpoint(world.soundEnv['SHOPSTEAD_PUBLIC_URL'] ?? '')
      await world.stripe.webhookEndpoints.create({ ...endpoint, api_version: '2024-06-20' })
    },
    check: 'webhooks from Stripe',
    status: 'warning',
    message: /API version 2024-06-20/,
    advice: /"shopstead stripe setup"/,
    repair: shopsteadSetup
  },
  {
    what: 'an account that Stripe has not enabled',
    break: (world) => setAccount(world, { charges_enabled: false, payouts_enabled: false }),
    check: 'stripe account',
    status: 'failed',
    message: /no charges for this account \(requirements\.past_due\): buyers cannot pay/,
    advice: /Stripe's dashboard/,
    repair: enableAccount
  },
  {
    what: 'payouts that Stripe has stopped',
    break: (world) => setAccount(world, { charges_enabled: true, payouts_enabled: false }),
    check: 'stripe account',
    status: 'warning',
    message: /stopped the payouts/,
    advice: /Stripe's dashboard/,
    repair: enableAccount
  },
  {
    what: 'a payment that needs attention',
    break({ shop }) {
      const facts = { orderId: null, kind: 'dispute' as const, objectId: 'dp_1', message: 'About dp_1.' }
      write(shop.app.db, (tx) => warn({ tx, log: silent, by: 'test', now: Date.now() }, facts))
    },
    check: 'payment warnings',
    status: 'warning',
    message: /About dp_1/,
    advice: /"shopstead orders warnings"/,
    async repair({ dataDir }) {
      const { json } = await shopstead<{ warnings: { id: number }[] }>(dataDir, ['orders', 'warnings', '--json'])
      await shopstead(dataDir, ['orders', 'warnings', '--settled', String(json.warnings[0]?.id)])
    }
  }
]

/** Only a live key tells whether an account is enabled, and the sandbox has none: this Stripe only shows the account. */
async function setAccount(world: BrokenShop, enabled: object): Promise<void> {
  const account = { ...enabled, requirements: { disabled_reason: 'requirements.past_due' } }
  const origin = await listen(world.onEnd, (_request, response) => response.end(JSON.stringify(account)))
  const live = { SHOPSTEAD_ENV: 'production', SHOPSTEAD_ALLOW_HTTP: 'true', SHOPSTEAD_STRIPE_SECRET_KEY: 'sk_live_1' }
  set({ ...live, SHOPSTEAD_STRIPE_API_BASE: origin })(world)
}

function enableAccount(world: BrokenShop): void {
  world.env = { ...world.soundEnv }
}

async function removeEndpoints({ stripe }: BrokenShop): Promise<void> {
  for (const { id } of (await stripe.webhookEndpoints.list()).data) await stripe.webhookEndpoints.del(id)
}

async function shopsteadSetup({ dataDir, env }: BrokenShop): Promise<void> {
  await shopstead(dataDir, ['stripe', 'setup', '--wait', '1'], { env })
}
