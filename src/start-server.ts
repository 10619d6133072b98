import type { App } from './app.ts'
import { watchDatabaseFile } from './operations/file-watch.ts'
import { instanceHeader, instanceOf } from './operations/instance.ts'
import { startJobs } from './operations/jobs.ts'
import type { Jobs } from './operations/jobs.ts'
import { startMetrics } from './operations/metrics/serve-metrics.ts'
import type { Metrics } from './operations/metrics/serve-metrics.ts'
import { lockServer } from './operations/server-lock.ts'
import { startWatchdog } from './operations/watchdog.ts'
import type { Watchdog } from './operations/watchdog.ts'
import { startCheckpoints } from './platform/db/checkpoints.ts'
import type { Checkpoints } from './platform/db/checkpoints.ts'
import { disableBusyTimeout } from './platform/db/database.ts'
import { notFound } from './platform/http/answers.ts'
import { parseTrustedProxies, watchForwarding } from './platform/http/client-address.ts'
import { listenHttp } from './platform/http/listen.ts'
import type { HttpListener, HttpOptions } from './platform/http/listen.ts'
import { passkeyAccess } from './pages/desk/access.ts'
import { serveDesk } from './pages/desk/serve.ts'
import { serveDownloads, serveFeeds } from './pages/files.ts'
import { servePages } from './pages/pages.ts'
import { requireOwnTexts } from './shop/settings/own-texts.ts'
import { createWebApp, serveProbe, transportSecurity } from './web-app.ts'

/** How long running requests may take after the server was told to stop. */
export const drainMs = 10_000

export type RunningServer = {
  /** Its address, such as http://127.0.0.1:3000. */
  url: string
  port: number
  /** Resolves when another file has taken the place of the open database; the server refuses every request from then on. */
  readonly databaseReplaced: Promise<void>
  /** Stops accepting requests, finishes the running ones and stops the jobs. The App stays open. */
  stop(): Promise<void>
}

/**
 * Serves the API, the proxy, the hosted pages and the sandbox's pages of an App, and runs its jobs.
 *
 * @param listen opens the port; the test kit keeps one port for several servers
 * @throws AppError CONFLICT while another server runs on the data folder; CONFIG_INVALID when the host does not resolve,
 *   a port is not available, or a text of the operator cannot be used
 */
export async function startServer(
  app: App,
  listen: (options: HttpOptions) => Promise<HttpListener> = listenHttp
): Promise<RunningServer> {
  requireOwnTexts(app.config.dataDir)
  const lock = lockServer(app.config.dataDir)
  disableBusyTimeout(app.db.sqlite)
  let stopping = false
  const h3 = createWebApp(app)
  servePages(h3, app)
  serveDownloads(h3, app)
  serveFeeds(h3, app)
  serveDesk(h3, app, passkeyAccess(app))
  const instance = { [instanceHeader]: instanceOf(app) }
  serveProbe(h3, '/livez', () => new Response('ok\n', { headers: instance }))
  serveProbe(h3, '/readyz', () => readiness(app, stopping))
  const { sandbox } = app
  if (sandbox !== null) h3.all('/sandbox/**', ({ req }) => answerOrNotFound(sandbox.pages(req)))
  const trusted = parseTrustedProxies(app.config.trustedProxies)
  const watch = watchForwarding(app.config.dataDir, trusted, app.clock.now, app.log)
  const fileWatch = watchDatabaseFile(app)
  const handle = (request: Request): Response | Promise<Response> => {
    if (fileWatch.isReplaced()) return new Response('the database was replaced\n', { status: 503 })
    watch(request)
    return h3.fetch(request)
  }
  const webhookUrl = (): string => `${app.publicUrl()}${app.config.apiPrefix}/webhooks/stripe`
  app.setWebhookReceiver(async (body, headers) => h3.request(webhookUrl(), { method: 'POST', body, headers }))
  let metrics: Metrics | undefined
  let listener: HttpListener | undefined
  let jobs: Jobs | undefined
  let watchdog: Watchdog | undefined
  let checkpoints: Checkpoints | undefined
  const stop = async (): Promise<void> => {
    stopping = true
    await listener?.close({ graceMs: drainMs })
    await jobs?.stop()
    await checkpoints?.stop()
    watchdog?.stop()
    fileWatch.stop()
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
    checkpoints = startCheckpoints(app.db, app.log)
    jobs = startJobs(app, openSince)
    return { url: listener.url, port: listener.port, databaseReplaced: fileWatch.replaced, stop }
  } catch (error) {
    // An open port or timer would keep the process alive.
    await stop()
    throw error
  }
}

async function answerOrNotFound(answer: Promise<Response | undefined>): Promise<Response> {
  const response = await answer
  if (response === undefined) throw notFound()
  return response
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
