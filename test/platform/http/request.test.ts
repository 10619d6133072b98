import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HttpListener } from '../../../src/platform/http/listen.ts'
import { headerValues, rawPath, rawTarget, socketAddress } from '../../../src/platform/http/client-address.ts'
import { exchange } from '../../support/raw-http.ts'
import { serving } from './serving.ts'

let listener: HttpListener

beforeAll(async () => {
  listener = await serving((request) =>
    Response.json({
      target: rawTarget(request),
      address: socketAddress(request),
      nonces: headerValues(request, 'X-Nonce')
    })
  )
})

afterAll(() => listener.close({ graceMs: 0 }))

async function send(target: string, headers = ''): Promise<unknown> {
  const answer = await exchange(
    listener.url,
    `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n`
  )
  return JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1))
}

test.each(['/a/../b', '/%2e%2e/x', '//a', '/a//b', '/a%2fb?c=%zz', '/A;b', '*', '/?'])(
  'the target %s is read as sent',
  async (target) => {
    expect(await send(target)).toMatchObject({ target })
  }
)

test('a target in absolute form is read without its host', async () => {
  expect(await send('http://other/a/../b?c')).toMatchObject({ target: '/a/../b?c' })
  expect(await send('HTTPS://other')).toMatchObject({ target: '/' })
})

test('the socket’s address is returned', async () => {
  expect(await send('/')).toMatchObject({ address: '127.0.0.1' })
})

test('a repeated header has two values', async () => {
  expect(await send('/', 'X-Nonce: a\r\nx-nonce: b, c\r\n')).toMatchObject({ nonces: ['a', 'b, c'] })
  expect(await send('/')).toMatchObject({ nonces: [] })
})

test('a request built in memory has the target of its URL', () => {
  for (const [url, target] of [
    ['http://a/b?c=d#e', '/b?c=d'],
    ['http://a', '/'],
    ['http://a?b', '/?b'],
    ['https://a:1/%2e//b', '/%2e//b']
  ] as const) {
    expect(rawTarget(new Request(url))).toBe(new URL(url).pathname + new URL(url).search)
    expect(rawTarget({ url } as Request)).toBe(target)
  }
  expect(socketAddress(new Request('http://a/'))).toBeUndefined()
  expect(headerValues(new Request('http://a/', { headers: { 'x-nonce': 'n' } }), 'X-Nonce')).toEqual(['n'])
})

test('the path ends before the query', () => {
  expect([rawPath('/a?b?c'), rawPath('/a'), rawPath('?')]).toEqual(['/a', '/a', ''])
})
