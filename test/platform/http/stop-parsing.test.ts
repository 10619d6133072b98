import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { readBody } from '../../../src/platform/http/body.ts'
import type { Handle, HttpOptions } from '../../../src/platform/http/listen.ts'
import { nodeRequest } from '../../../src/platform/http/client-address.ts'
import { serving } from './serving.ts'

const quickly = { lingerMs: 10 }
const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'

async function serve(handle: Handle, options: Partial<HttpOptions> = {}) {
  const listener = await serving(handle, options)
  onTestFinished(() => listener.close({ graceMs: 0 }))
  return listener
}

/** Serves a handler and counts the pieces that Node's parser delivers to its requests. */
async function countPieces(handle: Handle): Promise<{ url: string; pieces: () => number }> {
  let pieces = 0
  const { url } = await serve((request) => {
    const req = nodeRequest(request)
    const push = req?.push
    if (req !== undefined && push !== undefined)
      req.push = (chunk: unknown) => {
        pieces += 1
        return push(chunk)
      }
    return handle(request)
  }, quickly)
  return { url, pieces: () => pieces }
}

/** Sends a text and returns what was received until the server closes the connection. */
async function exchangeAll(url: string, text: string): Promise<string> {
  const socket = open(url)
  let received = ''
  socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')))
  socket.write(text)
  await once(socket, 'close')
  return received
}

function open(url: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  return socket
}

const statuses = (text: string): string[] => [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status ?? '')
const echoSize: Handle = async (request) => {
  try {
    return new Response(String((await readBody(request, 64 * 1024)).length))
  } catch (error) {
    return new Response(String(error), { status: 422, headers: { connection: 'close' } })
  }
}

it('delivers 258 of 10,900 tiny chunks of a body that is read, and refuses it', async () => {
  const { url, pieces } = await countPieces(echoSize)
  expect(statuses(await exchangeAll(url, chunked + '1\r\nx\r\n'.repeat(10_900)))).toEqual(['422'])
  expect(pieces()).toBe(258)
})

it('delivers 258 of 10,900 tiny chunks of a body that is not read', async () => {
  const { url, pieces } = await countPieces(() => new Response('no', { status: 404 }))
  expect(statuses(await exchangeAll(url, chunked + '1\r\nx\r\n'.repeat(10_900)))).toEqual(['404'])
  expect(pieces()).toBe(258)
})

it('reads a body in many chunks of 256 bytes', async () => {
  const { url } = await countPieces(echoSize)
  const body = `100\r\n${'x'.repeat(256)}\r\n`.repeat(250)
  const answer = await exchangeAll(url, `${chunked.replace('Host', 'Connection: close\r\nHost')}${body}0\r\n\r\n`)
  expect(answer).toMatch(/^HTTP\/1\.1 200[\s\S]*\r\n64000\r\n/)
})

it('answers 16 of 2,000 pipelined requests, refuses the next one and closes the connection', async () => {
  let requests = 0
  const { url } = await serve(() => {
    requests += 1
    return new Response('alive')
  })
  const answer = await exchangeAll(url, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2_000))
  expect(statuses(answer)).toEqual([...Array.from({ length: 16 }, () => '200'), '503'])
  expect(requests).toBe(16)
})

it('reads other connections with the parser of a connection that it has stopped', async () => {
  const { url } = await serve(echoSize, quickly)
  for (let round = 0; round < 5; round += 1) {
    expect(statuses(await exchangeAll(url, chunked + '1\r\nx\r\n'.repeat(10_900)))).toEqual(['422'])
    const sent = await fetch(url, { method: 'POST', body: 'x'.repeat(20_000) })
    expect(await sent.text()).toBe('20000')
  }
})
