import type { EventRow } from '../events/list-events.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { claimDelivery, isDeliveryDue, settleDelivery } from './deliveries.ts'
import type { DeliveryRow, Outcome } from './deliveries.ts'
import { listEndpoints } from './endpoints.ts'
import type { EndpointRow } from './endpoints.ts'
import { writeMessage } from './message.ts'

const pollMs = 1_000
const mostAtOnce = 4
const answerTimeoutMs = 15_000

type Options = { timeoutMs?: number }

export type WebhookSender = {
  /** Looks for deliveries now rather than at the next round. */
  kick(): void
  /** Breaks off what is being sent; it is sent again after a start. */
  stop(): Promise<void>
}

/**
 * Sends what is due to each endpoint, a few at once. Every endpoint has its own share, so that one that is slow or dead
 * holds up nothing but its own.
 */
export function startWebhookSender(shop: ShopContext, { timeoutMs = answerTimeoutMs }: Options = {}): WebhookSender {
  const stopping = new AbortController()
  const underWay = new Map<number, Set<Promise<void>>>()

  function fill(endpoint: EndpointRow): void {
    const sending = underWay.get(endpoint.id) ?? new Set()
    underWay.set(endpoint.id, sending)
    while (sending.size < mostAtOnce && isDeliveryDue(shop.db, endpoint.id, shop.clock.now())) {
      const one = sendNext(endpoint).then((sent) => {
        sending.delete(one)
        if (sent) round()
      })
      sending.add(one)
    }
  }

  /** False when there was nothing to send after all, or it could not even be written down: the next look is time enough. */
  async function sendNext(endpoint: EndpointRow): Promise<boolean> {
    try {
      const claimed = await claimDelivery(shop.db, endpoint.id, shop.clock.now())
      if (claimed === undefined || stopping.signal.aborted) return false
      await deliver(shop, endpoint, claimed, { timeoutMs, stopping: stopping.signal })
      return true
    } catch (error) {
      shop.log.error('a webhook could not be sent', { endpoint: endpoint.id, error: describeError(error) })
      return false
    }
  }

  function round(): void {
    if (stopping.signal.aborted) return
    try {
      for (const endpoint of listEndpoints(shop.db)) if (endpoint.active) fill(endpoint)
    } catch (error) {
      shop.log.error('webhooks could not be sent', { error: describeError(error) })
    }
  }

  const timer = setInterval(round, pollMs)
  setImmediate(round)
  return {
    kick: round,
    async stop() {
      clearInterval(timer)
      stopping.abort()
      await Promise.allSettled([...underWay.values()].flatMap((sending) => [...sending]))
    }
  }
}

type Limits = { timeoutMs: number; stopping: AbortSignal }

async function deliver(
  shop: ShopContext,
  endpoint: EndpointRow,
  { delivery, event }: { delivery: DeliveryRow; event: EventRow },
  limits: Limits
): Promise<void> {
  const outcome = await send(endpoint, event, shop.clock.now(), limits)
  // Cut short by our own stop: the lease runs out and it is tried again.
  if (limits.stopping.aborted && outcome.status === null) return
  try {
    const state = await settleDelivery(shop.db, delivery, outcome, shop.clock.now())
    if (state === 'delivered') return
    shop.log.warn(state === 'failed' ? 'a webhook was given up' : 'a webhook will be sent again', {
      delivery: delivery.id,
      endpoint: endpoint.id,
      attempt: delivery.attempts,
      reason: outcome.error
    })
  } catch (error) {
    shop.log.error('a webhook could not be settled', { delivery: delivery.id, error: describeError(error) })
  }
}

async function send(endpoint: EndpointRow, event: EventRow, now: number, limits: Limits): Promise<Outcome> {
  const { body, headers } = writeMessage(event, endpoint.secret, now)
  try {
    const response = await fetch(endpoint.url, {
      method: 'POST',
      body,
      headers,
      // A receiver must not be able to send the shop on to an address of its own choice.
      redirect: 'manual',
      signal: AbortSignal.any([limits.stopping, AbortSignal.timeout(limits.timeoutMs)])
    })
    await response.body?.cancel()
    const error = response.status >= 200 && response.status < 300 ? null : `HTTP ${response.status}`
    return { status: response.status, error }
  } catch (error) {
    return { status: null, error: reasonOf(error) }
  }
}

/** A word for the failure, without the address, which may have a token in it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  if (error.name === 'TimeoutError') return 'no answer in time'
  const { code, message } = (error.cause ?? error) as { code?: unknown; message?: unknown }
  if (typeof code === 'string') return code
  // undici's own refusals ("bad port") have no code.
  return error.cause !== undefined && typeof message === 'string' ? message.slice(0, 100) : error.name
}
