import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cookieValues, cookiesOf, serializeCookie } from '../../../src/platform/http/cookies.ts'

test('every cookie is read as sent, including repeated ones', () => {
  expect(cookiesOf('a=1; b=2;a=3 ;  c = x=y ; d="q"; e=%41; f=')).toEqual([
    ['a', '1'],
    ['b', '2'],
    ['a', '3'],
    ['c', 'x=y'],
    ['d', '"q"'],
    ['e', '%41'],
    ['f', '']
  ])
})

test('a part without a name is not a cookie', () => {
  expect(cookiesOf('=__Host-session=x; session; ;')).toEqual([])
})

test('names are case-sensitive', () => {
  expect(cookieValues('Session=1; session=2', 'session')).toEqual(['2'])
})

test('a missing header has no cookies', () => {
  expect(cookiesOf(null)).toEqual([])
  expect(cookieValues(undefined, 'a')).toEqual([])
})

test('reading one cookie gives the same values as reading all, each once', () => {
  const part = fc.oneof(
    fc.constantFrom('session=1', 'session', 'sessionx=2', ' session = 3', '=session=4'),
    fc.string()
  )
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const header = parts.join(';')
      const sessions = cookiesOf(header).filter(([name]) => name === 'session')
      expect(cookieValues(header, 'session')).toEqual([...new Set(sessions.map(([, value]) => value))])
    })
  )
})

test('a cookie is HttpOnly and SameSite=Lax by default', () => {
  expect(serializeCookie('a', 'b')).toBe('a=b; Path=/; SameSite=Lax; HttpOnly')
  expect(serializeCookie('__Host-s', 'v', { secure: true, maxAgeSeconds: 60, expiresAt: 60_000 })).toBe(
    '__Host-s=v; Path=/; SameSite=Lax; Max-Age=60; Expires=Thu, 01 Jan 1970 00:01:00 GMT; HttpOnly; Secure'
  )
  expect(serializeCookie('ref', 'mira', { httpOnly: false, maxAgeSeconds: 0 })).toBe(
    'ref=mira; Path=/; SameSite=Lax; Max-Age=0'
  )
})

test('characters that would break the header are rejected', () => {
  for (const value of ['a;b', 'a b', 'a\r\nSet-Cookie: x=y', 'ä', 'a,b', '"']) {
    expect(() => serializeCookie('a', value)).toThrow(TypeError)
    expect(() => serializeCookie(`n${value}`, '')).toThrow(TypeError)
  }
  expect(() => serializeCookie('a', 'b', { path: '/;x' })).toThrow(TypeError)
})
