import type { Eventually } from '../eventually.ts'
import { listenHttp } from './listen.ts'
import type { Handle, HttpListener, HttpOptions } from './listen.ts'

/** A listener that stays when the server behind it is replaced, so that clients keep their connections. */
export type Door = {
  /**
   * Serves by a server's handler from now on, also in place of the handler before it. Closing the result waits for the
   * running requests of this handler.
   */
  listen(options: Pick<HttpOptions, 'handle'>): Promise<HttpListener>
  close: HttpListener['close']
  url: string
  port: number
}

type Inside = { handle: Handle; running: Set<Promise<Response>> }

/** Opens a door. A request that arrives while no server is behind it waits for the next one. */
export async function openDoor(options: Omit<HttpOptions, 'handle'>): Promise<Door> {
  let inside: Inside | undefined
  let next = Promise.withResolvers<void>()
  const handle = (request: Request): Eventually<Response> => {
    if (inside === undefined) return next.promise.then(() => handle(request))
    const response = inside.handle(request)
    return response instanceof Promise ? counted(inside, response) : response
  }
  const { close, ...address } = await listenHttp({ ...options, handle })
  return {
    listen: async (server) => {
      const own: Inside = { handle: server.handle, running: new Set() }
      inside = own
      next.resolve()
      return { ...address, close: () => leave(own) }
    },
    close,
    url: address.url,
    port: address.port
  }

  async function leave(own: Inside): Promise<void> {
    if (inside === own) {
      inside = undefined
      next = Promise.withResolvers()
    }
    await Promise.allSettled(own.running)
  }
}

function counted({ running }: Inside, response: Promise<Response>): Promise<Response> {
  const counting = response.finally(() => running.delete(counting))
  running.add(counting)
  return counting
}
