import type { App } from '../app.ts'
import { startServer } from '../server.ts'
import type { RunningServer } from '../server.ts'
import { messages } from './output.ts'

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
  const signal = await stopped
  process.once(signal, () => process.exit(130))
  messages.info('Stopping: requests under way are finished first.')
  await server.stop()
}
