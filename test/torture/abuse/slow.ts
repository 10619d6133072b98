import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type SlowOptions = { port: number; apiPrefix: string; connections: number; holdMs: number }

const kinds = ['headers', 'body', 'silent', 'idle'] as const
export type SlowKind = (typeof kinds)[number]

/** For each kind, the connections opened, those that the server closed in time, and the longest time until then. */
export type SlowResult = Record<SlowKind, { opened: number; cut: number; longestMs: number }>

type OpenConnection = { kind: SlowKind; socket: Socket; rest: string; since: number }

/**
 * Opens many slow connections of four kinds: headers sent byte by byte, a body sent byte by byte, no data at all, and no
 * data after one complete request.
 */
export async function holdConnections({ port, apiPrefix, connections, holdMs }: SlowOptions): Promise<SlowResult> {
  const result = Object.fromEntries(kinds.map((kind) => [kind, { opened: 0, cut: 0, longestMs: 0 }])) as SlowResult
  const open = new Set<OpenConnection>()
  const until = performance.now() + holdMs
  for (let number = 0; number < connections; number += 1) {
    const kind = kinds[number % kinds.length] ?? 'silent'
    openConnection(kind, port, apiPrefix, open, result)
    // With short pauses, because this does not test the listen backlog.
    if (number % 50 === 49) await sleep(10)
  }
  while (performance.now() < until) {
    for (const each of open) sendByte(each)
    await sleep(1000)
  }
  for (const { socket } of open) socket.removeAllListeners('close').destroy()
  return result
}

function openConnection(
  kind: SlowKind,
  port: number,
  apiPrefix: string,
  open: Set<OpenConnection>,
  result: SlowResult
): void {
  const [first, rest] = requestOf(kind, apiPrefix)
  const socket = connect(port, '127.0.0.1', () => {
    const each = { kind, socket, rest, since: performance.now() }
    open.add(each)
    result[kind].opened += 1
    socket.once('close', () => {
      open.delete(each)
      result[kind].cut += 1
      result[kind].longestMs = Math.max(result[kind].longestMs, Math.round(performance.now() - each.since))
    })
    if (first !== '') socket.write(first)
  })
  // The server may close the connection at any time. Its responses are ignored.
  socket.on('error', () => undefined).resume()
}

/** What is sent first, and what is sent byte by byte. */
function requestOf(kind: SlowKind, apiPrefix: string): [first: string, rest: string] {
  const endless = 'x'.repeat(10_000)
  const host = 'Host: 127.0.0.1\r\n'
  if (kind === 'headers') return ['G', `ET ${apiPrefix}/store/offers HTTP/1.1\r\n${host}X-Slow: ${endless}`]
  if (kind === 'body') {
    const head = `POST ${apiPrefix}/auth/login HTTP/1.1\r\n${host}Content-Type: application/json\r\n`
    return [`${head}Content-Length: 20000\r\n\r\n`, `{"email":"${endless}`]
  }
  return [kind === 'idle' ? `GET ${apiPrefix}/health HTTP/1.1\r\n${host}\r\n` : '', '']
}

function sendByte(each: OpenConnection): void {
  if (each.rest === '' || !each.socket.writable) return
  each.socket.write(each.rest.slice(0, 1))
  each.rest = each.rest.slice(1)
}
