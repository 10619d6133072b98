import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How long the rest of a body may keep arriving after its request was answered, before the connection is cut. */
const lingerMs = 5000
/** How much of it is thrown away meanwhile: taking in all that a fast sender has would keep everybody else waiting. */
const lingerBytes = 8 * 1024 * 1024
const lookEveryMs = 10

/**
 * Knows every connection of a server and what it is doing, so that a crowd of slow ones gives way to one that has
 * something to say, and a closing server can tell idle from busy.
 */
export class Connections {
  /** Every connection of the server; under TLS the raw one, which also covers a handshake that never ends. */
  readonly #open = new Set<Socket>()
  /** Those that owe us bytes (no request yet, or half of one), longest first. */
  readonly #waiting = new Set<Socket>()
  readonly #answering = new Map<ServerResponse, Socket>()
  /** Those whose request was answered before all of its body had come. */
  readonly #discarding = new WeakSet<Socket>()
  readonly #limit: number
  #closing = false

  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Watches a server's connections. Past the limit, whoever has kept us waiting longest is cut off, be it for a request or
   * for taking its answer, so slow clients (slowloris) only ever displace one another; past twice the limit new ones are
   * dropped.
   */
  watch(server: Server, secure: boolean): void {
    server.maxConnections = this.#limit * 2
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket)
      socket.once('close', () => this.#open.delete(socket))
    })
    server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
      // Before the newcomer waits too, or he would be cut off himself where nobody else does.
      if (this.#open.size > this.#limit) this.#evict()
      this.#wait(socket)
      socket.once('close', () => this.#waiting.delete(socket))
    })
  }

  /** Follows one request from its headers to the end of its answer. */
  follow(req: IncomingMessage, res: ServerResponse): void {
    const socket = req.socket
    this.#waiting.delete(socket)
    this.#discarding.delete(socket)
    if (hasBody(req)) {
      this.#wait(socket)
      req.once('end', () => this.#waiting.delete(socket))
    }
    this.#answering.set(res, socket)
    if (this.#closing) res.shouldKeepAlive = false
    res.once('close', () => this.#answered(req, res, socket))
  }

  /** Whether an answer is under way on this connection. */
  isAnswering(socket: unknown): boolean {
    for (const busy of this.#answering.values()) if (busy === socket) return true
    return false
  }

  /** Whether what still comes on this connection belongs to a request that has been answered. */
  isDiscarding(socket: Socket): boolean {
    return this.#discarding.has(socket)
  }

  /** From here on each answer is its connection's last; connections without a request go at once. */
  drain(): void {
    this.#closing = true
    for (const res of this.#answering.keys()) if (!res.headersSent) res.shouldKeepAlive = false
    const busy = new Set(this.#answering.values())
    for (const socket of this.#waiting) if (!busy.has(socket)) socket.destroy()
  }

  destroyAll(): void {
    for (const socket of this.#open) socket.destroy()
  }

  #answered(req: IncomingMessage, res: ServerResponse, socket: Socket): void {
    this.#answering.delete(res)
    if (socket.destroyed) return
    if (this.#closing) {
      socket.destroySoon()
      return
    }
    this.#wait(socket)
    if (req.complete) return
    this.#discarding.add(socket)
    discardRest(req, socket)
  }

  #wait(socket: Socket): void {
    this.#waiting.delete(socket)
    this.#waiting.add(socket)
  }

  #evict(): void {
    const [longest = this.#slowestReader()] = this.#waiting
    longest?.destroy()
  }

  /** Whoever has been given all of his answer longest ago and has not taken it yet. */
  #slowestReader(): Socket | undefined {
    for (const [res, socket] of this.#answering) if (res.writableEnded) return socket
    return undefined
  }
}

function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0'
}

/**
 * A body that was refused keeps coming. Closing at once would reset the connection and take the answer with it
 * (RFC 9112 9.6), so some more of it is thrown away first; a sender with yet more of it is left standing.
 */
function discardRest(req: IncomingMessage, socket: Socket): void {
  const upTo = socket.bytesRead + lingerBytes
  req.resume()
  // Node throws the body away without telling anybody of it, so the socket is asked.
  const look = setInterval(() => {
    if (socket.bytesRead > upTo) socket.pause()
    if (socket.bytesRead > upTo || req.complete || socket.destroyed) clearInterval(look)
  }, lookEveryMs)
  look.unref()
  setTimeout(() => {
    if (!req.complete) socket.destroy()
  }, lingerMs).unref()
}
