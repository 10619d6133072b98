import type { z } from 'zod'
import type { RequestIds } from '../platform/http/envelope.ts'
import type { SessionRow, UserRow } from '../shop/accounts/rows.ts'
import type { Claim } from '../shop/checkout/idempotency.ts'
import type { ShopContext } from '../shop/context.ts'
import type { PublicCode } from './answers/errors.ts'

/** Of a request's body, where the route does not say otherwise. */
export const defaultBodyLimitBytes = 64 * 1024

export type Method = 'GET' | 'POST' | 'PATCH'

/** Who is calling: the session that came with the request, or nobody. */
export type Identity = { session: SessionRow; user: UserRow }

/** One request on its way through the stages. */
export type Call = {
  readonly shop: ShopContext
  readonly request: Request
  readonly ids: RequestIds
  /** The values that the path gives the parameters of its template, as sent. */
  readonly params: Readonly<Record<string, string>>
  /** Taken once; everything that this request decides happens at this time. */
  readonly now: number
  /** Client address by which limits count (IPv6 by its /64). */
  readonly addressKey: string
  readonly identity: Identity | null
  /** The X-Nonce that was sent, whether or not the route asks for one. */
  readonly nonce: string | null
  /** The Idempotency-Key that this request holds, and the order that an earlier one under it left unsettled. */
  readonly claim?: Claim
  readonly resumes?: number
}

/** What leaves: `meta` replaces or extends the envelope's, null leaves it out. */
export type Reply<Data = unknown> = {
  data: Data
  status?: number
  meta?: { extend: Record<string, unknown> } | { replace: Record<string, unknown> } | null
  cookies?: string[]
  headers?: readonly (readonly [string, string])[]
}

/** A route that needs a session gets its identity as a type without null. */
export type UserCall = Call & { readonly identity: Identity }

export type ProxyPolicy = {
  /** Whether it asks for a nonce. */
  readonly nonce: boolean
  /** Parameters that it forwards; it drops all others. */
  readonly query: readonly string[]
  /** How long it waits for the answer, where 15 s are too few. */
  readonly timeoutMs?: number
}

/** A success as the API description tells of it; what a handler answers is held to its schema. */
export type Answer = {
  /** 200 unless told otherwise. */
  readonly status?: 201
  readonly data: z.ZodType
  /** What meta has beyond the standard fields, or instead of them; null where there is no meta. */
  readonly meta?: { readonly extend: z.ZodObject } | 'empty' | null
  /** One line, where there is more than one answer. */
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
  /** Under api_root; matched exactly, except that `{id}` stands for one segment. */
  readonly path: string
  /** The parameters of the path by name; a path that does not fit is 404. */
  readonly params?: Params
  /** One line for the API description. */
  readonly summary: string
  /** What it answers when all is well. */
  readonly answers: readonly Answer[]
  /** The codes with which it refuses, beyond those that follow from the rest of this entry. */
  readonly refuses: readonly PublicCode[]
  /** Request headers that mean something here and nowhere else. */
  readonly headers?: z.ZodObject
  /** `none` looks for no session, `optional` takes one if it is there, `required` answers 401 without. */
  readonly session: 'none' | 'optional' | 'required'
  /** Whether the service itself requires a nonce (docs/interface.md 5). */
  readonly nonce: 'never' | 'always'
  /** A session starts here, so a nonce that was issued to nobody is good whatever cookie comes along. */
  readonly startsSession?: true
  /** How the first-party proxy treats the route; null keeps it out of the proxy. */
  readonly proxy: ProxyPolicy | null
  /** Webhooks come from another site by nature. */
  readonly crossSite?: 'allowed'
  readonly cache?: 'public'
  /** Status of its VALIDATION_FAILED (docs/contract.md 2.5). */
  readonly invalid: 400 | 422
  /** `raw` hands the bytes over unread (webhooks). */
  readonly bodyLimitBytes?: number
  readonly query?: Query
  readonly body?: Body
  /** Parameters not named by the query schema: ignored unless the route refuses them. */
  readonly unknownQuery?: 'refused'
  /** Turns a failure that nobody foresaw into the route's own code. */
  readonly unforeseen?: 'UPSTREAM_UNAVAILABLE'
  /** Checks that come before the body is read. */
  readonly gate?: (call: Call) => void
  /** Wraps everything after the body's bytes are in: checkout's own gates and its Idempotency-Key. */
  readonly around?: (call: Call, body: Uint8Array, next: (call: Call) => Promise<Response>) => Promise<Response>
  readonly handler: (
    call: Call,
    input: { params: Parsed<Params>; query: Parsed<Query>; body: Parsed<Body>; raw: Uint8Array }
  ) => Reply | Response | Promise<Reply | Response>
}

/**
 * Types a route's handler by its schemas, what it answers included, and by its session: where one is required,
 * `identity` is never null.
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
