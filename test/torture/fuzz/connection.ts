import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

export type Answer = {
  status: number
  /** By lower-case name, in order. */
  headers: Map<string, string[]>
  body: Buffer
  /** The unparsed head. */
  head: string
}

/** Why there is no response: the connection was closed, or the timeout expired. */
export type NoResponse = 'closed' | 'silent'

const timeoutMs = 20_000
const shortTimeoutMs = 500

/** A keep-alive connection that sends exactly the given bytes. */
export class Connection {
  private readonly port: number
  private socket: Socket | undefined
  private received = Buffer.alloc(0)
  private ended = false
  private wake: () => void = () => undefined

  constructor(url: string) {
    this.port = Number(new URL(url).port)
  }

  /** Sends one request in `pieces` writes and waits for its response. */
  async send(bytes: Buffer, method: string, pieces = 1): Promise<Answer | NoResponse> {
    const isUsed = this.socket !== undefined
    const socket = (this.socket ??= await this.open())
    if (pieces === 1) socket.write(bytes)
    else await writeSlowly(socket, bytes, pieces)
    const answer = await this.answer(method)
    // A reused connection may have been closed at the same time. Retry on a new one.
    return answer === 'closed' && isUsed ? this.send(bytes, method, pieces) : answer
  }

  /** Sends possibly incomplete or several requests on a new connection. There may be no response. */
  async sendOnce(bytes: Buffer, method: string): Promise<Answer | NoResponse> {
    this.close()
    this.socket = await this.open()
    this.socket.write(bytes)
    const answer = await this.answer(method, shortTimeoutMs)
    this.close()
    return answer
  }

  private async answer(method: string, waitMs = timeoutMs): Promise<Answer | NoResponse> {
    const deadline = setTimeout(() => this.giveUp(), waitMs)
    const answer = await this.read(method)
    clearTimeout(deadline)
    if (typeof answer === 'string' || /close/i.test(answer.headers.get('connection')?.join() ?? '')) this.close()
    return answer
  }

  close(): void {
    this.socket?.destroy()
    this.socket = undefined
  }

  private silent = false

  private giveUp(): void {
    this.silent = true
    this.ended = true
    this.wake()
  }

  private async read(method: string): Promise<Answer | NoResponse> {
    for (;;) {
      const taken = takeAnswer(this.received, method, this.ended)
      if (taken !== undefined) {
        this.received = taken.rest
        if (taken.answer.status >= 200) return taken.answer
      } else if (this.ended) return this.silent ? 'silent' : 'closed'
      else await new Promise<void>((resolve) => (this.wake = resolve))
    }
  }

  private open(): Promise<Socket> {
    this.received = Buffer.alloc(0)
    this.ended = false
    this.silent = false
    const socket = connect({ port: this.port, host: '127.0.0.1', noDelay: true })
    const mine = (): boolean => this.socket === socket
    socket.on('data', (chunk) => {
      if (!mine()) return
      this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk])
      this.wake()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      if (!mine()) return
      this.ended = true
      this.wake()
    })
    return new Promise((resolve, reject) => {
      socket.once('connect', () => resolve(socket))
      socket.once('error', reject)
    })
  }
}

async function writeSlowly(socket: Socket, bytes: Buffer, pieces: number): Promise<void> {
  const step = Math.ceil(bytes.length / pieces)
  for (let at = 0; at < bytes.length; at += step) {
    socket.write(bytes.subarray(at, at + step))
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The first complete response in the received bytes, and the rest. */
export function takeAnswer(
  received: Buffer,
  method: string,
  ended: boolean
): { answer: Answer; rest: Buffer<ArrayBuffer> } | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const head = received.subarray(0, end).toString('latin1')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Map<string, string[]>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()])
  }
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? Number.NaN)
  const after = received.subarray(end + 4)
  const body = takeBody(after, { status, method, headers, ended })
  if (body === undefined) return undefined
  const content = decoded(body.content, headers.get('content-encoding')?.[0])
  return { answer: { status, headers, body: content, head }, rest: Buffer.from(after.subarray(body.length)) }
}

/** Decodes a body. A body that is not encoded as declared is returned unchanged, and fails the verification. */
function decoded(body: Buffer, encoding: string | undefined): Buffer {
  const decode = encoding === 'br' ? brotliDecompressSync : encoding === 'gzip' ? gunzipSync : undefined
  try {
    return decode === undefined || body.length === 0 ? body : decode(body)
  } catch {
    return body
  }
}

type BodyOf = { status: number; method: string; headers: Map<string, string[]>; ended: boolean }

function takeBody(
  bytes: Buffer,
  { status, method, headers, ended }: BodyOf
): { content: Buffer; length: number } | undefined {
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304)
    return { content: Buffer.alloc(0), length: 0 }
  if (headers.get('transfer-encoding')?.[0] === 'chunked') return takeChunks(bytes)
  const declared = headers.get('content-length')?.[0]
  if (declared === undefined) return ended ? { content: bytes, length: bytes.length } : undefined
  const length = Number(declared)
  return bytes.length < length ? undefined : { content: bytes.subarray(0, length), length }
}

function takeChunks(bytes: Buffer): { content: Buffer; length: number } | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ;) {
    const end = bytes.indexOf('\r\n', at)
    if (end === -1) return undefined
    const size = Number.parseInt(bytes.subarray(at, end).toString('latin1'), 16)
    if (bytes.length < end + 2 + size + 2) return undefined
    if (size === 0) return { content: Buffer.concat(parts), length: end + 4 }
    parts.push(bytes.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
}
