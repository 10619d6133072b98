import type { EventRow } from '../events/list-events.ts'
import { describeError } from '../../platform/log.ts'
import type { ShopContext } from '../context.ts'
import { claimDelivery, isDeliveryDue, recordOutcome } from './deliveries.ts'
import type { DeliveryRow, DeliveryState, Outcome } from './deliveries.ts'
import { listEndpoints, validOldSecrets } from './endpoints.ts'
import type { EndpointRow } from './endpoints.ts'
import { writeMessage } from './signed-message.ts'

const pollMs = 1_000
const maxConcurrentPerEndpoint = 4
const responseTimeoutMs = 15_000

type Options = {
  timeoutMs?: number
  /** What an event is about, for endpoints that ask for full data: read when the event is sent, and never stored. */
  detailsOf?: (event: EventRow, now: number) => object
}

export type WebhookSender = {
  /** Looks for due deliveries now instead of at the next poll. */
  kick(): void
  /** Aborts the requests under way. They are repeated after a restart. */
  stop(): Promise<void>
}

/**
 * Sends due deliveries until it is stopped; it polls every second. Each endpoint has four concurrent requests of its
 * own, so a slow or unreachable endpoint does not delay the others.
 *
 * @param options.timeoutMs how long a request may take; 15 s by default
 */
export function startWebhookSender(
  shop: ShopContext,
  { timeoutMs = responseTimeoutMs, detailsOf = () => ({}) }: Options = {}
): WebhookSender {
  const stopping = new AbortController()
  const requests = new Map<number, Set<Promise<void>>>()

  function sendDue(endpoint: EndpointRow): void {
    const sending = requests.get(endpoint.id) ?? new Set()
    requests.set(endpoint.id, sending)
    while (sending.size < maxConcurrentPerEndpoint && isDeliveryDue(shop.db, endpoint.id, shop.clock.now())) {
      const request = sendNext(endpoint).then((sent) => {
        sending.delete(request)
        if (sent) poll()
      })
      sending.add(request)
    }
  }

  /** False when another process took the delivery, or on a database error: then the next poll is soon enough. */
  async function sendNext(endpoint: EndpointRow): Promise<boolean> {
    try {
      const claimed = await claimDelivery(shop.db, endpoint.id, shop.clock.now())
      if (claimed === undefined || stopping.signal.aborted) return false
      await deliver(shop, endpoint, claimed, { timeoutMs, detailsOf, stopping: stopping.signal })
      return true
    } catch (error) {
      shop.log.error('webhook delivery could not be started', { endpoint: endpoint.id, error: describeError(error) })
      return false
    }
  }

  function poll(): void {
    if (stopping.signal.aborted) return
    try {
      for (const endpoint of listEndpoints(shop.db)) if (endpoint.active) sendDue(endpoint)
    } catch (error) {
      shop.log.error('webhook deliveries could not be read', { error: describeError(error) })
    }
  }

  const timer = setInterval(poll, pollMs)
  setImmediate(poll)
  return {
    kick: poll,
    async stop() {
      clearInterval(timer)
      stopping.abort()
      await Promise.allSettled([...requests.values()].flatMap((sending) => [...sending]))
    }
  }
}

type Limits = Required<Options> & { stopping: AbortSignal }

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
): Promise<void> {
  const outcome = await send(endpoint, event, shop.clock.now(), limits)
  // Aborted by our own stop: the lease expires and the delivery is repeated.
  if (limits.stopping.aborted && outcome.status === null) return
  try {
    const state = await recordOutcome(shop.db, delivery, outcome, shop.clock.now())
    const warning = warnings[state]
    if (warning === null) return
    shop.log.warn(warning, {
      delivery: delivery.id,
      endpoint: endpoint.id,
      attempt: delivery.attempts,
      reason: outcome.error
    })
  } catch (error) {
    shop.log.error('the result of a webhook delivery could not be stored', {
      delivery: delivery.id,
      error: describeError(error)
    })
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
  const { code, message } = (error.cause ?? error) as { code?: unknown; message?: unknown }
  if (typeof code === 'string') return code
  // undici's own errors ("bad port") have no code.
  return error.cause !== undefined && typeof message === 'string' ? message.slice(0, 100) : error.name
}
