import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, createServer, Socket, type AddressInfo, type Server } from 'node:net'
import { assertBodySize, H3 } from 'h3'
import { FastResponse } from 'srvx'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { type HttpListener, type HttpOptions } from '../../../src/platform/http/listen.ts'
import { exchange } from '../../support/raw-http.ts'
import { until } from '../../support/until.ts'
import { serving } from './serving.ts'

const listeners: HttpListener[] = []

async function serve(handle: HttpOptions['handle'], options: Partial<HttpOptions> = {}) {
  const listener = await serving(handle, options)
  listeners.push(listener)
  return listener
}

afterEach(async () => {
  await Promise.all(listeners.splice(0).map((listener) => listener.close({ graceMs: 0 })))
})

async function open(listener: HttpListener, bytes = ''): Promise<Socket> {
  const socket = connect(listener.port, listener.host)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  if (bytes !== '') socket.write(bytes)
  return socket
}

/** The server's side of the next connection. */
function nextServerSocket(): Promise<{ bytesRead: () => number }> {
  const { promise, resolve } = Promise.withResolvers<{ bytesRead: () => number }>()
  const take = (message: unknown): void => {
    unsubscribe('net.server.socket', take)
    const { socket } = z.object({ socket: z.instanceof(Socket) }).parse(message)
    resolve({ bytesRead: () => socket.bytesRead })
  }
  subscribe('net.server.socket', take)
  return promise
}

test('a chunked body over a limit, or one whose stream is cancelled, does not end the process', async () => {
  const app = new H3()
  app.post('/limit', async (event) => {
    assertBodySize(event, 1000)
    return event.req.text()
  })
  app.post('/cancel', async (event) => {
    await event.req.body?.cancel()
    return 'cancelled'
  })
  app.post('/cancel-at-once', (event) => {
    void event.req.body?.cancel()
    return 'cancelled'
  })
  app.get('/', () => 'alive')
  const listener = await serve((request) => app.fetch(request))
  const crashes: unknown[] = []
  const onCrash = (error: unknown) => crashes.push(error)
  process.on('uncaughtException', onCrash)
  const answers: string[] = []
  for (const path of ['/limit', '/cancel', '/cancel-at-once']) {
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`
    answers.push(await exchange(listener.url, `${head}1388\r\n${'x'.repeat(5000)}\r\n0\r\n\r\n`))
  }
  expect(await (await fetch(listener.url)).text()).toBe('alive')
  process.off('uncaughtException', onCrash)
  expect(crashes).toEqual([])
  expect(answers.map((answer) => answer.slice(9, 12))).toEqual(['413', '200', '200'])
})

test.each(['[1::2::3]', '[::1', 'localhost:99999', '1.2.3.4.5', 'a b', 'somebody@localhost', 'localhost/x'])(
  'an invalid Host (%s) is rejected before the handler runs',
  async (host) => {
    const app = new H3()
    app.get('/**', () => 'alive')
    const listener = await serve((request) => app.fetch(request))
    const answer = await exchange(listener.url, `GET /a/../b HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('VALIDATION_FAILED')
    expect(listener.logged).toEqual([])
    expect(await (await fetch(listener.url)).text()).toBe('alive')
  }
)

test('two Host headers are rejected before the handler runs, also when they agree', async () => {
  const listener = await serve(() => new Response('alive'))
  for (const second of ['a', 'b']) {
    const answer = await exchange(
      listener.url,
      `GET / HTTP/1.1\r\nHost: a\r\nhOST: ${second}\r\nConnection: close\r\n\r\n`
    )
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('VALIDATION_FAILED')
  }
})

test('every response carries the headers of the listener', async () => {
  const headers = [['strict-transport-security', 'max-age=1']] as const
  const listener = await serve(
    (request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/throws') throw new Error('secret cause')
      return pathname === '/whole'
        ? new FastResponse('whole', { headers: [['x-own', '1']] })
        : Response.redirect('http://b/')
    },
    { headers }
  )
  for (const path of ['/whole', '/redirect', '/throws']) {
    const response = await fetch(`${listener.url}${path}`, { redirect: 'manual' })
    expect(response.headers.get('strict-transport-security')).toBe('max-age=1')
  }
})

test.each(['localhost', 'shop.example:8080', '127.0.0.1:3000', '[::1]:3000', ''])(
  'the Host %j is accepted',
  async (host) => {
    const listener = await serve(() => new Response('alive'))
    const answer = await exchange(listener.url, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  }
)

test('a handler that throws fails its request and does not end the process', async () => {
  let requests = 0
  const listener = await serve(() => {
    requests += 1
    throw new Error(`secret cause ${requests}`)
  })
  expect((await fetch(listener.url)).status).toBe(500)
  expect((await fetch(listener.url)).status).toBe(500)
  expect(listener.logged).toEqual(['Error: secret cause 1', 'Error: secret cause 2'])
})

test('a handler that rejects is answered with 500 and logged', async () => {
  const listener = await serve(() => Promise.reject(new Error('secret cause')))
  const response = await fetch(listener.url)
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('secret cause')
  expect(listener.logged).toEqual(['Error: secret cause'])
})

test('bytes that are not HTTP get 400 and a closed connection', async () => {
  const listener = await serve(() => new Response('ok'))
  for (const bytes of ['NONSENSE\r\n\r\n', 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n']) {
    const answer = await exchange(listener.url, bytes)
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n/)
  }
})

test.each([
  ['two lengths', 'Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde'],
  ['two lengths in one header', 'Content-Length: 4, 5\r\n\r\nabcde'],
  ['a negative length', 'Content-Length: -4\r\n\r\nabcd'],
  ['a length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n'],
  ['an encoding that does not end in chunks', 'Transfer-Encoding: chunked, gzip\r\n\r\n4\r\nabcd\r\n0\r\n\r\n'],
  ['a space before the colon', 'Content-Length : 4\r\n\r\nabcd'],
  ['a folded header', 'X-One: 1\r\n two\r\nContent-Length : 4\r\n\r\nabcd']
])('a body with %s is refused, and what follows it is not read as a request', async (_what, rest) => {
  const seen: string[] = []
  const listener = await serve(async (request) => {
    seen.push(`${new URL(request.url).pathname} ${await request.text()}`)
    return new Response('ok')
  })
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
  const answer = await exchange(listener.url, `POST /first HTTP/1.1\r\nHost: a\r\n${rest}${smuggled}`)
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1)
  expect(seen).toEqual([])
})

test.each([
  ['half a body', 'Content-Length: 40\r\n\r\n{"a'],
  ['half a chunk', 'Transfer-Encoding: chunked\r\n\r\n5\r\nab'],
  ['an invalid chunk', 'Transfer-Encoding: chunked\r\n\r\n5\r\nabcdeRUBBISH\r\n']
])('%s after an early response gets no second response', async (_what, rest) => {
  const listener = await serve(() => new Response('no', { status: 405 }))
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const socket = connect(Number(new URL(listener.url).port), '127.0.0.1').on('close', resolve)
  let heard = ''
  socket.on('data', (chunk) => {
    heard += chunk.toString()
    socket.end()
  })
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${rest}`)
  await closed
  expect(heard.match(/HTTP\/1\.1 /g)).toHaveLength(1)
})

test('headers that are too large get 431', async () => {
  const listener = await serve(() => new Response('ok'))
  expect(await exchange(listener.url, `GET / HTTP/1.1\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /)
})

test('chunk extensions that are too large get 413', async () => {
  const listener = await serve(async (request) => new Response(await request.text()))
  const head = 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n'
  expect(await exchange(listener.url, `${head}1;${'a'.repeat(20_000)}\r\nx\r\n0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413 /)
})

test('invalid bytes after a request do not change its response', async () => {
  const { promise, resolve } = Promise.withResolvers<Response>()
  const listener = await serve(() => promise)
  expect(await exchange(listener.url, 'GET / HTTP/1.1\r\nHost: a\r\n\r\nRUBBISH\r\n\r\n')).toBe('')
  resolve(new Response('late'))
})

test('a connection stays usable after the rest of a rejected body', async () => {
  const listener = await serve(() => new Response('no', { status: 413 }))
  const body = 'x'.repeat(100_000)
  const first = `POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const answer = await exchange(listener.url, `${first}GET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  expect(answer.match(/HTTP\/1\.1 413/g)).toHaveLength(2)
})

test('a port in use is reported with its number', async () => {
  const taken = createServer()
  await once(taken.listen(0, '127.0.0.1'), 'listening')
  const { port } = taken.address() as AddressInfo
  await expect(serve(() => new Response(), { port })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: `Cannot listen on port ${port} of 127.0.0.1: another program already uses it. Stop that program or choose another port.`
  })
  taken.close()
})

test('a port that another program takes between the check and the bind is reported the same way', async () => {
  const probe = await serve(() => new Response())
  const { port } = probe
  await probe.close({ graceMs: 0 })
  const thief = createServer()
  const steal = (message: unknown) => {
    const { server } = message as { server: Server }
    if (server.listenerCount('request') > 0) thief.listen({ port, host: '127.0.0.1', exclusive: true })
  }
  subscribe('tracing:net.server.listen:asyncStart', steal)
  await expect(serve(() => new Response(), { port })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  unsubscribe('tracing:net.server.listen:asyncStart', steal)
  thief.close()
})

test('a port that browsers block is rejected instead of replaced', async () => {
  await expect(serve(() => new Response(), { port: 6666 })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('port 6666')
  })
})

test.each(['no_such_host.invalid', '', 'a b'])('host %j is reported because it does not resolve', async (host) => {
  await expect(serve(() => new Response(), { host })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('does not resolve')
  })
})

test('an address of another machine is reported', async () => {
  await expect(serve(() => new Response(), { host: '192.0.2.1' })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('does not have that address')
  })
})

test('port 0 listens only on the requested host', async () => {
  const listener = await serve(() => new Response('ok'), { host: 'localhost' })
  expect(listener.port).toBeGreaterThan(0)
  expect(['127.0.0.1', '::1']).toContain(listener.host)
  expect(listener.url).toBe(`http://localhost:${listener.port}`)
})

test('https serves with a self-signed certificate', async () => {
  const listener = await serve(() => new Response('ok'), { https: true })
  const { request } = await import('node:https')
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  request(listener.url, { rejectUnauthorized: false }, (response) => {
    response.resume()
    resolve(response.statusCode)
  })
    .on('error', reject)
    .end()
  expect(await promise).toBe(200)
  expect(listener.url).toMatch(/^https:/)
})

test('closing lets a running response finish with Connection: close', async () => {
  const { promise, resolve } = Promise.withResolvers<Response>()
  const started = Promise.withResolvers<void>()
  const listener = await serve(() => {
    started.resolve()
    return promise
  })
  const answer = fetch(listener.url)
  await started.promise
  const closed = listener.close({ graceMs: 10_000 })
  resolve(new Response('done'))
  const response = await answer
  expect(await response.text()).toBe('done')
  expect(response.headers.get('connection')).toBe('close')
  await closed
  await expect(fetch(listener.url)).rejects.toThrow('fetch failed')
})

test('closing answers every pipelined request', async () => {
  const answers = [Promise.withResolvers<Response>(), Promise.withResolvers<Response>()]
  const both = Promise.withResolvers<void>()
  let asked = 0
  const listener = await serve(() => {
    const answer = answers[asked++]
    if (asked === 2) both.resolve()
    return answer?.promise ?? new Response('too many')
  })
  const client = await open(listener, 'GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n')
  let received = ''
  client.setEncoding('latin1').on('data', (text: string) => void (received += text))
  await both.promise
  const closed = listener.close({ graceMs: 10_000 })
  answers[0]?.resolve(new Response('first'))
  await until('the first response', () => received.includes('first'))
  answers[1]?.resolve(new Response('second'))
  await once(client, 'end')
  expect(received).toMatch(/first[^]*connection: close[^]*second/i)
  await closed
})

test('closing ends silent and idle connections immediately', async () => {
  const listener = await serve(() => new Response('ok'))
  const silent = await open(listener)
  const kept = await open(listener, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(kept, 'data')
  await listener.close({ graceMs: 60_000 })
  for (const socket of [silent, kept]) if (!socket.closed) await once(socket, 'close')
  expect([silent.destroyed, kept.destroyed]).toEqual([true, true])
})

test('closing ends a request that does not finish within the grace period', async () => {
  const started = Promise.withResolvers<void>()
  const listener = await serve(() => {
    started.resolve()
    return new Promise<Response>(() => undefined)
  })
  const answer = fetch(listener.url)
  await started.promise
  await Promise.all([listener.close({ graceMs: 20 }), expect(answer).rejects.toThrow('fetch failed')])
})

test('many slow connections do not block a new one', async () => {
  const listener = await serve(() => new Response('ok'), { maxConnections: 20 })
  const crowd: Socket[] = []
  for (let index = 0; index < 100; index += 1) crowd.push(await open(listener, 'GET / HTTP/1.1\r\nX-Slow: '))
  expect(await (await fetch(listener.url)).text()).toBe('ok')
  for (const socket of crowd) socket.destroy()
})

test('connections whose body does not arrive make room for a new one', async () => {
  const listener = await serve(async (request) => new Response(await request.text()), { maxConnections: 20 })
  const crowd: Socket[] = []
  for (let index = 0; index < 60; index += 1) {
    crowd.push(await open(listener, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc'))
  }
  expect(await (await fetch(listener.url, { method: 'POST', body: 'hello' })).text()).toBe('hello')
  for (const socket of crowd) socket.destroy()
})

test('a connection whose rejected body has ended makes room for a new one', async () => {
  const listener = await serve(() => new Response('no', { status: 413 }), { maxConnections: 1 })
  const atServer = nextServerSocket()
  const refused = await open(listener, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc')
  await once(refused, 'data')
  refused.write('def')
  const { bytesRead } = await atServer
  await until('the rest of the body', () => refused.bytesWritten === bytesRead())
  const gone = once(refused, 'close')
  expect((await fetch(listener.url)).status).toBe(413)
  await gone
})

test('connections with half a body after a whole request make room for a new one', async () => {
  const listener = await serve(async (request) => new Response(await request.text()), { maxConnections: 20 })
  const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n'
  const crowd: Socket[] = []
  for (let index = 0; index < 60; index += 1) {
    const socket = await open(listener, `${post}abc${post}a`)
    crowd.push(socket)
    // Otherwise the next connection could evict it before the server has read it.
    await Promise.race([once(socket, 'data'), once(socket, 'close')])
  }
  expect(await (await fetch(listener.url, { method: 'POST', body: 'hello' })).text()).toBe('hello')
  for (const socket of crowd) socket.destroy()
})

test('connections that do not read their response make room for a new one', async () => {
  // Larger than the socket buffers of the operating system.
  const large = Buffer.alloc(32_000_000)
  const listener = await serve((request) => new FastResponse(request.url.endsWith('/large') ? large : 'ok'), {
    maxConnections: 5
  })
  const crowd: Socket[] = []
  for (let index = 0; index < 15; index += 1) {
    const socket = await open(listener, 'GET /large HTTP/1.1\r\nHost: a\r\n\r\n')
    crowd.push(socket.pause())
    if (index < 5) await once(socket, 'readable')
  }
  expect(await (await fetch(listener.url)).text()).toBe('ok')
  for (const socket of crowd) socket.destroy()
})

test('an invalid port number is rejected', async () => {
  await expect(serve(() => new Response(), { port: 70_000 })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})
