import type { z } from 'zod'
import type { RequestIds } from '../platform/http/answers.ts'
import type { TrustedProxies } from '../platform/http/client-address.ts'
import type { SessionRow, UserRow } from '../shop/accounts/rows.ts'
import type { Claim } from '../shop/checkout/idempotency.ts'
import type { ShopContext } from '../shop/context.ts'
import type { Holder } from '../shop/orders/holds.ts'
import type { PublicCode } from './answers/error-codes.ts'

/** The limit of a request's body, unless the route sets another one. */
export const defaultBodyLimitBytes = 64 * 1024

export type Method = 'GET' | 'POST' | 'PATCH'

/** The session of a request and its user. */
export type Identity = { session: SessionRow; user: UserRow }

/** A request on its way through the stages. */
export type Call = {
  readonly shop: ShopContext
  readonly request: Request
  readonly ids: RequestIds
  /** The path parameters, as sent. */
  readonly params: Readonly<Record<string, string>>
  /** The time of the request; all its decisions use it. */
  readonly now: number
  /** The client address as limits count it (IPv6 by its /64). */
  readonly addressKey: string
  /** The proxies whose headers about the client count. */
  readonly trusted: TrustedProxies
  readonly identity: Identity | null
  /** The Cookie header. */
  readonly cookies: string | null
  /** The X-Nonce header, whether or not the route requires one. */
  readonly nonce: string | null
  /** Who checks out, with the cookies that a new guest gets. */
  readonly holder?: Holder & { cookies: string[] }
  /** Writes the Idempotency-Key of this request and holds it until the response. */
  readonly takeKey?: () => Promise<Claim>
  /** The unsettled order of an earlier request with the key. */
  readonly continues?: number
}

/** The result of a handler. `meta` replaces or extends the envelope's; null omits it. */
export type Reply<Data = unknown> = {
  data: Data
  status?: number
  meta?: { extend: Record<string, unknown> } | { replace: Record<string, unknown> } | null
  cookies?: string[]
  headers?: readonly (readonly [string, string])[]
}

/** The call of a route that requires a session: its identity is never null. */
export type UserCall = Call & { readonly identity: Identity }

export type ProxyPolicy = {
  /** Whether the proxy requires a nonce. */
  readonly nonce: boolean
  /** Parameters that it forwards; it drops all others. */
  readonly query: readonly string[]
  /** How long the proxy waits for the response; 15 s by default. */
  readonly timeoutMs?: number
}

/** A successful response in the API description. The type of the handler's result follows from its schema. */
export type Answer = {
  /** 200 by default. */
  readonly status?: 201
  readonly data: z.ZodType
  /** The fields of meta beyond the standard ones; `empty` for no fields, null for no meta. */
  readonly meta?: { readonly extend: z.ZodObject } | 'empty' | null
  /** One line, if there are several responses. */
  readonly about?: string
}

type DataOf<Answers> = Answers extends readonly Answer[] ? z.output<Answers[number]['data']> : unknown

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

export type Route<
  Query extends z.ZodType | undefined = z.ZodType | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Params extends z.ZodObject | undefined = z.ZodObject | undefined
> = {
  readonly method: Method
  /** The path under api_root. It is matched exactly; `{id}` matches one segment. */
  readonly path: string
  /** The path parameters by name; a value that does not match is a 404. */
  readonly params?: Params
  /** One line for the API description. */
  readonly summary: string
  /** The successful responses. */
  readonly answers: readonly Answer[]
  /** The error codes, beyond those that follow from the rest of this entry. */
  readonly refuses: readonly PublicCode[]
  /** Request headers that only this route reads. */
  readonly headers?: z.ZodObject
  /** `none` ignores a session, `optional` uses it, `required` responds with 401 without one. */
  readonly session: 'none' | 'optional' | 'required'
  /** Whether the service itself requires a nonce (docs/interface.md 5). */
  readonly nonce: 'never' | 'always'
  /** The route starts a session, so an anonymous nonce is valid whatever cookie the request has. */
  readonly startsSession?: true
  /** The first-party proxy's rules for the route; null excludes it from the proxy. */
  readonly proxy: ProxyPolicy | null
  /** For webhooks, which always come from another site. */
  readonly crossSite?: 'allowed'
  readonly cache?: 'public'
  /** Headers that only some of its responses have, with their meaning. */
  readonly sends?: Readonly<Record<string, string>>
  /** Status of its VALIDATION_FAILED (docs/contract.md 2.5). */
  readonly invalid: 400 | 422
  /** The limit of the body; {@link defaultBodyLimitBytes} by default. */
  readonly bodyLimitBytes?: number
  readonly query?: Query
  readonly body?: Body
  /** What the API description says of a body that the handler reads as bytes. */
  readonly rawBody?: z.ZodObject
  /** Refuses query parameters that look like a choice of another person's data. Other unknown ones are ignored. */
  readonly scope?: 'own'
  /** The parameters whose first value counts when they are sent twice. By default that is refused. */
  readonly mayRepeat?: RegExp
  /** The code of an unexpected failure, instead of INTERNAL_SERVER_ERROR. */
  readonly unforeseen?: 'UPSTREAM_UNAVAILABLE'
  /** Checks before the body is read. */
  readonly gate?: (call: Call) => void
  /** Wraps everything after the body has arrived: checkout's own checks and its Idempotency-Key. */
  readonly around?: (call: Call, body: Uint8Array, next: (call: Call) => Promise<Response>) => Promise<Response>
  readonly handler: (
    call: Call,
    input: { params: Parsed<Params>; query: Parsed<Query>; body: Parsed<Body>; raw: Uint8Array }
  ) => Reply | Response | Promise<Reply | Response>
}

/** The rules that most routes share: the service accepts a request without a nonce, and the proxy requires one. */
export const forEveryone = { nonce: 'never', proxy: { nonce: true, query: [] }, invalid: 422 } as const

/** The rules that most routes of a logged-in user share. */
export const forUsers = { ...forEveryone, session: 'required' } as const

/**
 * Types a route's handler by its schemas, including its result, and by its session: if one is required, `identity` is
 * never null.
 */
export function route<
  Query extends z.ZodType | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Params extends z.ZodObject | undefined = undefined,
  Session extends Route['session'] = Route['session'],
  const Answers extends readonly Answer[] = readonly Answer[]
>(
  definition: Omit<Route<Query, Body, Params>, 'handler' | 'session' | 'answers'> & {
    session: Session
    answers: Answers
    handler: (
      call: Session extends 'required' ? UserCall : Call,
      input: { params: Parsed<Params>; query: Parsed<Query>; body: Parsed<Body>; raw: Uint8Array }
    ) => Reply<DataOf<Answers>> | Response | Promise<Reply<DataOf<Answers>> | Response>
  }
): Route {
  return definition as unknown as Route
}
