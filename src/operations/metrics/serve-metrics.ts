import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { finishedRequests } from '../../platform/http/routing.ts'
import type { FinishedRequest } from '../../platform/http/routing.ts'
import { buildId, packageVersion } from '../../platform/package-root.ts'
import { failedLogins } from '../../shop/accounts/login.ts'
import { registerShopMetrics } from './shop-metrics.ts'

export type Metrics = { port: number; stop(): Promise<void> }

/** Gauges of the default metrics whose names end in _total, which is for counters. Each has a metric by type, too. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/**
 * Serves the shop's metrics to Prometheus at /metrics, on a separate port that accepts only connections from this
 * machine, because the numbers of orders and customers are private.
 *
 * @param port 0 for any free port
 * @throws AppError CONFIG_INVALID when the port is not available
 */
export async function startMetrics(app: App, port: number): Promise<Metrics> {
  const prometheus = await import('prom-client')
  const register = new prometheus.Registry()
  const registers = [register]
  prometheus.collectDefaultMetrics({ register })
  for (const name of misnamed) register.removeSingleMetric(name)
  const durations = new prometheus.Histogram({
    name: 'shopstead_http_request_duration_seconds',
    help: 'How long requests to the API took, by route.',
    labelNames: ['method', 'path', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    registers
  })
  const loginFailures = new prometheus.Counter({
    name: 'shopstead_login_failures_total',
    help: 'Wrong passwords and unknown accounts, at login and where an account confirms its password.',
    registers
  })
  const build = { version: packageVersion(), build: buildId(), node: process.version }
  const buildInfo = new prometheus.Gauge({
    name: 'shopstead_build_info',
    help: 'Always 1. The labels say which version runs.',
    labelNames: Object.keys(build),
    registers
  })
  buildInfo.set(build, 1)
  const read = registerShopMetrics(prometheus, registers, app)
  const record = (message: unknown): void => {
    const { method, path, status, ms } = message as FinishedRequest
    durations.observe({ method, path, status }, ms / 1000)
  }
  const recordLogin = (): void => loginFailures.inc()
  const scrape = async (): Promise<string> => {
    read()
    return register.metrics()
  }
  const server = await listenLocally(scrape, register.contentType, port)
  finishedRequests.subscribe(record)
  failedLogins.subscribe(recordLogin)
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    stop() {
      finishedRequests.unsubscribe(record)
      failedLogins.unsubscribe(recordLogin)
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    }
  }
}

function listenLocally(scrape: () => Promise<string>, contentType: string, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/metrics') void answer(scrape, contentType, response)
    else response.writeHead(404).end()
  })
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new AppError(
          'CONFIG_INVALID',
          `SHOPSTEAD_METRICS_PORT: port ${port} is not available. Choose another port.`,
          {},
          { cause }
        )
      )
    )
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

async function answer(scrape: () => Promise<string>, contentType: string, response: ServerResponse): Promise<void> {
  try {
    const text = await scrape()
    response.writeHead(200, { 'content-type': contentType }).end(text)
  } catch {
    // Prometheus records the failed scrape. The cause shows in the log, because requests fail for the same reason.
    response.writeHead(503).end()
  }
}
