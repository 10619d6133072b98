import { createHmac } from 'node:crypto'
import { handledTypes } from '../../../src/shop/payments/gateway-state.ts'
import type { Random } from '../random.ts'
import { corruptBytes } from './api-requests.ts'
import type { TestCase, Target } from './campaign.ts'
import type { Draft } from './draft.ts'
import { corruptJson, toJson, writeJson } from './json.ts'
import { verifyApi, verifyOutsideApi } from './verify.ts'
import { oddWord } from './odd-values.ts'
import { setHeader, corruptions } from './corruptions.ts'
import type { Corruption } from './corruptions.ts'
import type { WatchedShop } from './watched-shop.ts'

/** Ids of existing objects at the gateway, for events. */
export type GatewayObjects = { sessions: readonly string[]; intents: readonly string[] }

/** A target of signed webhooks with faults in their events, and rarely in their signature. */
export function webhookTarget({ server, webhookSecret }: WatchedShop, objects: GatewayObjects): Target {
  const { pathname, host } = new URL(`${server.apiRoot}/webhooks/stripe`)
  return {
    name: 'signed webhooks',
    url: server.url,
    next(random): TestCase {
      const body = bodyOf(random, objects)
      const draft: Draft = {
        method: 'POST',
        target: pathname,
        headers: [
          ['Host', host],
          ['Content-Type', 'application/json; charset=utf-8'],
          ['Stripe-Signature', signatureOf(body, webhookSecret, random)]
        ],
        body,
        chunked: random.oneIn(10)
      }
      if (random.oneIn(40)) setHeader(draft, 'Stripe-Signature', 't=1,v1=00')
      if (random.oneIn(15))
        corruptions[random.pick<Corruption>(['header', 'header', 'framing', 'path', 'query'])](draft, random)
      const path = draft.target.split('?')[0]
      return {
        draft,
        verify: (answer) =>
          path === pathname
            ? verifyApi(draft.method, '/webhooks/stripe', answer)
            : verifyOutsideApi(draft.method, answer)
      }
    }
  }
}

function bodyOf(random: Random, objects: GatewayObjects): Buffer {
  let json = toJson(eventOf(random, objects))
  const times = random.pick([0, 1, 1, 1, 1, 2, 3])
  for (let time = 0; time < times; time += 1) json = corruptJson(json, random)
  const bytes = Buffer.from(writeJson(json))
  return random.oneIn(15) ? corruptBytes(bytes, random) : bytes
}

function eventOf(random: Random, { sessions, intents }: GatewayObjects): object {
  const type = random.pick<string>([...handledTypes, 'customer.created', 'payment_intent.'])
  // An unknown dispute of a known payment is a legitimate 500, so disputes get an unknown payment.
  const intent = random.oneIn(5) || type.includes('dispute') ? `pi_${random.between(1, 1e9)}` : random.pick(intents)
  const isSession = type.startsWith('checkout.session')
  const id = type.startsWith('payment_intent')
    ? intent
    : isSession
      ? random.pick(sessions)
      : `ob_${random.between(1, 1e9)}`
  return {
    id: `evt_${random.between(1, 1e9)}`,
    object: 'event',
    api_version: '2026-10-28.endive',
    created: 1_790_000_000 + random.between(0, 1e6),
    livemode: random.oneIn(30),
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
    data: {
      object: {
        id,
        object: type.slice(0, type.lastIndexOf('.')),
        payment_intent: random.oneIn(3) ? intent : null,
        client_reference_id: '1',
        metadata: random.oneIn(2) ? { shopstead_order: '1', shopstead_attempt: oddWord(random) } : {},
        parent: {
          type: 'subscription_details',
          subscription_details: { subscription: `sub_${random.between(1, 1e9)}` }
        },
        status: 'complete',
        amount: 100
      }
    }
  }
}

function signatureOf(body: Buffer, secret: string, random: Random): string {
  const at = Math.floor(Date.now() / 1000)
  const sign = (time: number | string): string =>
    createHmac('sha256', secret)
      .update(`${time}.${body.toString('utf8')}`, 'utf8')
      .digest('hex')
  const good = `t=${at},v1=${sign(at)}`
  if (!random.oneIn(8)) return good
  return random.pick<() => string>([
    () => `t=${at - 301},v1=${sign(at - 301)}`,
    () => `t=${at + 400},v1=${sign(at + 400)}`,
    () => `t=${at},t=${at},v1=${sign(at)}`,
    () => `t=x,v1=${sign('x')}`,
    () => `t=${at},v0=${sign(at)}`,
    () => `t=${at},v1=zz,v1=${sign(at)}`,
    () => `${good},`.repeat(50),
    () => `t=${at},v1=${sign(at).slice(0, 63)}`,
    () => `v1=${sign(at)}`,
    () => good.toUpperCase(),
    () => ''
  ])()
}
