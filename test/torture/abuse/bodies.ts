import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type Target = { path: string; headers: string[] }
export type BodiesOrder = { port: number; targets: Target[]; megabytes: number; sendMs: number }

/** What became of one body: the answer, and how much of it had been sent by then and until it was cut off. */
export type BodyHarm = {
  path: string
  framing: Framing
  status: number | null
  answeredMs: number
  sentBeforeAnswerMb: number
  sentMb: number
  wasCut: boolean
}
type Framing = 'Content-Length' | 'chunked'

const mega = 2 ** 20
const piece = Buffer.alloc(mega, '{"email":"')
const chunk = Buffer.concat([Buffer.from(`${mega.toString(16)}\r\n`), piece, Buffer.from('\r\n')])

/** Sends a huge body to every target at once, with a declared length and without, whatever is answered. */
export function pourBodies(order: BodiesOrder): Promise<BodyHarm[]> {
  return Promise.all(
    order.targets.flatMap((target) => [pour(order, target, 'Content-Length'), pour(order, target, 'chunked')])
  )
}

async function pour(order: BodiesOrder, { path, headers }: Target, framing: Framing): Promise<BodyHarm> {
  const harm: BodyHarm = {
    path,
    framing,
    status: null,
    answeredMs: 0,
    sentBeforeAnswerMb: 0,
    sentMb: 0,
    wasCut: false
  }
  const started = performance.now()
  const socket = connect(order.port, '127.0.0.1')
  socket.on('error', () => undefined).once('close', () => void (harm.wasCut = true))
  const answered = new Promise<void>((resolve) =>
    socket.once('data', (bytes: Buffer) => {
      harm.status = Number(/^HTTP\/1\.1 (\d+)/.exec(bytes.toString('latin1'))?.[1] ?? 0)
      harm.answeredMs = Math.round(performance.now() - started)
      harm.sentBeforeAnswerMb = Math.ceil(socket.bytesWritten / mega)
      resolve()
    })
  )
  const length = framing === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${order.megabytes * mega}`
  socket.write(`POST ${path} HTTP/1.1\r\n${['Host: 127.0.0.1', ...headers, length].join('\r\n')}\r\n\r\n`)
  // A length that is too great is told from the headers alone.
  if (framing === 'Content-Length') await Promise.race([answered, sleep(5_000)])
  const until = performance.now() + order.sendMs
  for (let sent = 0; sent < order.megabytes && socket.writable && performance.now() < until; sent += 1) {
    await send(socket, framing === 'chunked' ? chunk : piece)
  }
  await Promise.race([answered, sleep(5_000)])
  harm.sentMb = Math.ceil(socket.bytesWritten / mega)
  // One that was sent whole may be left open; one that was not has to end.
  for (let waited = 0; !harm.wasCut && waited < 8_000; waited += 100) await sleep(100)
  socket.destroy()
  return harm
}

async function send(socket: Socket, bytes: Buffer): Promise<void> {
  if (socket.write(bytes)) return
  await new Promise<void>((resolve) => {
    const go = (): void => {
      socket.off('drain', go).off('close', go)
      resolve()
    }
    socket.once('drain', go).once('close', go)
  })
}
