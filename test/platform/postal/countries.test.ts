import { expect, test } from 'vitest'
import { countryCodes, isCountry } from '../../../src/platform/postal/countries.ts'

test('contains the 249 countries and territories of ISO 3166-1 and Kosovo, sorted by code', () => {
  const codes = countryCodes()
  expect(codes).toHaveLength(250)
  expect(codes).toEqual([...new Set(codes)].toSorted())
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  expect(codes.filter((code) => !/^[A-Z]{2}$/.test(code) || names.of(code) === undefined)).toEqual([])
  expect(codes.filter((code) => !isCountry(code))).toEqual([])
})

test('does not contain retired, reserved and supranational codes', () => {
  for (const code of ['UK', 'SU', 'AN', 'EU', 'ZZ', 'de', 'DEU', '', 'DE ']) expect(isCountry(code)).toBe(false)
})
