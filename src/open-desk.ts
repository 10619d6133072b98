import type { App } from './app.ts'
import { listenHttp } from './platform/http/listen.ts'
import { linkAccess } from './pages/desk/access.ts'
import { serveDesk } from './pages/desk/serve.ts'
import { serveAssets } from './pages/pages.ts'
import { serveMedia } from './pages/files.ts'
import { createRouting } from './platform/http/routing.ts'
import { refusals } from './web-app.ts'

/** A desk on the machine itself. `link` works once. */
export type OpenDesk = { link: string; close: () => Promise<void> }

/**
 * Serves the desk on the loopback address, for who has a shell on the machine. It needs no server of the shop and may run
 * beside one.
 *
 * @param port 0 for any free port
 * @throws AppError CONFIG_INVALID when the port is not available
 */
export async function openDesk(app: App, port: number): Promise<OpenDesk> {
  let host = ''
  const access = linkAccess(() => host)
  const { log, config } = app
  const h3 = createRouting({ log, apiPrefix: config.apiPrefix, refuse: refusals(app) })
  serveMedia(h3, config.dataDir)
  serveDesk(h3, app, access)
  serveAssets(h3)
  const listener = await listenHttp({ handle: (request) => h3.fetch(request), host: '127.0.0.1', port, log: app.log })
  host = `127.0.0.1:${listener.port}`
  return {
    link: `http://${host}/desk/open?token=${access.token}`,
    close: () => listener.close({ graceMs: 1000 })
  }
}
