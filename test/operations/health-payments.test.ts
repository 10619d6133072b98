import { randomUUID } from 'node:crypto'
import { Stripe } from 'stripe'
import { describe, expect, it, onTestFinished } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { stripeApiVersion } from '../../src/platform/stripe-client.ts'
import { handledTypes } from '../../src/shop/payments/gateway-state.ts'
import { warn } from '../../src/shop/payments/warnings.ts'
import type { WarningKind } from '../../src/shop/payments/warnings.ts'
import { shopstead } from '../support/command-line.ts'
import { startShop } from '../support/running-shop.ts'
import { openStripeAccount } from '../support/stripe-account.ts'
import { checkOf, quietShop, silent } from './health-support.ts'

const url = 'https://shop.example/api/v1/webhooks/stripe'
const advice = expect.stringContaining('shopstead stripe setup')
const good: Stripe.WebhookEndpointCreateParams = {
  url,
  enabled_events: [...handledTypes],
  api_version: stripeApiVersion
}

describe('the check of Stripe’s webhook endpoint', () => {
  async function account() {
    const { stripe, env } = await openStripeAccount()
    const dataDir = await quietShop()
    const more = { SHOPSTEAD_PUBLIC_URL: 'https://shop.example', SHOPSTEAD_STRIPE_WEBHOOK_SECRET: 'whsec_1' }
    return { stripe, check: () => checkOf('webhooks from Stripe', dataDir, { ...env, ...more }) }
  }

  it('names an endpoint that is missing, disabled, or for another address', async () => {
    const { stripe, check } = await account()
    await stripe.webhookEndpoints.create({ ...good, url: 'https://other.example/api/v1/webhooks/stripe' })
    expect(await check()).toMatchObject({ status: 'warning', message: expect.stringContaining(url), advice })
    const { id } = await stripe.webhookEndpoints.create(good)
    expect(await check()).toMatchObject({ status: 'ok' })
    await stripe.webhookEndpoints.update(id, { disabled: true })
    expect(await check()).toMatchObject({ status: 'warning', message: expect.stringMatching(/disabled/), advice })
  })

  it('names the API version of the endpoint when it differs from the pinned one', async () => {
    const { stripe, check } = await account()
    const { id } = await stripe.webhookEndpoints.create({ ...good, api_version: '2024-06-20' })
    const differs = await check()
    expect(differs).toMatchObject({ status: 'warning', advice })
    expect(differs?.message).toContain('2024-06-20')
    expect(differs?.message).toContain(stripeApiVersion)
    await stripe.webhookEndpoints.del(id)
    await stripe.webhookEndpoints.create({ url, enabled_events: ['*'] })
    expect(await check()).toMatchObject({
      status: 'warning',
      message: expect.stringContaining("account's default"),
      advice
    })
  })

  it('names the event types that Stripe does not send', async () => {
    const { stripe, check } = await account()
    await stripe.webhookEndpoints.create({ ...good, enabled_events: ['invoice.paid', 'payment_intent.succeeded'] })
    const found = await check()
    expect(found).toMatchObject({ status: 'warning', advice })
    expect(found?.message).toContain('charge.refunded')
    expect(found?.message).not.toContain('invoice.paid,')
  })

  it('says what is missing when Stripe is not configured or does not answer', async () => {
    const dataDir = await quietShop()
    const stripe = { SHOPSTEAD_PAYMENTS: 'stripe', SHOPSTEAD_STRIPE_API_BASE: 'http://127.0.0.1:1' }
    expect(await checkOf('webhooks from Stripe', dataDir, stripe)).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('SHOPSTEAD_STRIPE_SECRET_KEY is not set')
    })
    const keys = { SHOPSTEAD_STRIPE_SECRET_KEY: 'sk_test_1', SHOPSTEAD_STRIPE_WEBHOOK_SECRET: 'whsec_1' }
    expect(await checkOf('webhooks from Stripe', dataDir, { ...stripe, ...keys })).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('api_connection_error')
    })
  })
})

describe('the check of payment warnings', () => {
  const shopWith = (warnings: [WarningKind, string][]) =>
    quietShop(({ db }) => {
      for (const [kind, objectId] of warnings)
        write(db, (tx) =>
          warn(
            { tx, log: silent, by: 'test', now: 0 },
            { orderId: null, kind, objectId, message: `About ${objectId}.` }
          )
        )
    })

  it('shows each kind in a line with its number and its newest warning', async () => {
    const many = Array.from({ length: 40 }, (_, at): [WarningKind, string] => ['foreign_object', `pi_${at}`])
    const dataDir = await shopWith([['dispute', 'dp_1'], ...many])
    const found = await checkOf('payment warnings', dataDir)
    const lines = found?.message.split('\n') ?? []
    expect(lines).toHaveLength(2)
    expect(lines).toContainEqual(expect.stringContaining('About dp_1.'))
    expect(lines).toContainEqual(expect.stringMatching(/^40 .*About pi_39\.$/))
    expect(found?.message).toContain('shopstead orders warnings --kind foreign_object')
    const { stdout } = await shopstead(dataDir, ['health'])
    expect(stdout).toContain('About dp_1.')
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })

  it('are listed by kind', async () => {
    const dataDir = await shopWith([
      ['dispute', 'dp_1'],
      ['foreign_object', 'pi_1']
    ])
    const listed = await shopstead(dataDir, ['orders', 'warnings', '--kind', 'dispute', '--json'])
    expect(listed.json).toMatchObject({ warnings: [{ kind: 'dispute', objectId: 'dp_1' }] })
    const wrong = await shopstead(dataDir, ['orders', 'warnings', '--kind', 'disputes', '--json'])
    expect([wrong.code, wrong.json]).toMatchObject([2, { error: { code: 'USAGE' } }])
  })
})

describe('the check of webhook signatures', () => {
  const secret = 'whsec_right'

  /** Posts an event with a signature by each of the secrets. */
  async function postTo(address: string, secrets: readonly string[]): Promise<number> {
    const body = JSON.stringify({ id: `evt_${randomUUID()}`, type: 'ping', livemode: false, created: 1, data: {} })
    const signatures = secrets.map((each) => Stripe.webhooks.generateTestHeaderString({ payload: body, secret: each }))
    const joined = signatures.join(',').replaceAll(/,t=\d+/g, '')
    const header = joined === '' ? {} : { 'stripe-signature': joined }
    return (await fetch(`${address}/api/v1/webhooks/stripe`, { method: 'POST', body, headers: header })).status
  }

  /** A shop and its Stripe account, whose events happened four minutes ago. */
  async function shopAtStripe() {
    const { env, stripe, sandbox } = await openStripeAccount({ clock: { now: () => Date.now() - 4 * 60_000 } })
    const shop = await startShop({ env: { ...env, SHOPSTEAD_STRIPE_WEBHOOK_SECRET: secret } })
    onTestFinished(() => shop.stop())
    const endpoint = { url: `${shop.url}/api/v1/webhooks/stripe`, enabled_events: good.enabled_events }
    const writes = () => Number(shop.app.db.sqlite.prepare('SELECT total_changes()').pluck().get())
    return {
      writes,
      stripe,
      endpoint,
      env,
      pay: async () => {
        const token = { amount: 500, currency: 'eur', payment_method: 'pm_card_visa', confirm: true }
        await stripe.paymentIntents.create({ ...token, return_url: 'https://shop.example' })
        await sandbox.deliverDue()
      },
      post: (...secrets: string[]) => postTo(shop.url, secrets),
      check: () => checkOf('webhook signatures', shop.dataDir, env)
    }
  }

  it('fails when many are refused, none was accepted since, and Stripe cannot deliver an event', async () => {
    const { stripe, endpoint, pay, post, check } = await shopAtStripe()
    await stripe.webhookEndpoints.create(endpoint)
    await pay()
    for (let count = 0; count < 3; count += 1) expect(await post('whsec_old')).toBe(400)
    expect(await check()).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/could not deliver evt_\w+ .* the webhook secret is wrong/),
      advice
    })
    expect(await post(secret)).toBe(200)
    expect(await check()).toMatchObject({ status: 'ok', message: expect.stringContaining('wrong signature: ') })
  })

  it('passes when an anonymous client forges deliveries, also while another endpoint of the account is broken', async () => {
    const { stripe, endpoint, pay, post, check } = await shopAtStripe()
    for (let count = 0; count < 60; count += 1) await post('whsec_forged')
    expect(await check()).toMatchObject({ status: 'ok', message: expect.stringContaining('Other senders') })
    await stripe.webhookEndpoints.create({ ...endpoint, url: 'http://127.0.0.1:9/elsewhere' })
    await pay()
    expect(await post(secret)).toBe(200)
    for (let count = 0; count < 60; count += 1) await post('whsec_forged')
    expect(await check()).toMatchObject({ status: 'ok', message: expect.stringContaining('Other senders') })
  })

  it('warns when many are refused and Stripe does not say whether its deliveries fail', async () => {
    const { env, post, check } = await shopAtStripe()
    for (let count = 0; count < 3; count += 1) await post('whsec_forged')
    env['SHOPSTEAD_STRIPE_API_BASE'] = 'http://127.0.0.1:9'
    expect(await check()).toMatchObject({ status: 'warning', message: expect.stringContaining('Stripe did not say') })
  })

  it('accepts a delivery that a rotated and the current secret signed, and passes with refused ones beside it', async () => {
    const { post, check } = await shopAtStripe()
    expect(await post('whsec_old', secret)).toBe(200)
    expect(await check()).toMatchObject({ status: 'ok', message: 'No delivery was refused in the last week.' })
    expect(await post('whsec_old')).toBe(400)
    expect(await check()).toMatchObject({ status: 'ok', message: expect.stringContaining('wrong signature: 1') })
  })

  it('does not count posts without a signature, and does not write a row for each forged one', async () => {
    const { post, check, writes } = await shopAtStripe()
    const before = writes()
    for (let count = 0; count < 20; count += 1) await post()
    expect(writes()).toBe(before)
    expect(await check()).toMatchObject({ status: 'ok' })
    for (let count = 0; count < 60; count += 1) await post('whsec_forged')
    expect(writes() - before).toBeLessThanOrEqual(20)
  })
})
