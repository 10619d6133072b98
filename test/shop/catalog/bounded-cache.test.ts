import { expect, test } from 'vitest'
import { BoundedCache } from '../../../src/shop/catalog/cached-responses.ts'

function cacheOf(limit: number, ...values: string[]) {
  const cache = new BoundedCache<string>(limit, (value) => value.length)
  for (const value of values) cache.set(value, value)
  return cache
}

test('the cache evicts the least recently used values', () => {
  const cache = cacheOf(24, 'aa', 'bb', 'cc', 'dd')
  cache.get('aa')
  cache.set('ee', 'ee')
  expect(['aa', 'bb', 'cc', 'dd', 'ee'].map((key) => cache.get(key))).toEqual(['aa', undefined, 'cc', 'dd', 'ee'])
})

test('a value above a quarter of the limit is not stored', () => {
  const cache = cacheOf(24, 'aa', 'long')
  expect([cache.get('aa'), cache.get('long')]).toEqual(['aa', undefined])
})

test('a value that replaces another one under the same key counts once', () => {
  const cache = cacheOf(24, 'aa', 'aa', 'aa', 'bb', 'cc', 'dd')
  expect(cache.get('aa')).toBe('aa')
})

test('a key counts two bytes for each character', () => {
  const cache = new BoundedCache<string>(400, () => 1)
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => letter.repeat(49))
  for (const key of keys) cache.set(key, key)
  expect(keys.filter((key) => cache.get(key) !== undefined)).toEqual(keys.slice(2))
  cache.set('g'.repeat(50), 'g')
  expect(cache.get('g'.repeat(50))).toBeUndefined()
})
