import { join } from 'node:path'
import { expect, describe, it, onTestFinished } from 'vitest'
import { stripeApiVersion } from '../../src/platform/stripe-client.ts'
import { handledTypes } from '../../src/shop/payments/gateway-state.ts'
import { shopstead } from '../support/command-line.ts'
import { startShop } from '../support/running-shop.ts'
import { openStripeAccount } from '../support/stripe-account.ts'
import type { StripeAccount } from '../support/stripe-account.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type Setup = {
  url: string
  action: string
  secret: string | null
  endpoint: { id: string; status: string; apiVersion: string | null; enabledEvents: string[] }
  disabled: string[]
  stillEnabled: string[]
  proof: { result: string; part: string | null; message: string }
}

/** A shop at a port that stays the same when it starts again with another environment. */
async function shopAt(account: StripeAccount, env: Record<string, string> = {}) {
  const dataDir = join(temporaryFolder(), 'data')
  let shop = await startShop({ dataDir, env: { ...account.env, ...env } })
  onTestFinished(() => shop.stop())
  const port = new URL(shop.url).port
  const url = `${shop.url}/api/v1/webhooks/stripe`
  return {
    url,
    dataDir,
    get shop() {
      return shop
    },
    async restart(changed: Record<string, string>) {
      await shop.stop()
      shop = await startShop({ dataDir, env: { ...account.env, SHOPSTEAD_PORT: port, ...changed } })
    },
    setup: (args: string[] = [], more: Record<string, string> = {}) =>
      shopstead<Setup>(dataDir, ['stripe', 'setup', '--url', url, '--wait', '20', '--json', ...args], {
        env: { ...account.env, ...more }
      })
  }
}

const secretEnv = (secret: string | null) => ({ SHOPSTEAD_STRIPE_WEBHOOK_SECRET: secret ?? '' })

describe('shopstead stripe setup', () => {
  it('makes the endpoint, prints its secret once, and proves it by a delivery', async () => {
    const account = await openStripeAccount()
    const at = await shopAt(account)
    const first = await at.setup()
    expect(first.json).toMatchObject({
      url: at.url,
      action: 'created',
      endpoint: { status: 'enabled', apiVersion: stripeApiVersion, enabledEvents: [...handledTypes] },
      proof: { result: 'not_in_use', part: null }
    })
    expect(first.code).toBe(0)
    expect(first.json.secret).toMatch(/^whsec_/)
    const { data } = await account.stripe.webhookEndpoints.list()
    expect(data).toMatchObject([{ id: first.json.endpoint.id, url: at.url, api_version: stripeApiVersion }])

    const env = secretEnv(first.json.secret)
    await at.restart(env)
    const second = await at.setup([], env)
    expect(second.json).toMatchObject({
      action: 'unchanged',
      secret: null,
      endpoint: { id: first.json.endpoint.id },
      proof: { result: 'proven' }
    })
    expect((await account.stripe.webhookEndpoints.list()).data).toHaveLength(1)
    expect(at.shop.app.db.sqlite.prepare('SELECT count(*) FROM webhook_probes').pluck().get()).toBe(0)
  })

  it('tells a person the secret and what to do with it', async () => {
    const account = await openStripeAccount()
    const at = await shopAt(account)
    const { stdout, code } = await shopstead(at.dataDir, ['stripe', 'setup', '--url', at.url], { env: account.env })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^SHOPSTEAD_STRIPE_WEBHOOK_SECRET=whsec_\w+$/m)
    expect(stdout).toContain('not shown again')
    expect(stdout).toContain('restart')
    const again = await shopstead(at.dataDir, ['stripe', 'setup', '--url', at.url], { env: account.env })
    expect(again.stdout).toContain('--new-secret')
    expect(again.stdout).not.toContain('whsec_')
    expect(again.code).toBe(1)
  })

  it('replaces an endpoint at another API version, and disables it once the new one is in use', async () => {
    const account = await openStripeAccount()
    const at = await shopAt(account)
    const old = await account.stripe.webhookEndpoints.create({
      url: at.url,
      enabled_events: [...handledTypes],
      api_version: '2024-06-20'
    })
    await at.restart(secretEnv(old.secret ?? ''))
    const first = await at.setup([], secretEnv(old.secret ?? ''))
    expect(first.json).toMatchObject({ action: 'created', disabled: [], stillEnabled: [old.id] })
    expect(await account.stripe.webhookEndpoints.retrieve(old.id)).toMatchObject({ status: 'enabled' })
    // Before the restart, the server takes the old endpoint's deliveries: nothing may be switched off.
    const early = await at.setup([], secretEnv(first.json.secret))
    expect(early.json).toMatchObject({ proof: { result: 'not_in_use' }, disabled: [], stillEnabled: [old.id] })

    await at.restart(secretEnv(first.json.secret))
    const second = await at.setup([], secretEnv(first.json.secret))
    expect(second.json).toMatchObject({ action: 'unchanged', disabled: [old.id], stillEnabled: [] })
    expect(await account.stripe.webhookEndpoints.retrieve(old.id)).toMatchObject({ status: 'disabled' })
    expect((await at.setup([], secretEnv(first.json.secret))).json).toMatchObject({ disabled: [], stillEnabled: [] })
  })

  it('repairs events and status of an endpoint, and keeps the events that the operator added', async () => {
    const account = await openStripeAccount()
    const at = await shopAt(account)
    const { json } = await at.setup()
    const { id } = json.endpoint
    await account.stripe.webhookEndpoints.update(id, {
      enabled_events: ['payout.paid', 'invoice.paid'],
      disabled: true
    })
    const env = secretEnv(json.secret)
    await at.restart(env)
    const repaired = await at.setup([], env)
    expect(repaired.json).toMatchObject({ action: 'updated', endpoint: { id, status: 'enabled' } })
    expect(repaired.json.endpoint.enabledEvents).toEqual(expect.arrayContaining(['payout.paid', ...handledTypes]))
  })

  it('gives a new secret on request', async () => {
    const account = await openStripeAccount()
    const at = await shopAt(account)
    const first = await at.setup()
    const renewed = await at.setup(['--new-secret'])
    expect(renewed.json).toMatchObject({ action: 'created', stillEnabled: [first.json.endpoint.id] })
    expect(renewed.json.secret).not.toBe(first.json.secret)
    const env = secretEnv(renewed.json.secret)
    await at.restart(env)
    expect((await at.setup([], env)).json).toMatchObject({
      action: 'unchanged',
      endpoint: { id: renewed.json.endpoint.id },
      disabled: [first.json.endpoint.id],
      proof: { result: 'proven' }
    })
  })
})

describe('shopstead stripe setup says which part fails', () => {
  const quickly = ['--wait', '1']

  it('when Stripe does not deliver', async () => {
    const account = await openStripeAccount({ deliver: async () => ({ status: 0 }) })
    const at = await shopAt(account)
    const { code, json } = await at.setup(quickly)
    expect([code, json.proof]).toMatchObject([1, { result: 'failed', part: 'delivery' }])
    expect(json.secret).toMatch(/^whsec_/)
  })

  it('when the shop is not at the URL', async () => {
    const account = await openStripeAccount()
    const at = await shopAt(account)
    await at.shop.stop()
    const { code, json } = await at.setup(quickly)
    expect([code, json.proof]).toMatchObject([1, { result: 'failed', part: 'url' }])
    expect(json.proof.message).toContain(at.url)
  })

  it('when the secret is that of another endpoint', async () => {
    const account = await openStripeAccount()
    const at = await shopAt(account, secretEnv('whsec_another'))
    await account.stripe.webhookEndpoints.create({
      url: at.url,
      enabled_events: ['*'],
      api_version: stripeApiVersion
    })
    const { code, json } = await at.setup(quickly, secretEnv('whsec_another'))
    expect([code, json]).toMatchObject([1, { action: 'unchanged', proof: { result: 'failed', part: 'signature' } }])
    expect(json.proof.message).toContain('--new-secret')
  })

  it('when Stripe refuses the test object', async () => {
    const account = await openStripeAccount()
    const at = await shopAt(account)
    account.sandbox.addFault({
      target: 'checkout.sessions.create',
      fault: '402',
      moment: 'before',
      times: 1,
      skip: 0
    })
    const { code, json } = await at.setup(quickly)
    expect([code, json.proof]).toMatchObject([1, { result: 'failed', part: 'stripe' }])
  })

  it('when Stripe is not configured or refuses the key', async () => {
    const account = await openStripeAccount({ secretKey: 'sk_test_other' })
    const at = await shopAt(account)
    const refused = await at.setup()
    expect([refused.code, refused.json]).toMatchObject([69, { error: { code: 'DEPENDENCY_UNAVAILABLE' } }])
    const missing = await shopstead(at.dataDir, ['stripe', 'setup', '--json'], {
      env: { SHOPSTEAD_PAYMENTS: 'stripe' }
    })
    expect(missing).toMatchObject({ code: 69, json: { error: { code: 'CHECKOUT_GATEWAY_NOT_CONFIGURED' } } })
    const sandbox = await shopstead(at.dataDir, ['stripe', 'setup', '--json'])
    expect(sandbox).toMatchObject({ code: 1, json: { error: { code: 'CONFLICT' } } })
    const noUrl = await shopstead(at.dataDir, ['stripe', 'setup', '--json'], { env: account.env })
    expect(noUrl).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } })
  })
})
