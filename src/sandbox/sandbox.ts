import type Stripe from 'stripe'
import { describeError } from '../platform/log.ts'
import { stripeApiVersion } from '../platform/stripe-client.ts'
import { handleApi } from './api.ts'
import type { ApiParts, ApiRequest } from './api.ts'
import type { ApiOutcome } from './outcome.ts'
import type { Context } from './context.ts'
import { createControls } from './controls.ts'
import type { Controls } from './controls.ts'
import { createBackground } from './background.ts'
import { awaitSending, deliverBatch, deliverDue } from './deliveries.ts'
import type { Deliver, Sender } from './deliveries.ts'
import { httpClientOver } from './http-client.ts'
import { newId } from './ids.ts'
import { servePage } from './pages.ts'
import { openStore } from './store.ts'
import type { Store } from './store.ts'
import { runDueTimers } from './timed-actions.ts'
import { isTimerDue } from './timers.ts'

export type SandboxOptions = {
  /** The database file that every process of the shop shares. */
  file: string
  /** Where browsers reach the hosted pages, without a trailing slash. */
  publicUrl: () => string
  clock: { now(): number }
  webhookSecret: string
  deliver: Deliver
  log: { warn(message: string, fields?: Readonly<Record<string, string>>): void }
  /** Where the shop takes webhooks, as the endpoint's object says; `deliver` brings them there. */
  webhookPath?: string
  /** The only key let in; any test key when it is left out. */
  secretKey?: string
  /** The event types that the webhook endpoint takes; all when left out. */
  webhookEvents?: readonly string[]
  /** False lets amounts below Stripe's minimum through. */
  minimumAmounts?: boolean
  /** What a `kill` fault does; ends this process when left out. */
  onKill?: () => void
}

/** A Stripe of one's own: see the files beside this one for what it answers. */
export type Sandbox = Controls & {
  /** For stripe-node's `httpClient`: the API in process. */
  httpClient: Stripe.HttpClient
  handleApi: (request: ApiRequest) => Promise<ApiOutcome>
  /** The hosted pages under /sandbox/; undefined for any other path. */
  pages: (request: Request) => Promise<Response | undefined>
  /** Sends webhooks from now on, as they come due; without it they wait for a process that does. */
  start: () => void
  /** Sends the webhooks that are due at `nowMs`; resolves when they, and those that another run is sending, were answered. */
  deliverDue: (nowMs?: number) => Promise<number>
  close: () => void
}

export function createSandbox(options: SandboxOptions): Sandbox {
  const store = openStore(options.file)
  const now = (): number => options.clock.now()
  const background = createBackground(
    async () => deliverAllDue(),
    (error) => options.log.warn('The sandbox could not send its webhooks.', { error })
  )
  const newContext: ApiParts['newContext'] = (nowMs, request) => contextOf(options, store, nowMs, request)
  const sender: Sender = {
    store,
    deliver: options.deliver,
    webhookSecret: options.webhookSecret,
    now,
    onFailure: (error) => options.log.warn('A sandbox webhook could not be delivered.', { error })
  }
  /** One transaction of Stripe's own, not asked for through the API; returns the name of its events too. */
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
    onError: (error) => options.log.warn('The sandbox failed.', { error: describeError(error) }),
    onKill: options.onKill ?? (() => process.kill(process.pid, 'SIGKILL'))
  }
  const handle = async (request: ApiRequest): Promise<ApiOutcome> => handleApi(parts, request)
  return {
    ...createControls({ store, act, now }),
    httpClient: httpClientOver(handle),
    handleApi: handle,
    pages: async (request) => servePage({ store, act, deliver }, request),
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

function contextOf(options: SandboxOptions, store: Store, nowMs: number, request: Context['request']): Context {
  const publicUrl = options.publicUrl()
  return {
    store,
    nowMs,
    now: Math.floor(nowMs / 1000),
    publicUrl,
    apiVersion: stripeApiVersion,
    webhookUrl: publicUrl + (options.webhookPath ?? '/api/v1/webhooks/stripe'),
    request,
    batch: newId('batch'),
    webhookEvents: options.webhookEvents,
    minimumAmounts: options.minimumAmounts ?? true
  }
}
