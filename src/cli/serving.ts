import type { App } from '../app.ts'
import type { Logger } from '../platform/log.ts'
import { boundYoungSpace } from '../platform/young-space.ts'
import { startServer } from '../start-server.ts'
import type { RunningServer } from '../start-server.ts'
import { messages } from './output.ts'

/** Where a server speaks to its operator: outside development its standard error is a log of JSON lines and nothing else. */
export function operatorLog({ config, log }: App): Pick<Logger, 'info' | 'warn'> {
  if (config.env !== 'development') return log
  return { info: (text) => messages.info(text), warn: (text) => messages.warn(text) }
}

/**
 * Serves until SIGINT or SIGTERM, then finishes what is under way. A second signal ends the process at once.
 *
 * @param announce told once the server listens
 */
export async function serveUntilStopped(app: App, announce: (server: RunningServer) => void): Promise<void> {
  const stopped = new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  const server = await startServer(app)
  announce(server)
  boundYoungSpace()
  const signal = await stopped
  process.once(signal, () => process.exit(130))
  operatorLog(app).info('Stopping: requests under way are finished first.')
  await server.stop()
}
