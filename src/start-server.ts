import { createDescription } from './api/openapi.ts'
import { createApi } from './api/server.ts'
import { AppError } from './errors.ts'
import type { App } from './app.ts'
import { instanceHeader, instanceOf } from './operations/instance.ts'
import { startJobs } from './operations/jobs.ts'
import type { Jobs } from './operations/jobs.ts'
import { startMetrics } from './operations/metrics/serve-metrics.ts'
import type { Metrics } from './operations/metrics/serve-metrics.ts'
import { lockServer } from './operations/server-lock.ts'
import { startWatchdog } from './operations/watchdog.ts'
import type { Watchdog } from './operations/watchdog.ts'
import { andThen } from './platform/eventually.ts'
import type { Eventually } from './platform/eventually.ts'
import { disableBusyTimeout } from './platform/db/busy.ts'
import { parseTrustedProxies } from './platform/http/client-address.ts'
import { failure, requestIds } from './platform/http/envelope.ts'
import { watchForwarding } from './platform/http/forwarding.ts'
import { listenHttp } from './platform/http/listen.ts'
import type { HttpListener, HttpOptions } from './platform/http/listen.ts'
import { rawPath, rawTarget } from './platform/http/node-request.ts'
import { serveDownload } from './pages/downloads.ts'
import { serveMedia } from './pages/media.ts'
import { createNotFoundPage, createPages, prefersHtml } from './pages/pages.ts'
import { mountProxy, mountedAt } from './proxy/mounted.ts'

/** How long running requests may take after the server was told to stop. */
const drainMs = 10_000

export type RunningServer = {
  /** Its address, such as http://127.0.0.1:3000. */
  url: string
  port: number
  /** Stops accepting requests, finishes the running ones and stops the jobs. The App stays open. */
  stop(): Promise<void>
}

type Serve = (request: Request) => Eventually<Response | undefined>

/**
 * Serves the API, the proxy, the hosted pages and the sandbox's pages of an App, and runs its jobs.
 *
 * @param listen opens the port; the test kit keeps one port for several servers
 * @throws AppError CONFLICT while another server runs on the data folder; CONFIG_INVALID when the host does not resolve
 *   or a port is not available
 */
export async function startServer(
  app: App,
  listen: (options: HttpOptions) => Promise<HttpListener> = listenHttp
): Promise<RunningServer> {
  const lock = lockServer(app.config.dataDir)
  disableBusyTimeout(app.db.sqlite)
  let stopping = false
  const api = createApi(app)
  const instance = { [instanceHeader]: instanceOf(app) }
  const description = createDescription(app)
  const pages = createPages(app, api)
  /** The handlers by path, or by path prefix if it ends in a slash. The first match answers; the pages answer the rest. */
  const handlers: [path: string, serve: Serve][] = [
    [`${app.config.apiPrefix}/`, api],
    [`${mountedAt}/`, mountProxy(app, api)],
    ['/downloads/', (request) => serveDownload(app, request)],
    ['/media/', (request) => serveMedia(app, request)],
    ['/openapi.json', description],
    ['/docs', description],
    ['/livez', probe(() => new Response('ok\n', { headers: instance }))],
    ['/readyz', probe(() => readiness(app, stopping))],
    ...(app.sandbox === null ? [] : [['/sandbox/', app.sandbox.pages] satisfies [string, Serve]])
  ]
  const notFound = notFoundAnswer(app)
  const trusted = parseTrustedProxies(app.config.trustedProxies)
  const watch = watchForwarding(app.config.dataDir, trusted, app.clock.now, app.log)
  const handle = (request: Request): Eventually<Response> => {
    watch(request)
    const path = rawPath(rawTarget(request))
    const [, serve = pages] =
      handlers.find(([prefix]) => (prefix.endsWith('/') ? path.startsWith(prefix) : path === prefix)) ?? []
    return andThen(serve(request), (response) => response ?? notFound(request))
  }
  app.setWebhookReceiver(async (body, headers) => {
    const response = await api(
      new Request(`${app.publicUrl()}${app.config.apiPrefix}/webhooks/stripe`, { method: 'POST', body, headers })
    )
    return { status: response.status }
  })
  let metrics: Metrics | undefined
  let listener: HttpListener | undefined
  let jobs: Jobs | undefined
  let watchdog: Watchdog | undefined
  const stop = async (): Promise<void> => {
    stopping = true
    await listener?.close({ graceMs: drainMs })
    await jobs?.stop()
    watchdog?.stop()
    await metrics?.stop()
    lock.release()
  }
  try {
    const { metricsPort, host, port, https } = app.config
    if (metricsPort !== null) metrics = await startMetrics(app, metricsPort)
    const openSince = app.clock.now()
    listener = await listen({ handle, host, port, https, headers: transportSecurity(app), log: app.log })
    app.setPublicUrl(`${https ? 'https' : 'http'}://localhost:${listener.port}`)
    watchdog = startWatchdog(app.log)
    jobs = startJobs(app, openSince)
    return { url: listener.url, port: listener.port, stop }
  } catch (error) {
    // An open port or timer would keep the process alive.
    await stop()
    throw error
  }
}

/**
 * Browsers that have reached the shop by https once never use http again (RFC 6797), if SHOPSTEAD_PUBLIC_URL is https. It
 * says nothing about subdomains, because the shop does not know which ones serve https.
 */
function transportSecurity({ config }: App): string[] {
  return config.publicUrl?.startsWith('https:') ? ['strict-transport-security', 'max-age=31536000'] : []
}

/** A probe accepts only GET and HEAD. */
function probe(answer: () => Response): Serve {
  return ({ method }) => {
    const isRead = method === 'GET' || method === 'HEAD'
    const response = isRead ? answer() : new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } })
    response.headers.set('x-content-type-options', 'nosniff')
    return response
  }
}

/** Ready while the database answers and the server is not stopping. */
function readiness(app: App, stopping: boolean): Response {
  try {
    // A statement without a table would not read the file.
    app.db.sqlite.prepare('SELECT count(*) FROM settings').get()
    return stopping ? new Response('stopping\n', { status: 503 }) : new Response('ready\n')
  } catch {
    return new Response('the database does not answer\n', { status: 503 })
  }
}

/** The 404 page for a browser, the JSON envelope for other clients. */
function notFoundAnswer(app: App): (request: Request) => Response {
  const page = createNotFoundPage(app)
  return (request) => {
    if (prefersHtml(request)) return page(request)
    const ids = requestIds(request.headers.get('x-correlation-id'))
    const error = new AppError('NOT_FOUND', 'There is nothing at this address.')
    return failure(error, ids, app.clock.now(), { noStore: true })
  }
}
