import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { failure, metaOf, requestIds, success } from '../../../src/platform/http/answers.ts'

const ids = { requestId: 'r', correlationId: 'c' }
const meta = { correlationId: 'c', correlation_id: 'c', request_id: 'r', timestamp: '1970-01-01T00:00:01.000Z' }

test('success is data and meta as JSON with nosniff', async () => {
  const response = success({ a: 1 }, ids, 1000, {
    status: 201,
    noStore: true,
    headers: [
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2']
    ]
  })
  expect(response.status).toBe(201)
  expect(await response.json()).toEqual({ data: { a: 1 }, meta })
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'x-request-id': 'r',
    'cache-control': 'no-store'
  })
})

test('success and failure have the same meta', async () => {
  const inbound = requestIds('a-b.c_D9')
  for (const ids of [inbound, requestIds()]) {
    const answer = (await success([], ids, 1_795_176_099_089).json()) as object
    expect(answer).toEqual({ data: [], meta: metaOf(ids, 1_795_176_099_089) })
  }
})

test('meta can be replaced and omitted', async () => {
  expect(await success(1, ids, 0, { meta: {} }).json()).toEqual({ data: 1, meta: {} })
  expect(await success(1, ids, 0, { meta: null }).json()).toEqual({ data: 1 })
})

test('failure has the error’s status, headers and details', async () => {
  const error = new AppError('RATE_LIMITED', 'Too many.', { bucket: 'b' }, { headers: { 'Retry-After': '5' } })
  const response = failure(error, ids, 1000)
  expect(response.status).toBe(429)
  expect(response.headers.get('retry-after')).toBe('5')
  expect(await response.json()).toEqual({
    error: { code: 'RATE_LIMITED', message: 'Too many.', details: { bucket: 'b' } },
    meta
  })
})

test('a correlation id is used only if it is safe to log', () => {
  expect(requestIds('abc-1.2_Z').correlationId).toBe('abc-1.2_Z')
  expect(requestIds('a'.repeat(128)).correlationId).toHaveLength(128)
  for (const id of ['', null, undefined, 'a'.repeat(129), 'a b', 'a, b', 'ä', 'a\n']) {
    expect(requestIds(id).correlationId).toMatch(/^[\da-f-]{36}$/)
  }
  fc.assert(fc.property(fc.string(), (id) => /^[A-Za-z0-9._-]{1,128}$/.test(requestIds(id).correlationId)))
})

test('request ids do not repeat', () => {
  expect(new Set(Array.from({ length: 1000 }, () => requestIds('same').requestId)).size).toBe(1000)
})
