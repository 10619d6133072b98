import type Stripe from 'stripe'
import { describeError } from '../platform/log.ts'
import { stripeApiVersion } from '../platform/stripe-client.ts'
import { handleApi } from './http/api.ts'
import type { ApiParts, ApiRequest } from './http/api.ts'
import type { ApiOutcome } from './http/errors.ts'
import type { Context, EventVersions } from './http/context.ts'
import { createControls } from './pages/controls.ts'
import type { Controls } from './pages/controls.ts'
import { createBackground } from './background.ts'
import { awaitSending, deliverBatch, deliverDue } from './events/deliveries.ts'
import type { Deliver, Sender } from './events/deliveries.ts'
import { httpClientOver } from './http/http-client.ts'
import { newId } from './store/ids.ts'
import { servePage } from './pages/pages.ts'
import { openStore } from './store/object-store.ts'
import type { Store } from './store/object-store.ts'
import { runDueTimers } from './timed-actions.ts'
import { isTimerDue } from './timers.ts'
import { findTarget, newEndpoint } from './events/webhook-endpoints.ts'

export type SandboxOptions = {
  /** The sandbox's database file, which all processes of the shop share. */
  file: string
  /** The base URL of the hosted pages, without a trailing slash. */
  publicUrl: () => string
  clock: { now(): number }
  webhookSecret: string
  deliver: Deliver
  log: { warn(message: string, fields?: Readonly<Record<string, string>>): void }
  /** The shop's webhook path, for the webhook endpoint's `url`; `deliver` sends the webhooks. */
  webhookPath?: string
  /** The only accepted API key; default: any test key. */
  secretKey?: string
  /** The event types that the first webhook endpoint subscribes to; default: all. */
  webhookEvents?: readonly string[]
  /** False for an account without a webhook endpoint; default true: one for the shop, signed with `webhookSecret`. */
  webhookEndpoint?: boolean
  /** False allows amounts below Stripe's minimum; default true. */
  minimumAmounts?: boolean
  /** Carries out a `kill` fault; default: kills this process. */
  onKill?: () => void
}

/** A local Stripe with the API, the hosted pages and the webhooks that the shop uses. */
export type Sandbox = Controls & {
  /** stripe-node's `httpClient` that calls the API in process. */
  httpClient: Stripe.HttpClient
  /** Answers one API request. */
  handleApi: (request: ApiRequest) => Promise<ApiOutcome>
  /** Answers a request for a hosted page under /sandbox/; undefined for any other path. */
  pages: (request: Request) => Promise<Response | undefined>
  /** Renders events at other API versions from now on, as an older account or webhook endpoint does. */
  useVersions: (versions: Partial<EventVersions>) => void
  /** Starts to send webhooks when they are due. Without it, they wait for another process that sends. */
  start: () => void
  /**
   * Sends the webhooks that are due at `nowMs`. Resolves when they, and those that another run is sending, were answered.
   */
  deliverDue: (nowMs?: number) => Promise<number>
  close: () => void
}

/** Opens the sandbox on its database file, which is created if missing. Sends no webhooks until `start`. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const store = openStore(options.file)
  const now = (): number => options.clock.now()
  const background = createBackground(
    async () => deliverAllDue(),
    (error) => options.log.warn('the sandbox could not send webhooks', { error })
  )
  let versions: EventVersions = { account: stripeApiVersion, endpoint: stripeApiVersion }
  const newContext: ApiParts['newContext'] = (nowMs, request) => contextOf(options, store, versions, nowMs, request)
  const sender: Sender = {
    store,
    deliver: options.deliver,
    findEndpoint: (id) => findTarget(newContext(now(), null), id, options.webhookSecret),
    now,
    onFailure: (error) => options.log.warn('a sandbox webhook was not delivered', { error })
  }
  /** Runs one transaction without an API request; `batch` names its events. */
  const act = <T>(work: (context: Context) => T): { result: T; batch: string } => {
    const context = newContext(now(), null)
    const result = store.write(() => {
      runDueTimers(context)
      return work(context)
    })
    background.kick()
    return { result, batch: context.batch }
  }
  const deliverAllDue = async (nowMs = now()): Promise<number> => {
    if (isTimerDue(store, nowMs)) store.write(() => runDueTimers(newContext(nowMs, null)))
    return deliverDue(sender, nowMs)
  }
  const deliver = async (batch: string): Promise<void> => deliverBatch(sender, batch)
  const parts: ApiParts = {
    store,
    now,
    apiVersion: stripeApiVersion,
    secretKey: options.secretKey,
    newContext,
    onEffect: background.kick,
    onError: (error) => options.log.warn('the sandbox had an internal error', { error: describeError(error) }),
    onKill: options.onKill ?? (() => process.kill(process.pid, 'SIGKILL'))
  }
  const handle = async (request: ApiRequest): Promise<ApiOutcome> => handleApi(parts, request)
  return {
    ...createControls({ store, act, now }),
    httpClient: httpClientOver(handle),
    handleApi: handle,
    pages: async (request) => servePage({ store, act, deliver }, request),
    useVersions: (changed) => void (versions = { ...versions, ...changed }),
    start: background.start,
    deliverDue: async (nowMs) => {
      const sent = await deliverAllDue(nowMs)
      await awaitSending(store)
      return sent
    },
    close: () => {
      background.stop()
      store.close()
    }
  }
}

function contextOf(
  options: SandboxOptions,
  store: Store,
  versions: EventVersions,
  nowMs: number,
  request: Context['request']
): Context {
  const publicUrl = options.publicUrl()
  return {
    store,
    nowMs,
    now: Math.floor(nowMs / 1000),
    publicUrl,
    apiVersion: stripeApiVersion,
    versions,
    firstEndpoint: firstEndpointOf(options, versions, publicUrl),
    request,
    batch: newId('batch'),
    minimumAmounts: options.minimumAmounts ?? true
  }
}

/** The endpoint that delivers to the shop itself, as if the operator had created it in the dashboard. */
function firstEndpointOf(
  { webhookEndpoint = true, webhookEvents, webhookPath = '/api/v1/webhooks/stripe' }: SandboxOptions,
  { endpoint }: EventVersions,
  publicUrl: string
): Stripe.WebhookEndpoint | null {
  if (!webhookEndpoint) return null
  const enabled_events = [...(webhookEvents ?? ['*'])]
  return newEndpoint({
    id: 'we_sandbox',
    url: publicUrl + webhookPath,
    enabled_events,
    api_version: endpoint,
    created: 0
  })
}
