import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Node, Yallist } from 'yallist'

/** How long the rest of a body may keep arriving after its request was answered, before the connection is cut. */
const lingerMs = 5000
/** How much of it is thrown away meanwhile: taking in all that a fast sender has would keep everybody else waiting. */
const lingerBytes = 8 * 1024 * 1024
const lookEveryMs = 10

type Connection = {
  readonly socket: Socket
  /** It owes us bytes: no request yet, or half of one. */
  isWaitedFor: boolean
  /** A request was answered before all of its body had come. */
  isDiscarding: boolean
  /** How many of its requests are without their whole answer; the client may send several ahead. */
  unanswered: number
  /** That to its latest request, while it is under way. */
  lastAnswer: ServerResponse | undefined
}

/**
 * Knows every connection of a server and what it is doing, so that a crowd of slow ones gives way to one that has
 * something to say, and a closing server can tell idle from busy.
 *
 * A request changes fields and no Set or Map: the tables that those leave behind hold on to one another and to whatever
 * they held (sockets, requests, answers) until the next full collection, and make it come every other second.
 */
export class Connections {
  /** Every connection of the server; under TLS the raw one, which also covers a handshake that never ends. */
  readonly #open = new Set<Socket>()
  readonly #known = new Map<Socket, Node<Connection>>()
  /** All that are known, with the one in front that has been as it is for longest. */
  readonly #line = new Yallist<Connection>()
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
      this.#placeOf(socket)
    })
  }

  /** Follows one request from its headers to the end of its answer. */
  follow(req: IncomingMessage, res: ServerResponse): void {
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
  }

  /** Whether an answer is under way on this connection. */
  isAnswering(socket: Socket): boolean {
    return (this.#known.get(socket)?.value.unanswered ?? 0) > 0
  }

  /** Whether what still comes on this connection belongs to a request that has been answered. */
  isDiscarding(socket: Socket): boolean {
    return this.#known.get(socket)?.value.isDiscarding === true
  }

  /** From here on a connection ends with the answer to the last request that it has sent; one without any goes at once. */
  drain(): void {
    this.#closing = true
    for (const { socket, unanswered, lastAnswer } of this.#line) {
      if (unanswered === 0) socket.destroy()
      else if (lastAnswer?.headersSent === false) lastAnswer.shouldKeepAlive = false
    }
  }

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
    discardRest(req, socket)
  }

  #evict(): void {
    const longest = this.#first((connection) => connection.isWaitedFor)
    // Whoever has been given all that he asked for and has not taken it yet; he asked longest ago.
    const slowest = longest ?? this.#first(({ lastAnswer }) => lastAnswer?.writableEnded === true)
    slowest?.socket.destroy()
  }

  #first(fits: (connection: Connection) => boolean): Connection | undefined {
    for (const connection of this.#line) if (!connection.socket.destroyed && fits(connection)) return connection
    return undefined
  }
}

/** All of a request is here. By now it may be another one that we wait for: a refused body ends after its answer. */
function takeWhole(connection: Connection, answer: ServerResponse): void {
  if (connection.lastAnswer === answer) connection.isWaitedFor = false
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
