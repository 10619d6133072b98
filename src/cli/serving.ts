import type { App } from '../app.ts'
import type { Logger } from '../platform/log.ts'
import { startServer } from '../start-server.ts'
import type { RunningServer } from '../start-server.ts'
import type { Terminal } from './terminal.ts'

/** Where a server speaks to its operator: outside development its standard error is a log of JSON lines and nothing else. */
export function operatorLog({ config, log }: App, { messages }: Terminal): Pick<Logger, 'info' | 'warn'> {
  if (config.env !== 'development') return log
  return { info: (text) => messages.info(text), warn: (text) => messages.warn(text) }
}

/**
 * Serves until the process is asked to stop, then finishes the requests under way.
 *
 * @param announce told once the server listens
 */
export async function serveUntilStopped(
  app: App,
  terminal: Terminal,
  announce: (server: RunningServer) => void
): Promise<void> {
  const stopped = terminal.untilStopped()
  const server = await startServer(app)
  announce(server)
  await stopped
  operatorLog(app, terminal).info('Stopping: requests under way are finished first.')
  await server.stop()
}
