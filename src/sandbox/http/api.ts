import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiOutcome } from './errors.ts'
import type { Answer, Context, Route } from './context.ts'
import { StripeRefusal, badParameter } from './errors.ts'
import { expandAnswer } from './expand.ts'
import { applyFault, takeApiFault } from './faults.ts'
import type { Fault } from './faults.ts'
import { decodeForm } from './form-encoding.ts'
import type { RawMap } from './form-encoding.ts'
import { findReplay, storeAnswer, markRunning, releaseKey } from './idempotency.ts'
import type { KeyedRequest } from './idempotency.ts'
import { newId } from '../store/ids.ts'
import { list, text } from './params.ts'
import { findRoute } from './routes.ts'
import { checkParams } from './stripe-params.ts'
import type { Store } from '../store/object-store.ts'
import { runDueTimers } from '../timed-actions.ts'
import { isTimerDue } from '../timers.ts'

/** One request to the API; `path` includes the query, header names are in lower case. */
export type ApiRequest = { method: string; path: string; headers: Readonly<Record<string, string>>; body: string }

export type ApiParts = {
  store: Store
  now: () => number
  apiVersion: string
  /** The only accepted API key; undefined accepts any test key. */
  secretKey: string | undefined
  newContext: (nowMs: number, request: Context['request']) => Context
  /** Called after a request that may have queued webhooks. */
  onEffect: () => void
  /** Carries out a `kill` fault. */
  onKill: () => void
  /** Receives an internal error of the sandbox; the client gets a 500. */
  onError: (error: unknown) => void
}

type Prepared = {
  route: Route
  id: string
  raw: RawMap
  keyed: KeyedRequest | undefined
  nowMs: number
  requestId: string
}
type Executed = Answer & { originalRequest?: string }

/** `expand` of every request (docs.stripe.com/api/expanding_objects). */
const expandPaths = list(text({ max: 200 }), { max: 20 })

/** Answers one request as Stripe's API does, with the planned faults applied. Never rejects because of the request. */
export async function handleApi(parts: ApiParts, request: ApiRequest): Promise<ApiOutcome> {
  const requestId = newId('req', 14)
  const nowMs = parts.now()
  const respond = (answer: Executed): ApiOutcome => answered(parts, request, requestId, nowMs, answer)
  try {
    const prepared = prepare(parts, request, requestId, nowMs)
    const fault = takeApiFault(parts.store, prepared.route.name)
    if (fault && fault.moment === 'before' && fault.fault !== 'slow')
      return applyFault(fault, undefined, respond, parts.onKill)
    if (fault?.fault === 'slow') await runSlowly(parts, prepared, fault)
    const answer = await execute(parts, prepared, fault)
    parts.onEffect()
    return fault && fault.fault !== 'slow' ? applyFault(fault, answer, respond, parts.onKill) : respond(answer)
  } catch (error) {
    if (error instanceof StripeRefusal) return respond({ status: error.status, body: { error: error.body } })
    parts.onError(error)
    return respond({
      status: 500,
      body: { error: { type: 'api_error', message: 'The sandbox had an internal error.' } }
    })
  }
}

function prepare(parts: ApiParts, request: ApiRequest, requestId: string, nowMs: number): Prepared {
  checkKey(parts, request)
  const [path = '', query = ''] = request.path.split('?', 2)
  const found = findRoute(request.method, path)
  if (!found) {
    const message = `Unrecognized request URL (${request.method.slice(0, 10)}: ${path.slice(0, 200)}).`
    throw new StripeRefusal(404, { type: 'invalid_request_error', message }, false)
  }
  const version = request.headers['stripe-version']
  if (version !== undefined && !/^\d{4}-\d\d-\d\d(\.[a-z_]+)?$/.test(version))
    throw badParameter('Invalid Stripe API version.', {})
  const form = request.method === 'POST' ? request.body : query
  const key = request.method === 'POST' ? request.headers['idempotency-key'] : undefined
  const endpoint = `${request.method} ${path}`
  const keyed = key === undefined ? undefined : { key, endpoint, params: form, requestId, nowMs }
  return { ...found, raw: decodeForm(form), keyed, nowMs, requestId }
}

function checkKey(parts: ApiParts, request: ApiRequest): void {
  const key = /^Bearer (\S+)$/.exec(request.headers['authorization'] ?? '')?.[1]
  const good = parts.secretKey === undefined ? /^(sk|rk)_test_\w+$/.test(key ?? '') : key === parts.secretKey
  if (good) return
  const message = key === undefined ? 'You did not provide an API key.' : 'Invalid API Key provided.'
  throw new StripeRefusal(401, { type: 'invalid_request_error', message }, false)
}

async function runSlowly(parts: ApiParts, { keyed }: Prepared, fault: Fault): Promise<void> {
  if (keyed) {
    parts.store.write(() => {
      // A replay needs no delay. A request whose key is in use is refused here, before the delay.
      if (!findReplay(parts.store, keyed)) markRunning(parts.store, keyed, keyed.nowMs + fault.delayMs + 1_000)
    })
  }
  await sleep(fault.delayMs)
  if (keyed) releaseKey(parts.store, keyed.key)
}

function execute(parts: ApiParts, prepared: Prepared, fault: Fault | undefined): Executed | Promise<Executed> {
  const { store } = parts
  const { route, keyed, nowMs, requestId } = prepared
  const context = parts.newContext(nowMs, { id: requestId, idempotency_key: keyed?.key ?? null })
  if (route.method === 'GET' && !isTimerDue(store, nowMs)) return run(context, prepared)
  const work = (): Executed => {
    runDueTimers(context)
    const replay = keyed && findReplay(store, keyed)
    if (replay) return replay
    const answer = runStoringRefusals(context, prepared)
    if (!keyed) return answer
    const stored =
      fault?.moment === 'kept'
        ? applyFault(
            fault,
            answer,
            (same) => same,
            () => undefined
          )
        : answer
    storeAnswer(store, keyed, 'kind' in stored ? answer : stored)
    return answer
  }
  // A fault applies to one request, so that request gets a transaction of its own.
  return fault === undefined ? store.writeThisTurn(work) : store.write(work)
}

/** A refusal during execution rolls back the request's changes, but is still stored under the idempotency key. */
function runStoringRefusals(context: Context, prepared: Prepared): Answer {
  try {
    return context.store.write(() => run(context, prepared))
  } catch (error) {
    if (error instanceof StripeRefusal && error.began) return { status: error.status, body: { error: error.body } }
    throw error
  }
}

function run(context: Context, { route, raw, id }: Prepared): Answer {
  checkParams(route.name, raw)
  const paths = expandPaths.read(raw.get('expand') ?? '', 'expand')
  const form = new Map(raw)
  form.delete('expand')
  const answer = route.handle(context, form, id)
  return answer.status === 200 ? { ...answer, body: expandAnswer(context.store, answer.body, paths) } : answer
}

function answered(
  parts: ApiParts,
  request: ApiRequest,
  requestId: string,
  nowMs: number,
  answer: Executed
): ApiOutcome {
  const key = request.method === 'POST' ? request.headers['idempotency-key'] : undefined
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    date: new Date(nowMs).toUTCString(),
    'request-id': requestId,
    'stripe-version': request.headers['stripe-version'] ?? parts.apiVersion
  }
  if (key !== undefined) headers['idempotency-key'] = key
  if (key !== undefined) headers['original-request'] = answer.originalRequest ?? requestId
  if (answer.originalRequest !== undefined) headers['idempotent-replayed'] = 'true'
  return { kind: 'answer', status: answer.status, headers, body: JSON.stringify(answer.body) }
}
