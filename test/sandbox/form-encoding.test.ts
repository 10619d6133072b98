import { describe, expect, test } from 'vitest'
import { decodeForm, isSameForm } from '../../src/sandbox/http/form-encoding.ts'
import type { Raw } from '../../src/sandbox/http/form-encoding.ts'

function plain(raw: Raw): unknown {
  return typeof raw === 'string' ? raw : Object.fromEntries([...raw].map(([name, value]) => [name, plain(value)]))
}

describe('the form decoder', () => {
  test.each([
    ['', {}],
    ['a=1&b=x+y%26', { a: '1', b: 'x y&' }],
    ['a', { a: '' }],
    ['a[b][0][c]=1&a[b][1][c]=2', { a: { b: { 0: { c: '1' }, 1: { c: '2' } } } }],
    ['a%5Bb%5D=1', { a: { b: '1' } }],
    ['a[]=1&a[]=2', { a: { 0: '1', 1: '2' } }],
    ['__proto__[x]=1', { ['__proto__']: { x: '1' } }]
  ])('decodes %j with the nesting that Stripe uses', (form, read) => {
    expect(plain(decodeForm(form))).toEqual(read)
  })

  test.each(['a[=1', 'a[b=1', 'a]=1', 'a[b]c=1', 'a[b]c[d]=1', 'a[b]]=1', 'a[b[c]]=1'])(
    'refuses the parameter in %j as unknown',
    (form) => {
      expect(() => decodeForm(form)).toThrow(/^Received unknown parameter: a/)
    }
  )

  test.each(['=1', '[a]=1', ']a=1'])('refuses the parameter without a name in %j', (form) => {
    expect(() => decodeForm(form)).toThrow('Received a parameter without a name.')
  })

  test('compares two forms by their parameters, not by the order of the parameters', () => {
    expect(isSameForm('a=1&b[c]=2&b[d]=3', 'b%5Bd%5D=3&b[c]=2&a=1')).toBe(true)
    expect(isSameForm('a=1&b[c]=2', 'a=1&b[c]=3')).toBe(false)
    expect(isSameForm('a=1', 'a=1&b=')).toBe(false)
    expect(isSameForm('a[]=1&a[]=2', 'a[]=2&a[]=1')).toBe(false)
  })
})
