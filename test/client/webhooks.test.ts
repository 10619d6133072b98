import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { verifyWebhook, WebhookError } from '../../src/client/webhooks.ts'
import type { VerifiedEvent } from '../../src/client/webhooks.ts'
import { writeMessage } from '../../src/shop/webhooks/signed-message.ts'

const now = Date.UTC(2026, 5, 1, 12)
const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`
const secret = newSecret()
const payload = { orderId: 7, totalMinor: 2500, currency: 'EUR' }
const event = { id: 1, type: 'order.paid', payload, createdAt: now - 60_000 }
const { body, headers } = writeMessage(event, [secret], now)
const expected = {
  id: headers['webhook-id'],
  type: 'order.paid',
  timestamp: new Date(event.createdAt).toISOString(),
  data: payload
}
const reasonOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'accepted',
    (error: unknown) => (error instanceof WebhookError ? error.reason : String(error))
  )

describe('the verifier', () => {
  it('returns the event of a message that the shop signed, from text and bytes, and all kinds of headers', async () => {
    expect(await verifyWebhook(body, headers, secret, { now })).toEqual(expected)
    expect(await verifyWebhook(Buffer.from(body), new Headers(headers), secret, { now })).toEqual(expected)
  })

  it('accepts each of several secrets, and a message with several signatures', async () => {
    expect(await verifyWebhook(body, headers, [newSecret(), secret], { now })).toEqual(expected)
    const other = new Webhook(newSecret()).sign(headers['webhook-id'] ?? '', new Date(now), body)
    const signatures = `v1a,abc v1,% ${other} ${headers['webhook-signature']}`
    expect(await verifyWebhook(body, { ...headers, 'webhook-signature': signatures }, secret, { now })).toEqual(
      expected
    )
  })

  it('accepts a message that the shop signed with a new and an old secret, by either', async () => {
    const [fresh, unknown] = [newSecret(), newSecret()]
    const both = writeMessage(event, [fresh, secret], now)
    for (const one of [fresh, secret])
      expect(await verifyWebhook(both.body, both.headers, one, { now })).toEqual(expected)
    expect(await reasonOf(verifyWebhook(both.body, both.headers, unknown, { now }))).toBe('wrong_signature')
  })

  it('accepts what the Standard Webhooks library signs, with any text in it', async () => {
    const text = JSON.stringify({ type: 'order.paid', timestamp: 'x', data: { name: 'Grüße 🕯 \u2028' } })
    const signature = new Webhook(secret).sign('msg_1', new Date(now), text)
    const sent = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(now / 1000), 'webhook-signature': signature }
    expect(await verifyWebhook(text, sent, secret, { now })).toEqual({ id: 'msg_1', ...JSON.parse(text) })
  })

  it('refuses every other message with its reason', async () => {
    const check = (changed: Record<string, string | string[] | undefined>, text = body, time = now) =>
      reasonOf(verifyWebhook(text, { ...headers, ...changed }, secret, { now: time }))
    expect(await check({}, `${body} `)).toBe('wrong_signature')
    expect(await check({ 'webhook-id': 'evt_other' })).toBe('wrong_signature')
    expect(await check({ 'webhook-timestamp': String(now / 1000 + 1) })).toBe('wrong_signature')
    expect(await check({ 'webhook-signature': 'v1,' })).toBe('wrong_signature')
    expect(await check({ 'webhook-signature': headers['webhook-signature']?.replace('v1,', 'v2,') })).toBe(
      'wrong_signature'
    )
    expect(await check({ 'webhook-timestamp': 'today' })).toBe('too_old')
    expect(await check({}, body, now + 301_000)).toBe('too_old')
    expect(await check({}, body, now - 301_000)).toBe('too_old')
    expect(await check({}, body, now + 300_000)).toBe('accepted')
    expect(await check({ 'webhook-id': undefined })).toBe('missing_header')
    expect(await check({ 'webhook-id': ['a', 'b'] })).toBe('missing_header')
    expect(await reasonOf(verifyWebhook(body, headers, newSecret(), { now }))).toBe('wrong_signature')
    const text = 'not JSON'
    const signed = new Webhook(secret).sign(headers['webhook-id'] ?? '', new Date(now), text)
    expect(await check({ 'webhook-signature': signed }, text)).toBe('malformed')
  })

  it('says what the caller did wrong: a parsed body, or a secret that is not one', async () => {
    const parsed: unknown = JSON.parse(body)
    expect(await reasonOf(verifyWebhook(parsed as string, headers, secret, { now }))).toMatch(
      /^TypeError: Pass the raw/
    )
    expect(await reasonOf(verifyWebhook(body, headers, '', { now }))).toMatch(/^TypeError: The secret/)
    expect(await reasonOf(verifyWebhook(body, headers, 'whsec_%%', { now }))).toMatch(/^TypeError: The secret/)
  })

  it('narrows the type of the data by the type of the event', () => {
    const read = (received: VerifiedEvent) => {
      if (received.type === 'order.paid') {
        expectTypeOf(received.data.totalMinor).toEqualTypeOf<number>()
        expectTypeOf(received.data.order?.lines[0]?.sku).toEqualTypeOf<string | null | undefined>()
      }
      if (received.type === 'account.verified') expectTypeOf(received.data.userId).toEqualTypeOf<number>()
    }
    expectTypeOf(read).toBeFunction()
  })
})
