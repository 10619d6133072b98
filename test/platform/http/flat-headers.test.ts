import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FlatHeaders, valuesIn } from '../../../src/platform/http/flat-headers.ts'

const name = fc.constantFrom('allow', 'Allow', 'set-cookie', 'Set-Cookie', 'retry-after', 'x')
const value = fc.stringMatching(/^[a-z]{1,5}(, [a-z]{1,5})?$/)

test('flat headers return the same values as Headers', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), name, (list, asked) => {
      const headers = new Headers(list)
      const flat = new FlatHeaders(list.flat())
      expect(flat.get(asked)).toBe(headers.get(asked))
      expect(flat.getSetCookie()).toEqual(headers.getSetCookie())
    })
  )
})

test('a value is not read as a name', () => {
  expect(valuesIn(['x', 'allow', 'allow', 'x'], 'allow')).toEqual(['x'])
  expect(valuesIn(['x', 'allow'], 'allow')).toEqual([])
})
