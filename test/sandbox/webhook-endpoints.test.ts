import { Stripe } from 'stripe'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBench, refusalOf, sessionParams } from './sandbox-support.ts'
import type { Bench } from './sandbox-support.ts'

type Sent = { url: string | undefined; body: string; signature: string }

/** A sandbox without a webhook endpoint, as a new Stripe account has none. */
async function newAccount(): Promise<Bench & { sent: Sent[] }> {
  const sent: Sent[] = []
  const bench = await createBench({
    webhookEndpoint: false,
    deliver: async (body, headers, url) => {
      sent.push({ url, body, signature: headers['stripe-signature'] ?? '' })
      return { status: 200 }
    }
  })
  onTestFinished(() => bench.close())
  return { ...bench, sent }
}

const address = 'https://shop.test/api/v1/webhooks/stripe'

describe('webhook endpoints of the sandbox', () => {
  it('tells the secret once, at creation', async () => {
    const { stripe } = await newAccount()
    expect((await stripe.webhookEndpoints.list()).data).toEqual([])
    const created = await stripe.webhookEndpoints.create({
      url: address,
      enabled_events: ['invoice.paid'],
      api_version: '2024-06-20'
    })
    expect(created).toMatchObject({ api_version: '2024-06-20', status: 'enabled', url: address })
    expect(created.secret).toMatch(/^whsec_\w{32}$/)
    expect(await stripe.webhookEndpoints.retrieve(created.id)).not.toHaveProperty('secret')
    expect((await stripe.webhookEndpoints.list()).data[0]).not.toHaveProperty('secret')
  })

  it('cannot change the API version of an endpoint', async () => {
    const { stripe } = await newAccount()
    const { id } = await stripe.webhookEndpoints.create({ url: address, enabled_events: ['*'] })
    expect(await stripe.webhookEndpoints.retrieve(id)).toMatchObject({ api_version: null })
    const change = { api_version: '2026-10-28.endive' } as Stripe.WebhookEndpointUpdateParams
    expect(await refusalOf(stripe.webhookEndpoints.update(id, change))).toMatchObject({ code: 'parameter_unknown' })
    const changed = await stripe.webhookEndpoints.update(id, { enabled_events: ['invoice.paid'], disabled: true })
    expect(changed).toMatchObject({ enabled_events: ['invoice.paid'], status: 'disabled' })
  })

  it('sends each subscribed event to each enabled endpoint, signed with its own secret', async () => {
    const { stripe, sandbox, sent, now } = await newAccount()
    const create = (params: Partial<Stripe.WebhookEndpointCreateParams>) =>
      stripe.webhookEndpoints.create({ url: address, enabled_events: ['checkout.session.expired'], ...params })
    const current = await create({ api_version: '2026-10-28.endive' })
    const older = await create({ api_version: '2024-06-20', url: `${address}?old` })
    const disabled = await create({})
    await stripe.webhookEndpoints.update(disabled.id, { disabled: true })
    await create({ enabled_events: ['invoice.paid'] })
    const { id } = await stripe.checkout.sessions.create(sessionParams())
    await stripe.checkout.sessions.expire(id)
    await sandbox.deliverDue()
    const read = ({ body, signature }: Sent, secret = '') =>
      Stripe.webhooks.constructEvent(body, signature, secret, 300, undefined, now())
    expect(sent.map(({ url }) => url)).toEqual([address, `${address}?old`])
    expect(sent.map((delivery, at) => read(delivery, [current, older][at]?.secret).api_version)).toEqual([
      '2026-10-28.endive',
      '2024-06-20'
    ])
  })

  it('sends nothing to a deleted endpoint, and allows 16 endpoints', async () => {
    const { stripe, sandbox, sent } = await newAccount()
    const create = () => stripe.webhookEndpoints.create({ url: address, enabled_events: ['*'] })
    const { id } = await create()
    const session = await stripe.checkout.sessions.create(sessionParams())
    await stripe.checkout.sessions.expire(session.id)
    expect(await stripe.webhookEndpoints.del(id)).toMatchObject({ id, deleted: true })
    await sandbox.deliverDue()
    expect(sent).toEqual([])
    expect(await refusalOf(stripe.webhookEndpoints.retrieve(id))).toMatchObject({ statusCode: 404 })
    for (let made = 0; made < 16; made += 1) await create()
    expect(await refusalOf(create())).toMatchObject({ statusCode: 400 })
  })
})
