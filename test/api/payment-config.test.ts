import { describe, expect, it, onTestFinished } from 'vitest'
import { parseConfig } from '../../src/platform/config/config.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { startShop } from '../support/running-shop.ts'

describe('GET /store/payment-config', () => {
  it('names the sandbox’s form, and the ways to pay, with an ETag', async () => {
    const shop = await startShop({ env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' } })
    onTestFinished(() => shop.stop())
    const { data, headers } = await shop.visitor().get<{ scriptUrl: string }>('/store/payment-config')
    expect(data).toEqual({
      strategies: ['redirect_to_store', 'token_handoff'],
      methods: ['card', 'manual'],
      mode: 'test',
      publishableKey: 'pk_test_sandbox',
      scriptUrl: `${shop.app.publicUrl()}/sandbox/stripe.js`,
      methodConfiguration: null,
      currency: 'EUR',
      currencyDecimals: 2,
      store: { open: true, message: null, until: null }
    })
    expect(headers.get('cache-control')).toContain('public')
    const etag = headers.get('etag') ?? ''
    const ask = () => shop.visitor().get('/store/payment-config', { 'if-none-match': etag })
    expect((await ask()).status).toBe(304)
    setSetting(shop.app.db, 'payments.methodConfiguration', 'pmc_123', 0)
    expect((await ask()).data).toMatchObject({ methodConfiguration: 'pmc_123' })
    const script = await fetch(`${shop.url}/sandbox/stripe.js`)
    expect([script.status, script.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
  })

  it('has Stripe’s publishable key and script, and nothing secret', async () => {
    const env = {
      SHOPSTEAD_PAYMENTS: 'stripe',
      SHOPSTEAD_STRIPE_SECRET_KEY: 'sk_test_Secret1',
      SHOPSTEAD_STRIPE_PUBLISHABLE_KEY: 'pk_test_Public1',
      SHOPSTEAD_STRIPE_WEBHOOK_SECRET: 'whsec_Secret2'
    }
    const shop = await startShop({ env })
    onTestFinished(() => shop.stop())
    const { data, text } = await shop.visitor().get('/store/payment-config')
    expect(data).toMatchObject({
      methods: ['card'],
      publishableKey: 'pk_test_Public1',
      scriptUrl: expect.stringMatching(/^https:\/\/js\.stripe\.com\/[a-z]+\/stripe\.js$/)
    })
    expect(text).not.toMatch(/sk_|whsec_|Secret/)
  })

  it('offers what is left without keys', async () => {
    const shop = await startShop({ env: { SHOPSTEAD_PAYMENTS: 'stripe,manual' } })
    onTestFinished(() => shop.stop())
    const { data } = await shop.visitor().get('/store/payment-config')
    expect(data).toMatchObject({
      strategies: ['redirect_to_store'],
      methods: ['manual'],
      publishableKey: null,
      scriptUrl: null
    })
  })
})

it('a publishable key has the mode of the secret key', () => {
  const env = { SHOPSTEAD_ENV: 'production', SHOPSTEAD_STRIPE_SECRET_KEY: 'sk_live_1' }
  const parse = (key: string) => () => parseConfig({ ...env, SHOPSTEAD_STRIPE_PUBLISHABLE_KEY: key })
  expect(parse('pk_live_1')).not.toThrow()
  expect(parse('pk_test_1')).toThrow('SHOPSTEAD_STRIPE_PUBLISHABLE_KEY')
  expect(parse('sk_live_1')).toThrow('SHOPSTEAD_STRIPE_PUBLISHABLE_KEY')
})
