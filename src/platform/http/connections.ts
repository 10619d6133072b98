import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Node, Yallist } from 'yallist'
import { stopParsing } from './stop-parsing.ts'
import { limitChunks } from './tiny-chunks.ts'

/** How many of those bytes are read and discarded: reading everything from a fast client would delay other requests. */
const lingerBytes = 8 * 1024 * 1024
/** A flood of tiny chunks takes more time than its bytes. */
const lingerPieces = 1_024
const lookEveryMs = 10
/** Requests that a client may send before the response to the first of them. Browsers and proxies wait for each response. */
const maxPipelined = 16

type Connection = {
  readonly socket: Socket
  /** The server waits for the client: for a request, or for the rest of one. */
  isWaitedFor: boolean
  /** The response was sent before the whole request body arrived. */
  isDiscarding: boolean
  /** Requests without a complete response; a client may pipeline several. */
  unanswered: number
  /** The response to the latest request, until it is complete. */
  lastAnswer: ServerResponse | undefined
}

/**
 * Tracks every connection of a server and its state, so that slow connections make room for new ones at the limit, and a
 * closing server can tell idle connections from busy ones.
 *
 * A request only changes fields. Adding to and deleting from a Set or Map on each request leaves old tables behind that
 * keep sockets, requests and responses alive, and causes a full garbage collection every other second.
 */
export class Connections {
  /** Every connection of the server. Under TLS these are the raw sockets, which include unfinished handshakes. */
  readonly #open = new Set<Socket>()
  readonly #known = new Map<Socket, Node<Connection>>()
  /** The known connections; the one whose state has not changed for longest comes first. */
  readonly #line = new Yallist<Connection>()
  readonly #limit: number
  readonly #lingerMs: number
  #closing = false

  /**
   * @param limit how many connections the server keeps open
   * @param lingerMs how long the rest of a body may arrive after the response, before the connection closes
   */
  constructor(limit: number, lingerMs: number) {
    this.#limit = limit
    this.#lingerMs = lingerMs
  }

  /**
   * Tracks a server's connections. At the limit, a new connection closes the one that has made the server wait longest,
   * for a request or for reading a response, so slow clients (slowloris) displace only each other. At twice the limit,
   * the server drops new connections.
   */
  watch(server: Server, secure: boolean): void {
    server.maxConnections = this.#limit * 2
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket)
      socket.once('close', () => this.#open.delete(socket))
    })
    server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
      // Evict before adding the new connection, which could otherwise be the only one waiting.
      if (this.#open.size > this.#limit) this.#evict()
      this.#placeOf(socket)
    })
  }

  /**
   * Tracks one request from its headers to the end of its response.
   *
   * @returns false for a request that it has refused, because the client sent too many without waiting for a response
   */
  follow(req: IncomingMessage, res: ServerResponse): boolean {
    const place = this.#placeOf(req.socket)
    const connection = place.value
    connection.isDiscarding = false
    connection.isWaitedFor = hasBody(req)
    connection.unanswered += 1
    connection.lastAnswer = res
    this.#line.pushNode(place)
    if (this.#closing) res.shouldKeepAlive = false
    if (connection.isWaitedFor) req.once('end', () => takeWhole(connection, res))
    res.on('close', () => this.#answered(req, res, place))
    limitChunks(req)
    if (connection.unanswered <= maxPipelined) return true
    refusePipelined(req, res)
    return false
  }

  /** Whether a response on this connection is incomplete. */
  isAnswering(socket: Socket): boolean {
    return (this.#known.get(socket)?.value.unanswered ?? 0) > 0
  }

  /** Whether the incoming bytes on this connection belong to a request that has its response already. */
  isDiscarding(socket: Socket): boolean {
    return this.#known.get(socket)?.value.isDiscarding === true
  }

  /** Closes idle connections immediately, and each other one after the response to its last request. */
  drain(): void {
    this.#closing = true
    for (const { socket, unanswered, lastAnswer } of this.#line) {
      if (unanswered === 0) socket.destroy()
      else if (lastAnswer?.headersSent === false) lastAnswer.shouldKeepAlive = false
    }
  }

  /** Closes every connection immediately, incomplete responses included. */
  destroyAll(): void {
    for (const socket of this.#open) socket.destroy()
  }

  #placeOf(socket: Socket): Node<Connection> {
    const known = this.#known.get(socket)
    if (known !== undefined) return known
    const connection = { socket, isWaitedFor: true, isDiscarding: false, unanswered: 0, lastAnswer: undefined }
    const place = new Node<Connection>(connection)
    this.#known.set(socket, place)
    this.#line.pushNode(place)
    socket.once('close', () => {
      this.#known.delete(socket)
      this.#line.removeNode(place)
    })
    return place
  }

  #answered(req: IncomingMessage, res: ServerResponse, place: Node<Connection>): void {
    const connection = place.value
    const { socket } = connection
    connection.unanswered -= 1
    if (connection.lastAnswer === res) connection.lastAnswer = undefined
    if (socket.destroyed || connection.unanswered > 0) return
    if (this.#closing) {
      socket.destroySoon()
      return
    }
    connection.isWaitedFor = true
    this.#line.pushNode(place)
    if (req.complete) return
    connection.isDiscarding = true
    discardRest(req, socket, this.#lingerMs)
  }

  #evict(): void {
    const longest = this.#first((connection) => connection.isWaitedFor)
    // Otherwise the oldest client that has not yet read its complete response.
    const slowest = longest ?? this.#first(({ lastAnswer }) => lastAnswer?.writableEnded === true)
    slowest?.socket.destroy()
  }

  #first(fits: (connection: Connection) => boolean): Connection | undefined {
    for (const connection of this.#line) if (!connection.socket.destroyed && fits(connection)) return connection
    return undefined
  }
}

/** A read of 64 KB may have two thousand requests. Parsing all of them before any other connection is read is not fair. */
function refusePipelined(req: IncomingMessage, res: ServerResponse): void {
  stopParsing(req.socket)
  res.writeHead(503, { connection: 'close', 'retry-after': '1', 'content-length': '0' }).end()
}

/** The whole request has arrived. The server may be waiting for a later one: a rejected body can end after its response. */
function takeWhole(connection: Connection, answer: ServerResponse): void {
  if (connection.lastAnswer === answer) connection.isWaitedFor = false
}

function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0'
}

/**
 * Discards the rest of a rejected body. Closing immediately would reset the connection, and the client could lose the
 * response (RFC 9112 9.6). Past `lingerBytes` the server stops reading.
 */
function discardRest(req: IncomingMessage, socket: Socket, lingerMs: number): void {
  const upTo = socket.bytesRead + lingerBytes
  let pieces = 0
  req.on('data', () => {
    pieces += 1
    if (pieces > lingerPieces) socket.destroy()
  })
  // Node emits no event for discarded bytes, so this polls the socket.
  const look = setInterval(() => {
    if (socket.bytesRead > upTo) socket.pause()
    if (socket.bytesRead > upTo || req.complete || socket.destroyed) clearInterval(look)
  }, lookEveryMs)
  look.unref()
  setTimeout(() => {
    if (!req.complete) socket.destroy()
  }, lingerMs).unref()
}
