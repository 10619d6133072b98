import { describe, expect, test } from 'vitest'
import {
  endedSessionCookie,
  sessionCookie,
  sessionCookieName,
  sessionToken
} from '../../../src/shop/accounts/sessions.ts'
import { openTestShop } from '../../support/shop-context.ts'

const at = (publicUrl: string) => {
  const shop = openTestShop()
  return { ...shop, publicUrl: () => publicUrl, [Symbol.dispose]: () => shop[Symbol.dispose]() }
}

describe('the session cookie', () => {
  test('is bound to its host over https, which plain http cannot have', () => {
    using safe = at('https://shop.example')
    expect(sessionCookieName(safe)).toBe('__Host-shopstead_session')
    expect(sessionCookie(safe, 'abc', null).split('; ').toSorted()).toEqual([
      'HttpOnly',
      'Path=/',
      'SameSite=Lax',
      'Secure',
      '__Host-shopstead_session=abc'
    ])
    using plain = at('http://localhost:3000')
    expect(sessionCookie(plain, 'abc', 60).split('; ').toSorted()).toEqual([
      'HttpOnly',
      'Max-Age=60',
      'Path=/',
      'SameSite=Lax',
      'shopstead_session=abc'
    ])
  })

  test('is taken away by one that is empty and over', () => {
    using shop = at('http://localhost:3000')
    expect(endedSessionCookie(shop).split('; ')).toEqual(expect.arrayContaining(['shopstead_session=', 'Max-Age=0']))
  })

  test('is read by its own name, and sent twice it is no session', () => {
    using shop = at('https://shop.example')
    expect(sessionToken(shop, 'a=b; __Host-shopstead_session=abc; c=d')).toBe('abc')
    expect(sessionToken(shop, 'shopstead_session=abc')).toBeNull()
    expect(sessionToken(shop, '__Host-shopstead_session=abc; __Host-shopstead_session=def')).toBeNull()
    expect(sessionToken(shop, null)).toBeNull()
  })
})
