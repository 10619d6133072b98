import { createHmac } from 'node:crypto'
import { handledTypes } from '../../../src/shop/payments/gateway-event.ts'
import type { Dice } from '../dice.ts'
import { oddBytes } from './api-requests.ts'
import type { Shot, Target } from './campaign.ts'
import type { Draft } from './draft.ts'
import { spoilJson, toJson, writeJson } from './json.ts'
import { judgeApi, judgeElsewhere } from './judge.ts'
import { oddWord } from './odd.ts'
import { setHeader, spoils } from './spoil.ts'
import type { Kind } from './spoil.ts'
import type { WatchedShop } from './watched-shop.ts'

/** What events can be about: objects that the gateway knows. */
export type GatewayObjects = { sessions: readonly string[]; intents: readonly string[] }

/** The gateway's own deliveries, signed, with something wrong with what they say; now and then with their signature. */
export function webhookTarget({ server, webhookSecret }: WatchedShop, objects: GatewayObjects): Target {
  const { pathname, host } = new URL(`${server.apiRoot}/webhooks/stripe`)
  return {
    name: 'signed webhooks',
    url: server.url,
    next(dice): Shot {
      const body = bodyOf(dice, objects)
      const draft: Draft = {
        method: 'POST',
        target: pathname,
        headers: [
          ['Host', host],
          ['Content-Type', 'application/json; charset=utf-8'],
          ['Stripe-Signature', signatureOf(body, webhookSecret, dice)]
        ],
        body,
        chunked: dice.once(10)
      }
      if (dice.once(40)) setHeader(draft, 'Stripe-Signature', 't=1,v1=00')
      if (dice.once(15)) spoils[dice.pick<Kind>(['header', 'header', 'framing', 'path', 'query'])](draft, dice)
      const path = draft.target.split('?')[0]
      return {
        draft,
        judge: (answer) =>
          path === pathname ? judgeApi(draft.method, '/webhooks/stripe', answer) : judgeElsewhere(draft.method, answer)
      }
    }
  }
}

function bodyOf(dice: Dice, objects: GatewayObjects): Buffer {
  let json = toJson(eventOf(dice, objects))
  const times = dice.pick([0, 1, 1, 1, 1, 2, 3])
  for (let time = 0; time < times; time += 1) json = spoilJson(json, dice)
  const bytes = Buffer.from(writeJson(json))
  return dice.once(15) ? oddBytes(bytes, dice) : bytes
}

function eventOf(dice: Dice, { sessions, intents }: GatewayObjects): object {
  const type = dice.pick<string>([...handledTypes, 'customer.created', 'payment_intent.'])
  // A dispute that the gateway does not know, of a payment that it does, is trouble of its own: 500, to be sent again.
  const intent = dice.once(5) || type.includes('dispute') ? `pi_${dice.between(1, 1e9)}` : dice.pick(intents)
  const isSession = type.startsWith('checkout.session')
  const id = type.startsWith('payment_intent') ? intent : isSession ? dice.pick(sessions) : `ob_${dice.between(1, 1e9)}`
  return {
    id: `evt_${dice.between(1, 1e9)}`,
    object: 'event',
    api_version: '2026-10-28.endive',
    created: 1_790_000_000 + dice.between(0, 1e6),
    livemode: dice.once(30),
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
    data: {
      object: {
        id,
        object: type.slice(0, type.lastIndexOf('.')),
        payment_intent: dice.once(3) ? intent : null,
        client_reference_id: '1',
        metadata: dice.once(2) ? { order_id: '1', attempt: oddWord(dice) } : {},
        parent: { type: 'subscription_details', subscription_details: { subscription: `sub_${dice.between(1, 1e9)}` } },
        status: 'complete',
        amount: 100
      }
    }
  }
}

function signatureOf(body: Buffer, secret: string, dice: Dice): string {
  const at = Math.floor(Date.now() / 1000)
  const sign = (time: number | string): string =>
    createHmac('sha256', secret)
      .update(`${time}.${body.toString('utf8')}`, 'utf8')
      .digest('hex')
  const good = `t=${at},v1=${sign(at)}`
  if (!dice.once(8)) return good
  return dice.pick<() => string>([
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
