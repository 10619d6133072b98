import { createHmac } from 'node:crypto'
import { toIso } from '../../platform/iso-time.ts'
import type { PublicEvent } from '../events/list-events.ts'

export type WebhookMessage = { body: string; headers: Record<string, string> }

/**
 * The request that delivers an event, signed as Standard Webhooks specifies (standardwebhooks.com, version 1). The
 * message id is the same for every attempt, so that the receiver can recognise repeats. It contains the event's time,
 * because row ids repeat after a backup is restored.
 *
 * @param secrets each `whsec_` followed by base64; the message has a signature by each, separated by spaces
 * @param now time of this attempt, which the signature covers
 */
export function writeMessage(event: PublicEvent, secrets: readonly string[], now: number): WebhookMessage {
  const id = `evt_${event.createdAt.toString(36)}_${event.id}`
  const timestamp = String(Math.floor(now / 1000))
  const body = JSON.stringify({ type: event.type, timestamp: toIso(event.createdAt), data: event.payload })
  const signatures = secrets.map((secret) => signatureOf(`${id}.${timestamp}.${body}`, secret))
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Shopstead-Webhooks/1',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' ')
    }
  }
}

function signatureOf(signed: string, secret: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}
