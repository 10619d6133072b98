import type { Operations } from './api-types.ts'

type Method = 'GET' | 'POST' | 'PATCH'
type Name = keyof Operations
/** The paths that support a method. */
export type PathOf<M extends Method> = Name extends infer N ? (N extends `${M} ${infer Path}` ? Path : never) : never
type Operation<M extends Method, Path extends PathOf<M>> = Operations[`${M} ${Path}` & Name]
/** The response's envelope. Referrals have no `meta`; for offers it is empty. */
export type Answer<M extends Method, Path extends PathOf<M>> = Operation<M, Path>['answer']
export type Data<M extends Method, Path extends PathOf<M>> = Answer<M, Path>['data']
export type Body<M extends Method, Path extends PathOf<M>> = Operation<M, Path>['body']
export type Query<M extends Method, Path extends PathOf<M>> = Operation<M, Path>['query']

export type RequestOptions<Q = undefined> = {
  query?: Q | undefined
  signal?: AbortSignal | undefined
  /** Sent as Idempotency-Key. Checkouts with the same key charge at most once. Default for a checkout: a random key. */
  idempotencyKey?: string | undefined
  /** How fetch caches the response, for a server that renders pages. In a browser, the default is `no-cache`. */
  cache?: RequestInit['cache'] | undefined
  /** Next.js's options of fetch: how long to cache the response, and under which tags. */
  next?: { revalidate?: number | false; tags?: string[] } | undefined
}

/** Requests by method and path, for every operation of the API. */
export type Requests = {
  get<Path extends PathOf<'GET'>>(path: Path, options?: RequestOptions<Query<'GET', Path>>): Promise<Data<'GET', Path>>
  post<Path extends PathOf<'POST'>>(
    path: Path,
    ...rest: [Body<'POST', Path>] extends [undefined]
      ? [body?: undefined, options?: RequestOptions<Query<'POST', Path>>]
      : [body: Body<'POST', Path>, options?: RequestOptions<Query<'POST', Path>>]
  ): Promise<Data<'POST', Path>>
  patch<Path extends PathOf<'PATCH'>>(
    path: Path,
    body: Body<'PATCH', Path>,
    options?: RequestOptions<Query<'PATCH', Path>>
  ): Promise<Data<'PATCH', Path>>
  /** Sends a request and returns the response with its envelope, for callers that need `meta`. */
  request<M extends Method, Path extends PathOf<M>>(
    method: M,
    path: Path,
    options?: RequestOptions<Query<M, Path>> & { body?: Body<M, Path> }
  ): Promise<Answer<M, Path>>
}
