import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { AppError } from '../../../src/errors.ts'
import { parseQuery, queryInteger } from '../../../src/platform/http/validation.ts'

function refusal(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

function codeOf(error: unknown): unknown {
  return error instanceof AppError ? error.code : error
}

test('everything that URLSearchParams writes is read back', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })), (values) => {
      const written = new URLSearchParams(values).toString()
      expect(parseQuery(`/path?${written}`)).toEqual(new Map(Object.entries(values)))
    })
  )
})

test('the parser either reads any target or throws VALIDATION_FAILED', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect([undefined, 'VALIDATION_FAILED']).toContain(codeOf(refusal(() => parseQuery(`/?${text}`))))
    })
  )
})

test.each(['/', '/?', '/?&&'])('%s has no parameters', (target) => {
  expect(parseQuery(target).size).toBe(0)
})

test('a parameter without = is empty, and only the first = and ? separate', () => {
  expect([...parseQuery('/a?b&c=d=e?f')]).toEqual([
    ['b', ''],
    ['c', 'd=e?f']
  ])
})

test('a repeated parameter is rejected by name in every encoding', () => {
  for (const target of ['/?a=1&a=1', '/?a=1&%61=2', '/?a&a=1']) {
    expect(refusal(() => parseQuery(target))).toMatchObject({
      details: { fieldErrors: { a: ['Must not be repeated.'] } }
    })
  }
})

test('encoding that is not UTF-8 is rejected', () => {
  expect(refusal(() => parseQuery('/?a=%zz&b=%E4'))).toMatchObject({
    details: { fieldErrors: { a: [expect.any(String)], b: [expect.any(String)] } }
  })
  expect(refusal(() => parseQuery('/?%=1'))).toMatchObject({
    details: { fieldErrors: { _query: [expect.any(String)] } }
  })
})

test('names of prototype properties are ordinary names', () => {
  expect(parseQuery('/?__proto__=1&constructor=2').get('__proto__')).toBe('1')
  expect(refusal(() => parseQuery('/?__proto__=1&__proto__=2'))).toMatchObject({ code: 'VALIDATION_FAILED' })
})

const page = queryInteger({ min: 1, max: 1_000_000, default: 1 })

test.each([
  [undefined, 1],
  ['1', 1],
  ['1000000', 1_000_000],
  ['020', 20]
])('page %j is %d', (sent, value) => {
  expect(page.parse(sent)).toBe(value)
})

test.each(['', '0', '1000001', '-1', '+5', '1e3', '0x10', '1.0', ' 1', '1 ', '١', '9999999999999999999', 'NaN', '1\n'])(
  'page %j is rejected',
  (sent) => {
    expect(page.safeParse(sent).error?.issues.map(({ message }) => message)).toEqual([
      'Must be a whole number from 1 to 1000000.'
    ])
  }
)

test('the API description shows a query number as an integer with its bounds', () => {
  expect(z.toJSONSchema(page, { io: 'input' })).toMatchObject({
    type: 'integer',
    minimum: 1,
    maximum: 1_000_000,
    description: 'Default 1.'
  })
})
