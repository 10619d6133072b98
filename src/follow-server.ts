import type { H3, H3Event } from 'h3'
import { AppError } from './errors.ts'
import type { App } from './app.ts'
import { deleteCopy, deleteOtherCopies, listCopies, openCopy, startFollowing } from './operations/replica/follow.ts'
import type { Copy, Following } from './operations/replica/follow.ts'
import { beginToFollow } from './operations/replica/role.ts'
import { lockServer } from './operations/server-lock.ts'
import type { Config } from './platform/config/config.ts'
import type { Replica } from './platform/config/replica.ts'
import type { Door, Handle, HttpListener } from './platform/http/listen.ts'
import { failure, requestIds } from './platform/http/answers.ts'
import { createRouting } from './platform/http/routing.ts'
import { toIso } from './platform/iso-time.ts'
import { describeError } from './platform/log.ts'
import type { Logger } from './platform/log.ts'
import { createReadOnlyPage, prefersHtml, serveAssets } from './pages/pages.ts'
import { mountedAt } from './proxy/mounted.ts'
import { createWebApp, serveProbe } from './web-app.ts'
import { pathPattern, rawPath, rawTarget } from './platform/http/client-address.ts'
import type { Route } from './api/route.ts'
import { routes } from './api/routes.ts'

export type FollowingServer = {
  /** Stops following. The last copy goes on answering, until another server takes its place at the door. */
  stop(): Promise<void>
  /** Closes the copy after its requests have ended. */
  close(): Promise<void>
}

type Parts = { config: Config; replica: Replica; door: Door; log: Logger }

/** A handler behind the door, and the shop that it reads from; null before the first copy. */
type Served = { listener: HttpListener; app: App | null }

/**
 * Serves the catalog from a copy of the replica's newest state, and exchanges the copy when the replica has changed,
 * without refusing a request. Before the first copy, only the probes answer.
 *
 * @throws AppError CONFLICT while another server runs on the data folder
 */
export async function startFollowingServer(parts: Parts): Promise<FollowingServer> {
  const { config, replica, door, log } = parts
  const { dataDir } = config
  beginToFollow(dataDir)
  const lock = lockServer(dataDir)
  let served: Served = { listener: await door.listen({ handle: serveWithoutCopy(config, log) }), app: null }
  let following: Following | undefined
  const currentAt = (): number | null => following?.currentAt() ?? null
  const serve = async (copy: Copy): Promise<void> => {
    const before = served
    served = await putInPlace(parts, copy, currentAt)
    log.info('a copy of the replica is served', { what: toIso(copy.updatedAt) })
    void retire(before, log)
  }
  const present = await serveLastCopy(parts, serve)
  deleteOtherCopies(dataDir, present)
  following = startFollowing({ config, replica, present, serve, log })
  return {
    async stop() {
      await following.stop()
      lock.release()
    },
    close: () => close(served)
  }
}

/** A restarted server begins with the copy that it had, also while the replica cannot be read. */
async function serveLastCopy({ config, log }: Parts, serve: (copy: Copy) => Promise<void>): Promise<Copy | undefined> {
  const [last] = listCopies(config.dataDir)
  try {
    if (last !== undefined) await serve(last)
    return last
  } catch (error) {
    log.warn('the last copy of the replica cannot be served', { error: describeError(error) })
    return undefined
  }
}

/** A copy that does not open is deleted. @throws the errors of openCopy */
async function putInPlace({ config, door, log }: Parts, copy: Copy, currentAt: () => number | null): Promise<Served> {
  const app = openOrDelete(config, copy, log)
  app.setPublicUrl(`${config.https ? 'https' : 'http'}://localhost:${door.port}`)
  const ready = (): Response => new Response(`ready\n${ageOf(copy, currentAt())}\n`)
  return { app, listener: await door.listen({ handle: serveCopy(app, config, ready) }) }
}

function openOrDelete(config: Config, copy: Copy, log: Logger): App {
  try {
    return openCopy(config, copy, log)
  } catch (error) {
    deleteCopy(copy.folder)
    throw error
  }
}

function ageOf({ updatedAt }: Copy, currentAt: number | null): string {
  const compared = currentAt === null ? 'not compared yet' : `the newest state at ${toIso(currentAt)}`
  return `read-only: the copy has the changes until ${toIso(updatedAt)}, ${compared}`
}

/** Deletes a copy after its requests have ended. */
async function retire(served: Served, log: Logger): Promise<void> {
  try {
    await close(served)
    if (served.app !== null) deleteCopy(served.app.config.dataDir)
  } catch (error) {
    log.warn('an old copy of the replica cannot be deleted', { error: describeError(error) })
  }
}

async function close({ listener, app }: Served): Promise<void> {
  await listener.close({ graceMs: 0 })
  app?.close()
}

/** The rule comes first: a request that it refuses reaches no handler. */
function serveCopy(app: App, config: Config, ready: () => Response): Handle {
  const isOpen = readersRule(config, mountedAt)
  const page = createReadOnlyPage(app)
  const h3 = createWebApp(app, config.dataDir)
  serveAssets(h3)
  serveProbes(h3, ready)
  return (request) => {
    if (isOpen(request)) return h3.fetch(request)
    return prefersHtml(request) ? page(readOnly, request) : refuse(readOnly, request)
  }
}

function serveWithoutCopy(config: Config, log: Logger): Handle {
  const refuseAll = (_error: unknown, { req }: H3Event): Response => refuse(noCopy, req)
  const h3 = createRouting({ log, apiPrefix: config.apiPrefix, refuse: refuseAll })
  serveProbes(h3, () => new Response('there is no copy of the replica yet\n', { status: 503 }))
  return (request) => h3.fetch(request)
}

function serveProbes(h3: H3, ready: () => Response): void {
  serveProbe(h3, '/livez', () => new Response('ok\n'))
  serveProbe(h3, '/readyz', ready)
}

/** A promotion takes less. */
const headers = { 'Retry-After': '30' }
const readOnly = new AppError(
  'DEPENDENCY_UNAVAILABLE',
  'Only the products can be read at the moment. Please try again in a few minutes.',
  {},
  { headers }
)
const noCopy = new AppError(
  'DEPENDENCY_UNAVAILABLE',
  'The shop is not available at the moment. Please try again in a few minutes.',
  {},
  { headers }
)

function refuse(error: AppError, request: Request): Response {
  return failure(error, requestIds(request.headers.get('x-correlation-id')), Date.now(), { noStore: true })
}

/** Whether a server that only reads answers a route: the catalog, which is the same for everyone, and the status. */
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
