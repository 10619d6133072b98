import { createApi } from './api/server.ts'
import { AppError } from './errors.ts'
import type { App } from './app.ts'
import { startJobs } from './jobs.ts'
import { failure, requestIds } from './platform/http/envelope.ts'
import { listenHttp } from './platform/http/listen.ts'
import { rawPath, rawTarget } from './platform/http/node-request.ts'
import { serveDownload } from './pages/downloads.ts'
import { createPages } from './pages/pages.ts'
import { mountProxy, mountedAt } from './proxy/mounted.ts'

/** How long requests under way may still take once the server has been told to stop. */
const drainMs = 10_000

export type RunningServer = {
  /** Where it listens, such as http://127.0.0.1:3000. */
  url: string
  port: number
  /** Stops taking requests, finishes those under way, stops the jobs. The App stays open. */
  stop(): Promise<void>
}

/** Serves the API, the hosted pages and the sandbox's pages of one App, and runs its jobs. */
export async function startServer(app: App): Promise<RunningServer> {
  const api = createApi(app)
  const proxy = mountProxy(app, api)
  const pages = createPages(app)
  let stopping = false
  const handle = async (request: Request): Promise<Response> => {
    const path = rawPath(rawTarget(request))
    if (path === '/livez') return new Response('ok\n')
    if (path === '/readyz') return readiness(app, stopping)
    if (path.startsWith('/sandbox/') && app.sandbox !== null)
      return (await app.sandbox.pages(request)) ?? notFound(app, request)
    if (path.startsWith(`${app.config.apiPrefix}/`)) return api(request)
    if (path.startsWith(`${mountedAt}/`)) return proxy(request)
    if (path.startsWith('/downloads/')) return (await serveDownload(app, request)) ?? notFound(app, request)
    return (await pages(request)) ?? notFound(app, request)
  }
  app.setWebhookReceiver(async (body, headers) => {
    const response = await api(
      new Request(`${app.publicUrl()}${app.config.apiPrefix}/webhooks/stripe`, { method: 'POST', body, headers })
    )
    return { status: response.status }
  })
  const listener = await listenHttp({
    handle,
    host: app.config.host,
    port: app.config.port,
    https: app.config.https,
    log: app.log
  })
  app.setPublicUrl(`${app.config.https ? 'https' : 'http'}://localhost:${listener.port}`)
  const jobs = startJobs(app)
  return {
    url: listener.url,
    port: listener.port,
    async stop() {
      stopping = true
      await listener.close({ graceMs: drainMs })
      await jobs.stop()
    }
  }
}

/** Ready while the database answers and nobody has asked the server to stop. */
function readiness(app: App, stopping: boolean): Response {
  try {
    app.db.sqlite.prepare('SELECT 1').get()
    return stopping ? new Response('stopping\n', { status: 503 }) : new Response('ready\n')
  } catch {
    return new Response('the database does not answer\n', { status: 503 })
  }
}

function notFound(app: App, request: Request): Response {
  const ids = requestIds(request.headers.get('x-correlation-id'))
  return failure(new AppError('NOT_FOUND', 'There is nothing at this address.'), ids, app.clock.now(), {
    noStore: true
  })
}
