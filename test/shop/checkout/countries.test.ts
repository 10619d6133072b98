import { expect, test } from 'vitest'
import { countryCodes, isCountry } from '../../../src/shop/checkout/countries.ts'

test('the 249 countries and territories of ISO 3166-1 are known, in the order of their codes', () => {
  const codes = countryCodes()
  expect(codes).toHaveLength(249)
  expect(codes).toEqual([...new Set(codes)].toSorted())
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  expect(codes.filter((code) => !/^[A-Z]{2}$/.test(code) || names.of(code) === undefined)).toEqual([])
  expect(codes.filter((code) => !isCountry(code))).toEqual([])
})

test('codes that were retired, are reserved or stand for more than a country are none', () => {
  for (const code of ['UK', 'SU', 'AN', 'EU', 'XK', 'ZZ', 'de', 'DEU', '', 'DE ']) expect(isCountry(code)).toBe(false)
})
