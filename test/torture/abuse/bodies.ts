import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type Target = { path: string; headers: string[] }
export type BodiesOptions = { port: number; targets: Target[]; megabytes: number; sendMs: number }

/** The result of one body: the response, and how much was sent before it and in total. */
export type BodyResult = {
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

/** Sends a huge body to all targets concurrently, with Content-Length and in chunks, whatever the response is. */
export function sendBodies(options: BodiesOptions): Promise<BodyResult[]> {
  return Promise.all(
    options.targets.flatMap((target) => [
      sendBody(options, target, 'Content-Length'),
      sendBody(options, target, 'chunked')
    ])
  )
}

async function sendBody(options: BodiesOptions, { path, headers }: Target, framing: Framing): Promise<BodyResult> {
  const result: BodyResult = {
    path,
    framing,
    status: null,
    answeredMs: 0,
    sentBeforeAnswerMb: 0,
    sentMb: 0,
    wasCut: false
  }
  const started = performance.now()
  const socket = connect(options.port, '127.0.0.1')
  socket.on('error', () => undefined).once('close', () => void (result.wasCut = true))
  const answered = new Promise<void>((resolve) =>
    socket.once('data', (bytes: Buffer) => {
      result.status = Number(/^HTTP\/1\.1 (\d+)/.exec(bytes.toString('latin1'))?.[1] ?? 0)
      result.answeredMs = Math.round(performance.now() - started)
      result.sentBeforeAnswerMb = Math.ceil(socket.bytesWritten / mega)
      resolve()
    })
  )
  const length = framing === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${options.megabytes * mega}`
  socket.write(`POST ${path} HTTP/1.1\r\n${['Host: 127.0.0.1', ...headers, length].join('\r\n')}\r\n\r\n`)
  // The server can refuse a declared length after the headers.
  if (framing === 'Content-Length') await Promise.race([answered, sleep(5_000)])
  const until = performance.now() + options.sendMs
  for (let sent = 0; sent < options.megabytes && socket.writable && performance.now() < until; sent += 1) {
    await send(socket, framing === 'chunked' ? chunk : piece)
  }
  await Promise.race([answered, sleep(5_000)])
  result.sentMb = Math.ceil(socket.bytesWritten / mega)
  // After a complete body the connection may stay open; after an incomplete one it must be closed.
  for (let waited = 0; !result.wasCut && waited < 8_000; waited += 100) await sleep(100)
  socket.destroy()
  return result
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
