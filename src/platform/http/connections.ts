import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Node, Yallist } from 'yallist'

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

  /** Whether the one request without a response on this connection is still sending its body. */
  isReceiving(socket: Socket): boolean {
    const connection = this.#known.get(socket)?.value
    return connection?.unanswered === 1 && connection.isWaitedFor && connection.lastAnswer?.headersSent === false
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

/** A body may have this many chunks of any size, and one more for each `bytesPerChunk`. */
const freeChunks = 256
const bytesPerChunk = 256

/** Emitted by a request when its body comes in too many tiny chunks. No more of it arrives. */
export const tinyChunks = Symbol('tiny chunks')
const refused = new WeakSet<IncomingMessage>()

/** Whether the body of a request came in too many tiny chunks. */
export function hasTinyChunks(req: IncomingMessage): boolean {
  return refused.has(req)
}

/**
 * Stops reading a chunked body (RFC 9112 7.1) whose chunks are tiny: each costs as much time as one of a kilobyte. It
 * counts them where Node's parser delivers them, because a listener for `data` sees the first one after the whole read.
 */
export function limitChunks(req: IncomingMessage): void {
  if (req.headers['transfer-encoding'] === undefined) return
  const push = req.push.bind(req)
  let chunks = 0
  let bytes = 0
  req.push = (chunk: unknown, encoding) => {
    if (chunk instanceof Uint8Array) {
      chunks += 1
      bytes += chunk.length
      if (chunks > freeChunks + bytes / bytesPerChunk) return refuse(req)
    }
    return push(chunk, encoding)
  }
  // When a request was answered before its body was read, Node drops the rest in the parser, without calling push.
  Object.assign(req, { _dump: () => undefined })
}

function refuse(req: IncomingMessage): boolean {
  if (!refused.has(req)) {
    refused.add(req)
    stopParsing(req.socket)
    req.emit(tinyChunks)
  }
  return false
}

/** Node's HTTP parser of a connection: its callbacks by number. */
type WithParser = Socket & { readonly parser?: Record<string, unknown> | null }

const callbackNames: ReadonlySet<string> = new Set([
  'parserOnHeaders',
  'parserOnHeadersComplete',
  'parserOnBody',
  'parserOnMessageComplete'
])

/**
 * Stops reading a connection, in the middle of what was received. Node parses all that a read returned, up to 64 KB, also
 * after the socket was paused or destroyed, and makes a Buffer for each chunk of a body: 64 KB of chunks of one byte took
 * 25 ms and more, and a thousand connections with them 40 s before any other connection was read. Without its callbacks the
 * parser only skips those bytes.
 *
 * Node has no public way to do this (`parser.pause()` waits for the end of the read). If the names of the callbacks change,
 * the socket is only paused, and test/platform/http/stop-parsing.test.ts fails.
 */
export function stopParsing(socket: Socket): void {
  socket.pause()
  const { parser } = socket as WithParser
  for (const [key, callback] of Object.entries(parser ?? {})) {
    if (!parser || typeof callback !== 'function' || !callbackNames.has(callback.name)) continue
    parser[key] = null
    // Node uses a parser again for other connections. Its own listener for `close`, which returns it, runs before.
    socket.once('close', () => void (parser[key] = callback))
  }
}
