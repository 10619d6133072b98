import type { Socket } from 'node:net'

/** Node's HTTP parser of a connection: its callbacks by number. */
type WithParser = Socket & { readonly parser?: Record<string, unknown> | null }

const callbackNames: ReadonlySet<string> = new Set([
  'parserOnHeaders',
  'parserOnHeadersComplete',
  'parserOnBody',
  'parserOnMessageComplete'
])

/**
 * Stops reading a connection, in the middle of what was received. Node parses all that a read returned, up to 64 KB, also
 * after the socket was paused or destroyed, and makes a Buffer for each chunk of a body: 64 KB of chunks of one byte took
 * 25 ms and more, and a thousand connections with them 40 s before any other connection was read. Without its callbacks the
 * parser only skips those bytes.
 *
 * Node has no public way to do this (`parser.pause()` waits for the end of the read). If the names of the callbacks change,
 * the socket is only paused, and test/platform/http/stop-parsing.test.ts fails.
 */
export function stopParsing(socket: Socket): void {
  socket.pause()
  const { parser } = socket as WithParser
  for (const [key, callback] of Object.entries(parser ?? {})) {
    if (!parser || typeof callback !== 'function' || !callbackNames.has(callback.name)) continue
    parser[key] = null
    // Node uses a parser again for other connections. Its own listener for `close`, which returns it, runs before.
    socket.once('close', () => void (parser[key] = callback))
  }
}
