import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { listen } from 'listhen'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import { AppError } from '../../errors.ts'
import { andThen, orElse } from '../eventually.ts'
import type { Eventually } from '../eventually.ts'
import { describeError, type Logger } from '../log.ts'
import { checkPort, portUnavailable, resolveHost } from './bind-address.ts'
import { Connections } from './connections.ts'
import { failure, requestIds } from './envelope.ts'
import { nodeRequest } from './node-request.ts'
import { WholeResponse } from './whole-response.ts'

export type Handle = (request: Request) => Eventually<Response>

type Log = Pick<Logger, 'error'>

export type HttpOptions = {
  /** h3's `app.fetch`, or anything like it. */
  handle: Handle
  host: string
  /** 0 takes any free port. */
  port: number
  /** true makes a self-signed certificate for localhost that lasts a day; key and cert are PEM text or paths. */
  https?: boolean | { key: string; cert: string; passphrase?: string }
  log: Log
  /** Above this many connections the one that has been silent longest is cut off. */
  maxConnections?: number
}

export type HttpListener = {
  url: string
  /** The address that is bound. */
  host: string
  port: number
  /** Stops accepting, lets answers under way finish, and cuts what is left after `graceMs`. */
  close(options: { graceMs: number }): Promise<void>
}

/**
 * Serves a web-standard handler over HTTP or HTTPS.
 *
 * @throws CONFIG_INVALID when the host does not resolve or the port cannot be had
 */
export async function listenHttp(options: HttpOptions): Promise<HttpListener> {
  const address = await resolveHost(options.host)
  await checkPort(address, options.port)
  const connections = new Connections(options.maxConnections ?? 4096)
  const answer = guarded(options.handle, options.log)
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    connections.follow(req, res)
    void andThen(answer(new NodeRequest({ req, res })), (response) => send(res, response, options.log))
  }
  const secure = options.https !== undefined && options.https !== false
  const { server, port } = await bind(onRequest, address, options)
  harden(server, onRequest, connections, options.log)
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
      // listhen moves away from the ports that browsers refuse to talk to (6000, 6666, …) without a word.
      server.close()
      throw new Error('browsers refuse to talk to it. Choose another port.')
    } catch (cause) {
      // A free port is found by binding and letting go of it; another program may be quicker.
      if (wanted !== 0 || attempt === 5) throw portUnavailable(address, wanted, cause)
    }
  }
}

/**
 * listhen by its explicit options only: unset ones it would read from PORT, HOST, NODE_ENV and the command line.
 * `isProd` keeps it from trying other ports, `isTest` from writing to standard output, and with `autoClose` it would
 * end the process on SIGTERM with requests in flight.
 */
async function listenOnce(
  onRequest: RequestListener,
  address: string,
  port: number,
  https: NonNullable<HttpOptions['https']>
): Promise<{ server: Server; port: number }> {
  const failed = Promise.withResolvers<never>()
  // listhen leaves the server's 'error' unheard while it binds, which would end the process.
  const hear = (message: unknown): void => {
    const { server } = message as { server: Server }
    if (server.listeners('request').includes(onRequest)) server.once('error', failed.reject)
  }
  subscribe('tracing:net.server.listen:asyncStart', hear)
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
    unsubscribe('tracing:net.server.listen:asyncStart', hear)
  }
}

/** Sets what a server on the open internet needs; runs before the first connection can have been accepted. */
function harden(server: Server, onRequest: RequestListener, connections: Connections, log: Log): void {
  // http-shutdown, which listhen wraps around the server, sets a property on `req.socket` after the answer. Node has
  // set that to null when the body's stream was cancelled, and the process ends: one chunked POST over a body limit
  // was enough. Its listener goes; closing is our own.
  server.removeAllListeners('request')
  server.on('request', onRequest)
  server.headersTimeout = 15_000
  server.requestTimeout = 30_000
  // Longer than the idle time of the usual reverse proxies, so that they and not we end an idle connection; otherwise
  // a request crosses our FIN on the wire and becomes a 502.
  server.keepAliveTimeout = 65_000
  // A client that neither sends nor reads; no request of ours is quiet for so long.
  server.timeout = 120_000
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuse(error, socket, connections))
  // Running out of file descriptors is reported here; unheard it would end the process.
  server.on('error', (error) => log.error('The HTTP server reported an error', { error: describeError(error) }))
}

/** What is not HTTP gets a status line and is closed; nothing is written into or after the answer to it. */
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
 * Every request is answered, whatever becomes of it: what h3 and others throw out of their `fetch` would end the process
 * as an uncaught exception or an unhandled rejection.
 */
function guarded(handle: Handle, log: Log): (request: Request) => Eventually<Response> {
  return (request) => {
    if (!isHost(nodeRequest(request)?.headers.host)) return refusal(hostInvalid)
    return orElse(
      () => handle(request),
      (error) => {
        log.error('A request failed outside its handler', { error: describeError(error) })
        return refusal(new AppError('INTERNAL_SERVER_ERROR', 'Something went wrong.'))
      }
    )
  }
}

/** Writes the answer; one that is here as a whole in one go. */
function send(res: ServerResponse, response: Response, log: Log): Eventually<void> {
  return orElse(
    () => (response instanceof WholeResponse ? response.writeTo(res) : sendNodeResponse(res, response)),
    (error) => {
      log.error('An answer could not be written', { error: describeError(error) })
      // A broken connection is all that can still say so.
      res.destroy()
    }
  )
}

const hostInvalid = new AppError(
  'VALIDATION_FAILED',
  'The Host header names no host.',
  { fieldErrors: { Host: ['Must be a host name or an address.'] } },
  { status: 400 }
)

function refusal(error: AppError): Response {
  return failure(error, requestIds(), Date.now(), { noStore: true })
}

/** RFC 9112 3.2 asks for a refusal; with some targets h3 fails over a Host that makes no URL (`[1::2::3]`). */
function isHost(host: string | undefined): boolean {
  if (host === undefined || host === '' || host === lastHost) return true
  if (/[/?#@\\\s]/.test(host) || !URL.canParse(`http://${host}/`)) return false
  lastHost = host
  return true
}

/** A shop has one name, or few. */
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
