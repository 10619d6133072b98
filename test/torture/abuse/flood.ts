import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type FloodKind = keyof typeof payloads

export type FloodOptions = { port: number; what: FloodKind; connections: number; forMs: number }

/** How many payloads of about 64 KB were sent. */
export type FloodResult = { sent: number }

const json = 'Host: 127.0.0.1\r\nContent-Type: application/json\r\n'
const chunked = `POST /api/v1/auth/login HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n`
const keys = `{${Array.from({ length: 4_000 }, () => '"__proto__":1').join()}}`

/** What each connection sends at once, and whether it then waits for the server to close it, or only for an answer. */
const payloads = {
  'tiny chunks': chunked + '1\r\nx\r\n'.repeat(10_900),
  'pipelined requests': 'GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(1_300),
  'hostile JSON': `POST /api/v1/auth/login HTTP/1.1\r\n${json}Connection: close\r\nContent-Length: ${keys.length}\r\n\r\n${keys}`,
  'half-sent bodies': `POST /api/v1/webhooks/stripe HTTP/1.1\r\n${json}Stripe-Signature: t=1,v1=00\r\nContent-Length: 262144\r\n\r\n${'x'.repeat(250_000)}`
} as const

/** Sends one payload and waits until the server closes the connection. */
export function sendPayload(port: number, what: FloodKind): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined).resume()
  socket.write(payloads[what])
  return new Promise((resolve) => void socket.once('close', () => resolve()))
}

/** Sends a payload on many connections. A connection that the server closes is opened again, at most ten times a second. */
export async function flood({ port, what, connections, forMs }: FloodOptions): Promise<FloodResult> {
  const result = { sent: 0 }
  const until = performance.now() + forMs
  const payload = Buffer.from(payloads[what])
  const sockets = new Set<Socket>()
  async function attackOnce(): Promise<void> {
    const socket = connect(port, '127.0.0.1')
    sockets.add(socket)
    const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()))
    socket.on('error', () => undefined).resume()
    socket.write(payload)
    result.sent += 1
    await Promise.race([closed, sleep(Math.max(0, until - performance.now()))])
    sockets.delete(socket)
    socket.destroy()
  }
  async function attackAgain(): Promise<void> {
    while (performance.now() < until) {
      await attackOnce()
      await sleep(100)
    }
  }
  await Promise.all(Array.from({ length: connections }, attackAgain))
  for (const socket of sockets) socket.destroy()
  return result
}
