import type { Config } from '../platform/config/config.ts'
import { pathPattern, rawPath, rawTarget } from '../platform/http/request.ts'
import type { Route } from './route.ts'
import { routes } from './routes.ts'

/** Whether a server that only reads answers a route: the catalogue, which is the same for everyone, and the status. */
export function isOpenToReaders({ method, path, cache }: Pick<Route, 'method' | 'path' | 'cache'>): boolean {
  return method === 'GET' && (cache === 'public' || path === '/health')
}

/**
 * The rule of a server that only reads, for requests to the API, to the mounted proxy, to public files and to the probes. All others
 * could write, or would trust a session that has ended since.
 *
 * @param proxyPrefix the path of the mounted proxy
 */
export function readersRule(
  { apiPrefix }: Pick<Config, 'apiPrefix'>,
  proxyPrefix: string
): (request: Request) => boolean {
  const open = routes.filter(isOpenToReaders)
  const paths = [
    ...open.map(({ path }) => `${apiPrefix}${path}`),
    ...open.filter(({ proxy }) => proxy !== null).map(({ path }) => `${proxyPrefix}${path}`),
    '/livez',
    '/readyz',
    '/openapi.json',
    '/docs'
  ]
  const patterns = paths.map(pathPattern)
  return (request) => {
    const path = rawPath(rawTarget(request))
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    return (
      isRead &&
      (path.startsWith('/media/') || path.startsWith('/assets/') || patterns.some((pattern) => pattern.test(path)))
    )
  }
}
