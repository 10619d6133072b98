import { defaultBodyLimitBytes } from '../api/route.ts'
import { routes } from '../api/routes.ts'

/** What the proxy has to know of one route that it lets through. */
export type AllowedRoute = {
  readonly method: string
  /** Under the service's api_root, and under the proxy's own prefix. */
  readonly path: string
  readonly nonce: boolean
  readonly query: readonly string[]
  readonly timeoutMs: number
  readonly bodyLimitBytes: number
}

/** What the proxy lets through, read off the route table. The build writes it out as data, so that a site's server need not load the shop. */
export const allowlist: readonly AllowedRoute[] = routes.flatMap(({ method, path, proxy, bodyLimitBytes }) =>
  proxy === null
    ? []
    : [
        {
          method,
          path,
          nonce: proxy.nonce,
          query: proxy.query,
          timeoutMs: proxy.timeoutMs ?? 15_000,
          bodyLimitBytes: bodyLimitBytes ?? defaultBodyLimitBytes
        }
      ]
)
