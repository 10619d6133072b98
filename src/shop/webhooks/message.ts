import { createHmac } from 'node:crypto'
import { toIso } from '../../platform/clock.ts'
import type { EventRow } from '../events/list-events.ts'

export type WebhookMessage = { body: string; headers: Record<string, string> }

/**
 * An event as its receiver gets it, signed by Standard Webhooks (standardwebhooks.com, version 1). Its id is the same at
 * every try, for the receiver to tell a repeat; the time is in it because a restore lets row ids come again.
 *
 * @param secret `whsec_` and base64
 * @param now time of this try, which the signature covers
 */
export function writeMessage(event: EventRow, secret: string, now: number): WebhookMessage {
  const id = `evt_${event.createdAt.toString(36)}_${event.id}`
  const timestamp = String(Math.floor(now / 1000))
  const body = JSON.stringify({ type: event.type, timestamp: toIso(event.createdAt), data: event.payload })
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Shopstead-Webhooks/1',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`
    }
  }
}
