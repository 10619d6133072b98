import { connect } from 'node:net'

/** Writes bytes to a TCP socket and returns everything received until the server closes it. */
export async function exchangeWith(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  socket.on('close', () => resolve(answer))
  socket.write(Buffer.from(bytes, 'latin1'))
  return promise
}
