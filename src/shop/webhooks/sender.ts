import type { EventRow } from '../events/list-events.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { claimDelivery, isDeliveryDue, recordOutcome } from './deliveries.ts'
import type { DeliveryRow, DeliveryState, Outcome } from './deliveries.ts'
import { listEndpoints, validOldSecrets } from './endpoints.ts'
import type { EndpointRow } from './endpoints.ts'
import { writeMessage } from './signed-message.ts'
import { codeOf } from '../../platform/typed.ts'

const defaultPollMs = 1_000
const maxConcurrentPerEndpoint = 4
const responseTimeoutMs = 15_000

type Options = {
  /** How long a request may take; 15 s by default. */
  timeoutMs?: number
  /** How often to look for due deliveries; every second by default. */
  pollMs?: number
  /** What an event is about, for endpoints that ask for full data: read when the event is sent, and never stored. */
  detailsOf?: (event: EventRow, now: number) => object
}

export type WebhookSender = {
  /** Aborts the requests under way. They are repeated after a restart. */
  stop(): Promise<void>
}

/**
 * Sends due deliveries until it is stopped. Each endpoint has four concurrent requests of its own, so a slow or
 * unreachable endpoint does not delay the others. After a failed attempt an endpoint rests until the next poll: a receiver
 * that is down costs the shop four requests a second, however many deliveries wait for it.
 */
export function startWebhookSender(
  shop: ShopContext,
  { timeoutMs = responseTimeoutMs, pollMs = defaultPollMs, detailsOf = () => ({}) }: Options = {}
): WebhookSender {
  const stopping = new AbortController()
  const requests = new Map<number, Set<Promise<void>>>()
  const resting = new Set<number>()

  function sendDue(endpoint: EndpointRow): void {
    const sending = requests.get(endpoint.id) ?? new Set()
    requests.set(endpoint.id, sending)
    while (sending.size < maxConcurrentPerEndpoint && isDeliveryDue(shop.db, endpoint.id, shop.clock.now())) {
      const request = sendNext(endpoint).then((isDelivered) => {
        sending.delete(request)
        if (isDelivered) sendAllDue()
      })
      sending.add(request)
    }
  }

  /** False after a failed attempt, when another process took the delivery, or on a database error: the next poll is soon enough. */
  async function sendNext(endpoint: EndpointRow): Promise<boolean> {
    try {
      const claimed = await claimDelivery(shop.db, endpoint.id, shop.clock.now())
      if (claimed === undefined || stopping.signal.aborted) return false
      const state = await deliver(shop, endpoint, claimed, { timeoutMs, detailsOf, stopping: stopping.signal })
      if (state !== 'delivered') resting.add(endpoint.id)
      return state === 'delivered'
    } catch (error) {
      shop.log.error('webhook delivery could not be started', { endpoint: endpoint.id, error: describeError(error) })
      return false
    }
  }

  function sendAllDue(): void {
    if (stopping.signal.aborted) return
    try {
      for (const endpoint of listEndpoints(shop.db)) if (endpoint.active && !resting.has(endpoint.id)) sendDue(endpoint)
    } catch (error) {
      shop.log.error('webhook deliveries could not be read', { error: describeError(error) })
    }
  }

  const timer = setInterval(() => {
    resting.clear()
    sendAllDue()
  }, pollMs)
  setImmediate(sendAllDue)
  return {
    async stop() {
      clearInterval(timer)
      stopping.abort()
      await Promise.allSettled([...requests.values()].flatMap((sending) => [...sending]))
    }
  }
}

type Limits = Required<Omit<Options, 'pollMs'>> & { stopping: AbortSignal }

const warnings: Readonly<Record<DeliveryState, string | null>> = {
  delivered: null,
  queued: 'webhook delivery failed, will retry',
  failed: 'webhook delivery failed permanently'
}

async function deliver(
  shop: ShopContext,
  endpoint: EndpointRow,
  { delivery, event }: { delivery: DeliveryRow; event: EventRow },
  limits: Limits
): Promise<DeliveryState> {
  const outcome = await send(endpoint, event, shop.clock.now(), limits)
  // Aborted by our own stop: the lease expires and the delivery is repeated.
  if (limits.stopping.aborted && outcome.status === null) return 'queued'
  try {
    const state = await recordOutcome(shop.db, delivery, outcome, shop.clock.now())
    const warning = warnings[state]
    if (warning !== null)
      shop.log.warn(warning, {
        delivery: delivery.id,
        endpoint: endpoint.id,
        attempt: delivery.attempts,
        reason: outcome.error
      })
    return state
  } catch (error) {
    shop.log.error('the result of a webhook delivery could not be stored', {
      delivery: delivery.id,
      error: describeError(error)
    })
    return 'queued'
  }
}

async function send(endpoint: EndpointRow, event: EventRow, now: number, limits: Limits): Promise<Outcome> {
  try {
    const details = endpoint.full ? limits.detailsOf(event, now) : {}
    const payload = { ...event.payload, ...details }
    const secrets = [endpoint.secret, ...validOldSecrets(endpoint, now).map(({ secret }) => secret)]
    const { body, headers } = writeMessage({ ...event, payload }, secrets, now)
    const response = await fetch(endpoint.url, {
      method: 'POST',
      body,
      headers,
      // A receiver must not be able to redirect the shop to an address of its own choice.
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

/** A short reason, without the address, which may contain a token. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  if (error.name === 'TimeoutError') return 'no response in time'
  const code = codeOf(error.cause ?? error)
  if (code !== undefined) return code
  // undici's own errors ("bad port") have no code.
  return error.cause instanceof Error ? error.cause.message.slice(0, 100) : error.name
}
