import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { listen } from 'listhen'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import { AppError } from '../../errors.ts'
import { describeError, clientLog } from '../log.ts'
import type { ClientLog } from '../log.ts'
import { Connections } from './connections.ts'
import { failure, requestIds } from './answers.ts'
import { headerValues } from './client-address.ts'
import { lookup } from 'node:dns/promises'
import { createServer, isIP } from 'node:net'
import { codeOf } from '../typed.ts'

export type Handle = (request: Request) => Response | Promise<Response>

export type HttpOptions = {
  /** A web-standard handler such as h3's `app.fetch`. */
  handle: Handle
  host: string
  /** 0 for any free port. */
  port: number
  /** true creates a self-signed certificate for localhost, valid for a day; key and cert are PEM text or paths. */
  https?: boolean | { key: string; cert: string; passphrase?: string }
  log: ClientLog
  /** Headers of every response. */
  headers?: readonly (readonly [name: string, value: string])[]
  /** At this many connections, a new one closes the one that has been silent longest. Default 4096. */
  maxConnections?: number
  /** How long the rest of a rejected body may arrive before the connection closes. Default 5 s. */
  lingerMs?: number
}

export type HttpListener = {
  url: string
  /** The bound address. */
  host: string
  port: number
  /** Stops accepting connections, lets running responses finish, and closes the rest after `graceMs`. */
  close(options: { graceMs: number }): Promise<void>
}

/**
 * Serves a web-standard handler over HTTP or HTTPS.
 *
 * @throws AppError CONFIG_INVALID when the host does not resolve or the port is not available
 */
export async function listenHttp(options: HttpOptions): Promise<HttpListener> {
  const address = await resolveHost(options.host)
  await checkPort(address, options.port)
  const connections = new Connections(options.maxConnections ?? 4096, options.lingerMs ?? 5000)
  const log = clientLog(options.log)
  const { handle, headers = [] } = options
  const respond = async (req: IncomingMessage, res: ServerResponse): Promise<void> =>
    send(res, await answer(handle, new NodeRequest({ req, res }), log), headers, log)
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    if (connections.follow(req, res)) void respond(req, res)
  }
  const secure = options.https !== undefined && options.https !== false
  const { server, port } = await bind(onRequest, address, options)
  harden(server, onRequest, connections, log)
  connections.watch(server, secure)
  let closed: Promise<void> | undefined
  return {
    url: `${secure ? 'https' : 'http'}://${urlHost(options.host)}:${port}`,
    host: address,
    port,
    close: ({ graceMs }) => (closed ??= close(server, connections, graceMs))
  }
}

async function bind(
  onRequest: RequestListener,
  address: string,
  { port: wanted, https = false }: HttpOptions
): Promise<{ server: Server; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { server, port } = await listenOnce(onRequest, address, wanted, https)
      if (wanted === 0 || port === wanted) return { server, port }
      // listhen silently picks another port if browsers block the requested one (6000, 6666, …).
      server.close()
      throw new Error('browsers block it. Choose another port.')
    } catch (cause) {
      // listhen finds a free port by binding and releasing it; another program may take it in between.
      if (wanted !== 0 || attempt === 5) throw portUnavailable(address, wanted, cause)
    }
  }
}

/**
 * Calls listhen with every option set, because it reads missing ones from PORT, HOST, NODE_ENV and the command line.
 * `isProd` stops it from trying other ports, and `isTest` from writing to standard output. `autoClose` would end the
 * process on SIGTERM while requests are in flight.
 */
async function listenOnce(
  onRequest: RequestListener,
  address: string,
  port: number,
  https: NonNullable<HttpOptions['https']>
): Promise<{ server: Server; port: number }> {
  const failed = Promise.withResolvers<never>()
  // listhen does not handle the server's 'error' event while it binds, which would end the process.
  const onListenError = (message: unknown): void => {
    const { server } = message as { server: Server }
    if (server.listeners('request').includes(onRequest)) server.once('error', failed.reject)
  }
  subscribe('tracing:net.server.listen:asyncStart', onListenError)
  try {
    const listening = listen(onRequest, {
      hostname: address,
      port: { port, random: port === 0 },
      https,
      isProd: true,
      isTest: true,
      autoClose: false,
      showURL: false,
      qr: false,
      open: false,
      clipboard: false,
      tunnel: false
    })
    const listener = await Promise.race([listening, failed.promise])
    return { server: listener.server, port: listener.address.port }
  } finally {
    unsubscribe('tracing:net.server.listen:asyncStart', onListenError)
  }
}

/** Sets the limits that a server on the internet needs. Runs before the server accepts its first connection. */
function harden(server: Server, onRequest: RequestListener, connections: Connections, log: ClientLog): void {
  // http-shutdown, which listhen adds to the server, sets a property on `req.socket` after the response. Node sets
  // `req.socket` to null when the body's stream was cancelled, so one chunked POST over a body limit ended the process.
  // This removes its listener; `close` replaces it.
  server.removeAllListeners('request')
  server.on('request', onRequest)
  // A client that asks before it sends the body: the reader of the body tells it to go on, or it gets the refusal at once.
  server.on('checkContinue', onRequest)
  server.headersTimeout = 15_000
  server.requestTimeout = 30_000
  // Longer than the idle timeout of common reverse proxies, so that the proxy closes idle connections. Otherwise a
  // request can cross our FIN on the wire and become a 502.
  server.keepAliveTimeout = 65_000
  // Closes the connection of a client that neither sends nor reads. No handler is silent for that long.
  server.timeout = 120_000
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuse(error, socket, connections))
  // Node reports exhausted file descriptors here; without a listener, the process would end.
  server.on('error', (error) => log.error('The HTTP server reported an error', { error: describeError(error) }))
}

/** Answers bytes that are not valid HTTP with a status line and closes the connection, unless a response is under way. */
function refuse(error: NodeJS.ErrnoException, socket: Socket, connections: Connections): void {
  if (connections.isDiscarding(socket)) {
    socket.destroySoon()
    return
  }
  if (!socket.writable || (connections.isAnswering(socket) && !connections.isReceiving(socket))) {
    socket.destroy()
    return
  }
  socket.end(`HTTP/1.1 ${statusLine(error.code)}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  setTimeout(() => socket.destroy(), 1000).unref()
}

function statusLine(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return '431 Request Header Fields Too Large'
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return '413 Payload Too Large'
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return '408 Request Timeout'
  return '400 Bad Request'
}

/** Answers one request. An error that escapes the handler becomes a 500; otherwise it would end the process. */
async function answer(handle: Handle, request: Request, log: ClientLog): Promise<Response> {
  if (!hasValidHost(request)) return refusal(hostInvalid)
  try {
    return await handle(request)
  } catch (error) {
    log.error('A request failed outside its handler', { error: describeError(error) })
    return refusal(new AppError('INTERNAL_SERVER_ERROR', 'Something went wrong.'))
  }
}

/** Writes a response with the headers of every response. */
async function send(
  res: ServerResponse,
  response: Response,
  headers: NonNullable<HttpOptions['headers']>,
  log: ClientLog
): Promise<void> {
  try {
    for (const [name, value] of headers) res.setHeader(name, value)
    await sendNodeResponse(res, response)
  } catch (error) {
    log.error('An answer could not be written', { error: describeError(error) })
    // The headers may be sent already, so only a closed connection can signal the error.
    res.destroy()
  }
}

const hostInvalid = new AppError(
  'VALIDATION_FAILED',
  'The Host header is not a valid host.',
  { fieldErrors: { Host: ['Must be one host name or address.'] } },
  { status: 400 }
)

function refusal(error: AppError): Response {
  return failure(error, requestIds(), Date.now(), { noStore: true })
}

/**
 * Whether a request has at most one Host header, and a valid one. RFC 9112 3.2 requires 400 for others: a proxy may route
 * by the first of two Host headers and a server read the second.
 */
function hasValidHost(request: Request): boolean {
  const [host = '', ...others] = headerValues(request, 'host')
  // h3 throws for some targets if Host does not form a URL (`[1::2::3]`).
  return others.length === 0 && (host === '' || (!/[/?#@\\\s]/.test(host) && URL.canParse(`http://${host}/`)))
}

async function close(server: Server, connections: Connections, graceMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  connections.drain()
  const deadline = setTimeout(() => connections.destroyAll(), graceMs)
  await promise
  clearTimeout(deadline)
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/**
 * Resolves a host name to an IP address. listhen listens on every interface when it cannot use a name, so it must get an
 * address.
 *
 * @throws AppError CONFIG_INVALID for a name that does not resolve
 */
export async function resolveHost(host: string): Promise<string> {
  const name = host.replace(/^\[(.*)\]$/, '$1')
  if (isIP(name) !== 0 && !name.includes('%')) return name
  try {
    if (name === '') throw new Error('no host was given')
    const { address } = await lookup(name)
    return address
  } catch (cause) {
    throw new AppError(
      'CONFIG_INVALID',
      `Cannot listen on host ${JSON.stringify(host)}: the name does not resolve to an address.`,
      {},
      { cause }
    )
  }
}

/**
 * Binds a port briefly, so that a failure has the operating system's reason.
 *
 * @throws AppError CONFIG_INVALID with the port and the reason
 */
export async function checkPort(address: string, port: number): Promise<void> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new AppError('CONFIG_INVALID', 'The port must be a whole number from 0 to 65535.')
  }
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(portUnavailable(address, port, cause)))
    server.listen({ host: address, port }, () => server.close(() => resolve()))
  })
}

/** CONFIG_INVALID with the reason why a port is not available and what to do about it. */
export function portUnavailable(address: string, port: number, cause: unknown): AppError {
  const message = `Cannot listen on port ${port} of ${address}: ${reasonOf(cause)}`
  return new AppError('CONFIG_INVALID', message, { port }, { cause })
}

function reasonOf(cause: unknown): string {
  const code = codeOf(cause)
  if (code === 'EADDRINUSE') return 'another program already uses it. Stop that program or choose another port.'
  if (code === 'EACCES') return 'this user does not have permission. Choose a port of 1024 or higher.'
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have that address.'
  return cause instanceof Error ? cause.message : 'the reason is unknown.'
}

/** A listener that stays when the server behind it is replaced, so that clients keep their connections. */
export type Door = {
  /**
   * Serves by a server's handler from now on, also in place of the handler before it. Closing the result waits for the
   * running requests of this handler.
   */
  listen(options: Pick<HttpOptions, 'handle'>): Promise<HttpListener>
  close: HttpListener['close']
  url: string
  port: number
}

type Inside = { handle: Handle; running: Set<Promise<Response>> }

/** Opens a door. A request that arrives while no server is behind it waits for the next one. */
export async function openDoor(options: Omit<HttpOptions, 'handle'>): Promise<Door> {
  let inside: Inside | undefined
  let next = Promise.withResolvers<void>()
  const handle = async (request: Request): Promise<Response> => {
    if (inside === undefined) {
      await next.promise
      return handle(request)
    }
    const { handle: serve, running } = inside
    const response = (async () => serve(request))()
    running.add(response)
    try {
      return await response
    } finally {
      running.delete(response)
    }
  }
  const { close, ...address } = await listenHttp({ ...options, handle })
  return {
    listen: async (server) => {
      const own: Inside = { handle: server.handle, running: new Set() }
      inside = own
      next.resolve()
      return { ...address, close: () => leave(own) }
    },
    close,
    url: address.url,
    port: address.port
  }

  async function leave(own: Inside): Promise<void> {
    if (inside === own) {
      inside = undefined
      next = Promise.withResolvers()
    }
    await Promise.allSettled(own.running)
  }
}
