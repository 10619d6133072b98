import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type SlowOrder = { port: number; apiPrefix: string; connections: number; holdMs: number }

const kinds = ['headers', 'body', 'silent', 'idle'] as const
export type SlowKind = (typeof kinds)[number]

/** How many of each kind there were, and how many of them the server had cut when the time was over. */
export type SlowHarm = Record<SlowKind, { opened: number; cut: number; longestMs: number }>

type Held = { kind: SlowKind; socket: Socket; rest: string; since: number }

/**
 * Opens many connections and makes little of them: headers that come byte by byte, bodies that do, nothing at all, and
 * nothing more after one whole request.
 */
export async function holdConnections({ port, apiPrefix, connections, holdMs }: SlowOrder): Promise<SlowHarm> {
  const harm = Object.fromEntries(kinds.map((kind) => [kind, { opened: 0, cut: 0, longestMs: 0 }])) as SlowHarm
  const held = new Set<Held>()
  const until = performance.now() + holdMs
  for (let number = 0; number < connections; number += 1) {
    const kind = kinds[number % kinds.length] ?? 'silent'
    open(kind, port, apiPrefix, held, harm)
    // As fast as connections come in, but not all in one moment: the backlog is not what is tried here.
    if (number % 50 === 49) await sleep(10)
  }
  while (performance.now() < until) {
    for (const each of held) dribble(each)
    await sleep(1000)
  }
  for (const { socket } of held) socket.removeAllListeners('close').destroy()
  return harm
}

function open(kind: SlowKind, port: number, apiPrefix: string, held: Set<Held>, harm: SlowHarm): void {
  const [first, rest] = speech(kind, apiPrefix)
  const socket = connect(port, '127.0.0.1', () => {
    const each = { kind, socket, rest, since: performance.now() }
    held.add(each)
    harm[kind].opened += 1
    socket.once('close', () => {
      held.delete(each)
      harm[kind].cut += 1
      harm[kind].longestMs = Math.max(harm[kind].longestMs, Math.round(performance.now() - each.since))
    })
    if (first !== '') socket.write(first)
  })
  // The server may cut it at any time; what it wrote before is of no interest.
  socket.on('error', () => undefined).resume()
}

/** What is said at once, and what byte by byte. */
function speech(kind: SlowKind, apiPrefix: string): [first: string, rest: string] {
  const endless = 'x'.repeat(10_000)
  const host = 'Host: 127.0.0.1\r\n'
  if (kind === 'headers') return ['G', `ET ${apiPrefix}/store/offers HTTP/1.1\r\n${host}X-Slow: ${endless}`]
  if (kind === 'body') {
    const head = `POST ${apiPrefix}/auth/login HTTP/1.1\r\n${host}Content-Type: application/json\r\n`
    return [`${head}Content-Length: 20000\r\n\r\n`, `{"email":"${endless}`]
  }
  return [kind === 'idle' ? `GET ${apiPrefix}/health HTTP/1.1\r\n${host}\r\n` : '', '']
}

function dribble(each: Held): void {
  if (each.rest === '' || !each.socket.writable) return
  each.socket.write(each.rest.slice(0, 1))
  each.rest = each.rest.slice(1)
}
