import { once } from 'node:events'
import { connect } from 'node:net'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { parseJsonBody, readBody, requireJson } from '../../../src/platform/http/body.ts'
import { failure, requestIds } from '../../../src/platform/http/answers.ts'
import { AppError } from '../../../src/errors.ts'
import type { HttpListener } from '../../../src/platform/http/listen.ts'
import { exchange } from '../../support/raw-http.ts'
import { serving } from './serving.ts'

const limit = 1000
let listener: HttpListener & { logged: string[] }

beforeAll(async () => {
  listener = await serving(
    async (request) => {
      try {
        const body = await readBody(request, limit)
        return new Response(request.url.endsWith('/echo') ? new Uint8Array(body) : String(body.length))
      } catch (error) {
        if (error instanceof AppError) return failure(error, requestIds(), 0)
        throw error
      }
    },
    { lingerMs: 500 }
  )
})

afterAll(() => listener.close({ graceMs: 0 }))

function chunked(path: string, chunks: string[], end = '0\r\n\r\n'): string {
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`
  return head + chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('') + end
}

const last = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

test('a body up to the limit is read whole', async () => {
  for (const size of [0, 1, limit]) {
    const response = await fetch(listener.url, { method: 'POST', body: 'x'.repeat(size) })
    expect(await response.text()).toBe(String(size))
  }
  expect(await exchange(listener.url, chunked('/', ['a'.repeat(500), 'b'.repeat(500)]) + last)).toContain(
    '\r\n1000\r\n'
  )
})

test('a body may come in many small pieces, and is put together in their order', async () => {
  const text = Array.from({ length: 250 }, (_, index) => String.fromCodePoint(97 + (index % 26)))
  const answer = await exchange(listener.url, chunked('/echo', text) + last)
  expect(answer).toContain(text.join(''))
})

test('a body in more than 1,024 pieces is refused, and the connection closes', async () => {
  const big = await serving(
    async (request) => {
      try {
        return new Response(`read ${(await readBody(request, 1_000_000)).length}`)
      } catch (error) {
        if (error instanceof AppError) return failure(error, requestIds(), 0)
        throw error
      }
    },
    { lingerMs: 500 }
  )
  onTestFinished(() => big.close({ graceMs: 0 }))
  // A read of the socket may end within a chunk, so that a body has some pieces more than chunks.
  const pieces = (count: number): string => chunked('/', Array<string>(count).fill('x'.repeat(256)))
  expect(await exchange(big.url, pieces(900) + last)).toContain(`read ${900 * 256}`)
  const refused = await exchange(big.url, pieces(1030) + last)
  expect(refused).toMatch(/^HTTP\/1\.1 (400|422) /)
  expect(refused).toMatch(/connection: close/i)
  expect(refused).toContain('Must come in fewer and larger pieces.')
  expect(refused.match(/HTTP\/1\.1 /g)).toHaveLength(1)
})

test('a Content-Length over the limit is rejected immediately', async () => {
  const answer = await exchange(
    listener.url,
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n${'x'.repeat(1001)}${last}`
  )
  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  expect(answer).toContain('PAYLOAD_TOO_LARGE')
})

test('a chunked body over the limit is rejected, and the connection serves the next request', async () => {
  const answer = await exchange(listener.url, chunked('/', ['a'.repeat(999), 'bb', 'c'.repeat(50_000)]) + last)
  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  expect(answer).toMatch(/}HTTP\/1\.1 200 /)
})

test('the error for a large upload reaches a client that sends the whole body first', async () => {
  for (const size of [100_000, 2_000_000]) {
    const response = await fetch(listener.url, { method: 'POST', body: 'x'.repeat(size) })
    expect(response.status).toBe(413)
  }
})

/** Sends a body until the server closes the connection; returns the response and the number of bytes sent. */
async function pour(framing: string): Promise<{ answer: string; taken: number }> {
  const socket = connect(listener.port, listener.host)
  const ended = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined)
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`)
  const piece = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000, 'x'), Buffer.from('\r\n')])
  const send = (): void => {
    while (socket.writable && socket.write(piece)) continue
  }
  socket.on('drain', send)
  send()
  const [answer] = (await once(socket, 'data')) as [Buffer]
  await ended
  return { answer: String(answer), taken: socket.bytesWritten - socket.writableLength }
}

test('the server stops reading a rejected body and closes the connection', async () => {
  const poured = await Promise.all(['Content-Length: 9000000000', 'Transfer-Encoding: chunked'].map(pour))
  for (const { answer, taken } of poured) {
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    // The bytes that the server reads, and the buffers at both ends of the connection.
    expect(taken).toBeLessThan(100_000_000)
  }
}, 20_000)

test('a body that ends early fails only its own request', async () => {
  await fetch(listener.url, {
    method: 'POST',
    body: new ReadableStream({ pull: () => Promise.reject(new Error('gone')) }),
    duplex: 'half'
  }).catch(() => undefined)
  expect(await (await fetch(listener.url)).text()).toBe('0')
  expect(listener.logged).toEqual([])
})

test('a request built in memory has the same limits', async () => {
  const post = (body: string | ReadableStream) => new Request('http://a/', { method: 'POST', body, duplex: 'half' })
  expect((await readBody(new Request('http://a/'), limit)).length).toBe(0)
  expect((await readBody(post('x'.repeat(limit)), limit)).length).toBe(limit)
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(300)) })
  for (const body of ['x'.repeat(limit + 1), endless]) {
    await expect(readBody(post(body), limit)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  }
})

const sentAs = (type: string | null): Headers => new Headers(type === null ? {} : { 'content-type': type })

test.each([
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'Application/JSON ; charset="utf-8"',
  'application/json; charset=utf8;'
])('content type %j is JSON', (type) => {
  expect(() => requireJson(Buffer.from('{}'), sentAs(type))).not.toThrow()
})

test.each([
  null,
  '',
  'text/plain',
  'text/plain; x=application/json',
  'application/jsonp',
  'application/json-patch+json',
  'application/problem+json',
  'application/json, text/plain',
  'application/json; charset=latin1',
  'application/json; charset=utf-16',
  'multipart/form-data; boundary=application/json'
])('content type %j is not JSON', (type) => {
  expect(() => requireJson(Buffer.from('{}'), sentAs(type))).toThrow(
    'The body must be sent as application/json in UTF-8.'
  )
})

test('an empty body counts as an empty object whatever its content type', () => {
  for (const type of [null, 'text/plain', 'application/json'])
    expect(() => requireJson(Buffer.alloc(0), sentAs(type))).not.toThrow()
  expect(parseJsonBody(Buffer.alloc(0))).toEqual({})
})

test('every object that JSON.stringify writes is read back', () => {
  const value = fc.dictionary(
    fc.string().filter((name) => !['__proto__', 'constructor', 'prototype'].includes(name)),
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.string(), { maxLength: 3 })
    )
  )
  fc.assert(
    fc.property(value, (object) => {
      const text = JSON.stringify(object)
      expect(parseJsonBody(Buffer.from(text))).toEqual(JSON.parse(text))
    })
  )
})

test('the parser either reads any bytes or throws VALIDATION_FAILED', () => {
  const bytes = fc.oneof(
    fc.uint8Array(),
    fc.json().map((text) => Buffer.from(text)),
    fc.string().map((text) => Buffer.from(`{"a":${text}}`))
  )
  fc.assert(
    fc.property(bytes, (body) => {
      expect(fieldErrors(body)).toSatisfy((errors) => errors === undefined || typeof errors === 'object')
    }),
    { numRuns: 500 }
  )
})

/** The field errors of parseJsonBody for a body; rethrows other errors. */
function fieldErrors(body: string | Uint8Array): Record<string, string[]> | undefined {
  try {
    parseJsonBody(Buffer.from(body))
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'VALIDATION_FAILED')
      return error.details['fieldErrors'] as Record<string, string[]>
    throw error
  }
}

test.each(['{', '{"a":1,}', "{'a':1}", '{"a":NaN}', '{"a":01}', '{"a":1}x', '\u0000', '{"a":"\n"}'])(
  '%j is not JSON',
  (body) => {
    expect(fieldErrors(body)).toEqual({ _body: ['Must be valid JSON.'] })
  }
)

test('bytes that are not UTF-8 are rejected', () => {
  expect(fieldErrors(Buffer.from('{"a":"\xe4"}', 'latin1'))).toEqual({ _body: ['Must be UTF-8 text.'] })
})

test('a byte order mark is ignored', () => {
  expect(parseJsonBody(Buffer.from('\uFEFF{"a":1}'))).toEqual({ a: 1 })
})

test.each(['[]', 'null', '1', '"text"', 'true', '[{"a":1}]'])('%s is not an object', (body) => {
  expect(fieldErrors(body)).toEqual({ _body: ['Must be a JSON object.'] })
})

test.each([
  ['{"a":[{"b":9007199254740993}]}', 'a.0.b'],
  ['{"a":9007199254740992}', 'a'],
  ['{"a":-9007199254740993}', 'a'],
  ['{"a":1e999}', 'a'],
  ['{"a":{"b":-1e999}}', 'a.b'],
  ['{"a":1e300}', 'a'],
  ['{"a":1.00000000000000000001}', 'a'],
  ['{"a":[0.1000000000000000000001]}', 'a.0'],
  ['{"a":1e-400}', 'a'],
  ['{"a":{"__proto__":{"admin":true}}}', 'a.__proto__'],
  ['{"constructor":1}', 'constructor'],
  ['{"a":[{"prototype":1}]}', 'a.0.prototype'],
  ['{"\\u005f_proto__":1}', '__proto__'],
  ['{"a":"\\ud800"}', 'a']
])('%s is rejected at %s', (body, path) => {
  expect(Object.keys(fieldErrors(body) ?? {})).toEqual([path])
})

test.each([
  '1',
  '-0',
  '0.1',
  '12.50',
  '1e3',
  '15E-1',
  '0.1e1',
  '9007199254740991',
  '19.999999999999996',
  '100000000000000.1',
  '"1.00000000000000000001"'
])('the number %s is exact', (number) => {
  expect(parseJsonBody(Buffer.from(`{"a":${number}}`))).toEqual({ a: JSON.parse(number) })
})

test('a name that repeats in one object is rejected, but may repeat in another', () => {
  for (const body of [
    '{"a":1,"a":2}',
    '{"a":{"b":1,"b":2}}',
    '{"a":1,"\\u0061":2}',
    '{"a":[{"b":1},{"b":1,"b":":"}]}'
  ]) {
    expect(fieldErrors(body)).toEqual({ _body: ['Must not use a field name twice in one object.'] })
  }
  expect(fieldErrors('{"a":{"b":":"},"c":{"b":"\\\\\\":\\""}}')).toBeUndefined()
})

function nested(levels: number): string {
  return `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
}

test('twelve nested levels are accepted, and deeper ones are rejected', () => {
  expect(fieldErrors(nested(12))).toBeUndefined()
  const path = Array.from({ length: 12 }, () => 'a').join('.')
  expect(fieldErrors(nested(13))).toEqual({ [path]: ['Must not be nested more than 12 levels deep.'] })
  expect(fieldErrors(nested(10_000))).toEqual({ [path]: ['Must not be nested more than 12 levels deep.'] })
  expect(Object.keys(fieldErrors(`{"a":1.5e1,"b":${'['.repeat(30_000)}${']'.repeat(30_000)}}`) ?? {})).toEqual([
    `b${'.0'.repeat(11)}`
  ])
})

test('a number of more than 40 characters is rejected before it is parsed, unless it is in a string', () => {
  const digits = (count: number): string => `1.${'0'.repeat(count - 3)}1`
  const refusal = { _body: ['Must not contain a number of more than 40 characters.'] }
  for (const body of [
    `{"a":${digits(41)}}`,
    `{"a":${digits(65_000)}}`,
    `{"a":-${'1'.repeat(40)}}`,
    `{"a":${'9'.repeat(50)}`
  ])
    expect(fieldErrors(body)).toEqual(refusal)
  expect(fieldErrors(`{"a":"${digits(41)}","b":"\\\\\\"${digits(50)}"}`)).toBeUndefined()
  expect(fieldErrors(`{"a":${digits(40)}}`)).toEqual({
    a: ['Must be a number that fits a 64-bit float without rounding.']
  })
})

test('at most twenty fields are listed, and a long name is cut', () => {
  const many = JSON.stringify(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`a${index}`, 1e300])))
  expect(Object.keys(fieldErrors(many) ?? {})).toHaveLength(20)
  expect(Object.keys(fieldErrors(`{"${'a'.repeat(60_000)}":1e999}`) ?? {})[0]).toHaveLength(64)
})
