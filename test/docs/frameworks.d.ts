/** What the Nuxt snippet uses; Nuxt imports it automatically from h3. */
declare function defineEventHandler<Result>(handler: (event: NuxtEvent) => Result): (event: NuxtEvent) => Result
declare function toWebRequest(event: NuxtEvent): Request
declare function getRequestIP(event: NuxtEvent): string | undefined
declare function appendResponseHeader(event: NuxtEvent, name: string, value: string): void
interface NuxtEvent {
  readonly path: string
  readonly headers: Headers
}

/** What the snippets for Next.js import. */
declare module 'next/headers' {
  export function headers(): Promise<Headers>
  export function cookies(): Promise<{ set(name: string, value: string, options: object): void }>
}

/** The part of SvelteKit's event that the snippets use. */
declare module '@sveltejs/kit' {
  export interface RequestEvent {
    request: Request
    cookies: { set(name: string, value: string, options: { path: string }): void }
    getClientAddress(): string
  }
}

/** What the snippet for Express imports. */
declare module 'express' {
  import type { RequestListener, Server } from 'node:http'
  type Express = {
    use(path: string, listener: RequestListener): Express
    use(listener: RequestListener): Express
    listen(port: number): Server
  }
  function express(): Express
  namespace express {
    function static(root: string): RequestListener
  }
  export default express
}

/** What the snippet for node:http imports. */
declare module 'sirv' {
  import type { RequestListener } from 'node:http'
  export default function sirv(folder: string): RequestListener
}

/** What the snippet for Hono imports. */
declare module 'hono' {
  export class Context {
    req: { raw: Request }
  }
  export class Hono {
    all(path: string, handler: (c: Context) => Promise<Response>): Hono
    use(handler: (c: Context) => Promise<Response>): Hono
    fetch: (request: Request) => Promise<Response>
  }
}
declare module '@hono/node-server' {
  export function serve(options: { fetch: (request: Request) => Promise<Response>; port: number }): void
}
declare module '@hono/node-server/serve-static' {
  import type { Context } from 'hono'
  export function serveStatic(options: { root: string }): (c: Context) => Promise<Response>
}
declare module '@hono/node-server/conninfo' {
  import type { Context } from 'hono'
  export function getConnInfo(c: Context): { remote: { address?: string } }
}

/** The part of Astro's context that the snippet uses. */
declare module 'astro' {
  export interface APIContext {
    request: Request
    clientAddress: string
  }
}
