import { defaultBodyLimitBytes } from '../api/route.ts'
import { routes } from '../api/routes.ts'

/** A route that the proxy forwards. */
export type AllowedRoute = {
  readonly method: string
  /** Relative to the service's api_root and to the proxy's prefix; `{id}` stands for one segment. */
  readonly path: string
  readonly nonce: boolean
  readonly query: readonly string[]
  readonly timeoutMs: number
  readonly bodyLimitBytes: number
}

/**
 * The routes that the proxy forwards, from the route table. The build replaces this module with its data, so that a
 * site's server does not load the shop.
 */
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
