import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

export type Answer = {
  status: number
  /** By lower-case name, in the order they came. */
  headers: Map<string, string[]>
  body: Buffer
  /** The head as it came. */
  head: string
}

/** What came instead of an answer: the connection ended first, or nothing was said for too long. */
export type NoAnswer = 'closed' | 'silent'

const patienceMs = 20_000
const shortPatienceMs = 500

/** A connection that is used again and again, byte for byte as it is told. */
export class Line {
  private readonly port: number
  private socket: Socket | undefined
  private heard = Buffer.alloc(0)
  private ended = false
  private wake: () => void = () => undefined

  constructor(url: string) {
    this.port = Number(new URL(url).port)
  }

  /** Sends one request, in so many writes, and waits for its answer. */
  async ask(bytes: Buffer, method: string, pieces = 1): Promise<Answer | NoAnswer> {
    const isUsed = this.socket !== undefined
    const socket = (this.socket ??= await this.open())
    if (pieces === 1) socket.write(bytes)
    else await writeSlowly(socket, bytes, pieces)
    const answer = await this.answer(method)
    // A connection that was used before may end at this very moment; who sends asks again on a new one then.
    return answer === 'closed' && isUsed ? this.ask(bytes, method, pieces) : answer
  }

  /** Sends what may be half a request, or several, on a connection of its own; no answer may be the right one. */
  async askOnce(bytes: Buffer, method: string): Promise<Answer | NoAnswer> {
    this.close()
    this.socket = await this.open()
    this.socket.write(bytes)
    const answer = await this.answer(method, shortPatienceMs)
    this.close()
    return answer
  }

  private async answer(method: string, waitMs = patienceMs): Promise<Answer | NoAnswer> {
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

  private async read(method: string): Promise<Answer | NoAnswer> {
    for (;;) {
      const taken = takeAnswer(this.heard, method, this.ended)
      if (taken !== undefined) {
        this.heard = taken.rest
        if (taken.answer.status >= 200) return taken.answer
      } else if (this.ended) return this.silent ? 'silent' : 'closed'
      else await new Promise<void>((resolve) => (this.wake = resolve))
    }
  }

  private open(): Promise<Socket> {
    this.heard = Buffer.alloc(0)
    this.ended = false
    this.silent = false
    const socket = connect({ port: this.port, host: '127.0.0.1', noDelay: true })
    const mine = (): boolean => this.socket === socket
    socket.on('data', (chunk) => {
      if (!mine()) return
      this.heard = this.heard.length === 0 ? chunk : Buffer.concat([this.heard, chunk])
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

/** The first whole answer in what has been heard, and the rest. */
export function takeAnswer(
  heard: Buffer,
  method: string,
  ended: boolean
): { answer: Answer; rest: Buffer<ArrayBuffer> } | undefined {
  const end = heard.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const head = heard.subarray(0, end).toString('latin1')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Map<string, string[]>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()])
  }
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? Number.NaN)
  const after = heard.subarray(end + 4)
  const body = takeBody(after, { status, method, headers, ended })
  if (body === undefined) return undefined
  const content = decoded(body.content, headers.get('content-encoding')?.[0])
  return { answer: { status, headers, body: content, head }, rest: Buffer.from(after.subarray(body.length)) }
}

/** What the body says; one that is not encoded as it claims is left as it came, and judged so. */
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
