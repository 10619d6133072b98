import { connect } from 'node:net'
import { listenHttp, type HttpListener, type HttpOptions } from '../../../src/platform/http/listen.ts'

/** Writes bytes to a socket and returns everything that the server sends until it closes the connection. */
export async function exchange(listener: HttpListener, bytes: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = connect(listener.port, listener.host)
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  socket.on('close', () => resolve(answer))
  socket.write(Buffer.from(bytes, 'latin1'))
  return promise
}

export async function serving(
  handle: HttpOptions['handle'],
  options: Partial<HttpOptions> = {}
): Promise<HttpListener & { logged: string[] }> {
  const logged: string[] = []
  const listener = await listenHttp({
    handle,
    host: '127.0.0.1',
    port: 0,
    log: { error: (_message, fields) => void logged.push(String(fields?.['error'])) },
    ...options
  })
  return { ...listener, logged }
}
