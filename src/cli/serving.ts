import type { App } from '../app.ts'
import type { Door } from '../platform/http/listen.ts'
import type { Logger } from '../platform/log.ts'
import { startServer } from '../start-server.ts'
import type { RunningServer } from '../start-server.ts'
import type { Terminal } from './terminal.ts'

/**
 * Where a server writes messages for its operator. Outside development, standard error contains only JSON log lines.
 */
export function operatorLog(
  { config, log }: Pick<App, 'config' | 'log'>,
  { messages }: Terminal
): Pick<Logger, 'info' | 'warn'> {
  if (config.env !== 'development') return log
  return { info: (text) => messages.info(text), warn: (text) => messages.warn(text) }
}

/** What a server needs to take the place of one that follows, in the same process. */
export type Successor = {
  listen: Door['listen']
  /** The signal to stop, for which the process waits already. */
  stopped: Promise<void>
}

/**
 * Serves until the process receives a signal to stop, then finishes the open requests.
 *
 * @param announce called when the server listens
 */
export async function serveUntilStopped(
  app: App,
  terminal: Terminal,
  announce: (server: RunningServer) => void,
  successor?: Successor
): Promise<void> {
  const stopped = successor?.stopped ?? terminal.untilStopped()
  const server = await startServer(app, successor?.listen)
  announce(server)
  await stopped
  operatorLog(app, terminal).info('Stopping after the open requests have finished.')
  await server.stop()
}
