import { describe, expect, test } from 'vitest'
import { decodeForm, isSameForm } from '../../src/sandbox/form.ts'
import type { Raw } from '../../src/sandbox/form.ts'

function plain(raw: Raw): unknown {
  return typeof raw === 'string' ? raw : Object.fromEntries([...raw].map(([name, value]) => [name, plain(value)]))
}

describe('a form', () => {
  test.each([
    ['', {}],
    ['a=1&b=x+y%26', { a: '1', b: 'x y&' }],
    ['a', { a: '' }],
    ['a[b][0][c]=1&a[b][1][c]=2', { a: { b: { 0: { c: '1' }, 1: { c: '2' } } } }],
    ['a%5Bb%5D=1', { a: { b: '1' } }],
    ['a[]=1&a[]=2', { a: { 0: '1', 1: '2' } }],
    ['__proto__[x]=1', { ['__proto__']: { x: '1' } }]
  ])('%s is read as Stripe nests it', (form, read) => {
    expect(plain(decodeForm(form))).toEqual(read)
  })

  test.each(['a[=1', 'a[b=1', 'a]=1', 'a[b]c=1', 'a[b]c[d]=1', 'a[b]]=1', 'a[b[c]]=1'])('%s names nothing', (form) => {
    expect(() => decodeForm(form)).toThrow(/^Received unknown parameter: a/)
  })

  test.each(['=1', '[a]=1', ']a=1'])('%s has no name', (form) => {
    expect(() => decodeForm(form)).toThrow('A parameter without a name was sent.')
  })

  test('is the same in another order, and another one with another value', () => {
    expect(isSameForm('a=1&b[c]=2&b[d]=3', 'b%5Bd%5D=3&b[c]=2&a=1')).toBe(true)
    expect(isSameForm('a=1&b[c]=2', 'a=1&b[c]=3')).toBe(false)
    expect(isSameForm('a=1', 'a=1&b=')).toBe(false)
    expect(isSameForm('a[]=1&a[]=2', 'a[]=2&a[]=1')).toBe(false)
  })
})
