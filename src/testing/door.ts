import { listenHttp } from '../platform/http/listen.ts'
import type { Handle, HttpListener, HttpOptions } from '../platform/http/listen.ts'

/** A listener that stays when the server behind it is replaced, so that clients keep their connections. */
export type Door = {
  /** Serves by a server's handler from now on. Closing the result waits for its running requests. */
  listen(options: Pick<HttpOptions, 'handle'>): Promise<HttpListener>
  close(): Promise<void>
}

/** Opens a door on a free port. A request that arrives while no server is behind it waits for the next one. */
export async function openDoor(log: HttpOptions['log']): Promise<Door> {
  let server = Promise.withResolvers<Handle>()
  const running = new Set<Promise<Response>>()
  const { close, ...address } = await listenHttp({ handle: serve, host: '127.0.0.1', port: 0, log })
  return {
    listen: async (options) => {
      server.resolve(options.handle)
      return { ...address, close: leave }
    },
    close: () => close({ graceMs: 1000 })
  }
  async function serve(request: Request): Promise<Response> {
    const handle = await server.promise
    const response = Promise.resolve(handle(request))
    running.add(response)
    try {
      return await response
    } finally {
      running.delete(response)
    }
  }
  async function leave(): Promise<void> {
    server = Promise.withResolvers()
    await Promise.allSettled(running)
  }
}
