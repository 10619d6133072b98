import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { listen } from 'listhen'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import { AppError } from '../../errors.ts'
import { andThen, orElse } from '../eventually.ts'
import type { Eventually } from '../eventually.ts'
import { describeError } from '../log.ts'
import { clientLog } from '../repeated-lines.ts'
import type { ClientLog } from '../repeated-lines.ts'
import { checkPort, portUnavailable, resolveHost } from './bind-address.ts'
import { Connections } from './connections.ts'
import { failure, requestIds } from './envelope.ts'
import { valuesIn } from './flat-headers.ts'
import { nodeRequest } from './node-request.ts'
import { WholeResponse } from './whole-response.ts'

export type Handle = (request: Request) => Eventually<Response>

export type HttpOptions = {
  /** A web-standard handler such as h3's `app.fetch`. */
  handle: Handle
  host: string
  /** 0 for any free port. */
  port: number
  /** true creates a self-signed certificate for localhost, valid for a day; key and cert are PEM text or paths. */
  https?: boolean | { key: string; cert: string; passphrase?: string }
  log: ClientLog
  /** Headers of every response, as alternating names in lower case and values. */
  headers?: readonly string[]
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
  const answer = guarded(options.handle, log)
  const { headers = [] } = options
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    if (!connections.follow(req, res)) return
    void andThen(answer(new NodeRequest({ req, res })), (response) => send(res, response, headers, log))
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
  if (!socket.writable || connections.isAnswering(socket)) {
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

/**
 * Answers 500 when a handler throws or rejects. Otherwise an error that escapes h3's `fetch` would end the process as an
 * uncaught exception or unhandled rejection.
 */
function guarded(handle: Handle, log: ClientLog): (request: Request) => Eventually<Response> {
  return (request) => {
    if (!hasValidHost(request)) return refusal(hostInvalid)
    return orElse(
      () => handle(request),
      (error) => {
        log.error('A request failed outside its handler', { error: describeError(error) })
        return refusal(new AppError('INTERNAL_SERVER_ERROR', 'Something went wrong.'))
      }
    )
  }
}

/** Writes the response with the headers of every response; a WholeResponse in one write. */
function send(res: ServerResponse, response: Response, headers: readonly string[], log: ClientLog): Eventually<void> {
  return orElse(
    () => {
      if (response instanceof WholeResponse) return response.writeTo(res, headers)
      for (let index = 0; index < headers.length; index += 2) {
        res.setHeader(headers[index] ?? '', headers[index + 1] ?? '')
      }
      return sendNodeResponse(res, response)
    },
    (error) => {
      log.error('An answer could not be written', { error: describeError(error) })
      // The headers may be sent already, so only a closed connection can signal the error.
      res.destroy()
    }
  )
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
  const node = nodeRequest(request)
  return node === undefined || (isHost(node.headers.host) && valuesIn(node.rawHeaders, 'host').length < 2)
}

/** h3 throws for some targets if Host does not form a URL (`[1::2::3]`). */
function isHost(host: string | undefined): boolean {
  if (host === undefined || host === '' || host === lastHost) return true
  if (/[/?#@\\\s]/.test(host) || !URL.canParse(`http://${host}/`)) return false
  lastHost = host
  return true
}

/** The last valid Host: a shop has one name or a few, so most checks compare one string. */
let lastHost = ''

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
