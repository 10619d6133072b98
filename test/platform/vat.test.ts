import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { euVatTable } from '../../.config/vat-rates.ts'
import { euVatRates, isInEu, readVatId } from '../../src/platform/vat.ts'

it('has the rates of the installed sales-tax, for the 27 member states', () => {
  expect(JSON.parse(readFileSync('src/platform/eu-vat-rates.json', 'utf8'))).toEqual(euVatTable())
  expect(Object.keys(euVatRates().standard)).toHaveLength(27)
  expect(['GR', 'GB', 'CH', 'EL', 'constructor'].map(isInEu)).toEqual([true, false, false, false, false])
})

it.each([
  ['DE136695976', 'DE136695976', 'DE'],
  [' atu 1234 5675 ', 'ATU12345675', 'AT'],
  ['EL094259216', 'EL094259216', 'GR'],
  ['GR094259216', 'EL094259216', 'GR'],
  ['NL.0044.95445.B01', 'NL004495445B01', 'NL'],
  ['XI980780684', 'XI980780684', 'XI']
])('reads the VAT id %s', (typed, id, country) => {
  expect(readVatId(typed)).toEqual({ id, country })
})

it.each([
  'DE136695975',
  '136695976',
  'FR',
  '',
  'EU372022452',
  'US123456789',
  `DE${'1'.repeat(100_000)}`,
  'DE136695976\n<script>',
  '\u0000'
])('refuses %j, which is not a VAT id', (typed) => {
  expect(readVatId(typed)).toBeUndefined()
})
