import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shopstead } from '../support/command-line.ts'

const folder = mkdtempSync(join(tmpdir(), 'shopstead-tax-'))
afterAll(() => rmSync(folder, { recursive: true }))
const dataDir = join(folder, 'data')
const run = (...args: string[]) => shopstead(dataDir, [...args, '--json'])

beforeAll(() => run('init'))

test('tax rates are set, listed and removed', async () => {
  expect(await run('tax', 'list')).toMatchObject({ code: 0, json: { rates: [] } })
  const rate = { country: 'US', region: 'NY', class: 'standard', ratePercent: 8.875, name: 'Sales tax' }
  const ny = ['tax', 'set', 'us', '--region', 'New York', '--rate']
  expect(await run(...ny, '8.875', '--name', 'Sales tax')).toMatchObject({ json: { rate } })
  expect(await run('tax', 'set', 'DE', '--class', 'reduced', '--rate', '7')).toMatchObject({
    json: { rate: { country: 'DE', class: 'reduced', ratePercent: 7, name: 'VAT' } }
  })
  await run(...ny, '9', '--name', 'Sales tax')
  const { stdout } = await shopstead(dataDir, ['tax', 'list'])
  expect(stdout).toMatch(/US United States +NY +standard +9 % +Sales tax/)
  expect(await run('tax', 'remove', 'US')).toMatchObject({ code: 2 })
  expect(await run('tax', 'remove', 'US', '--region', 'ny', '--yes')).toMatchObject({
    json: { removed: [{ ratePercent: 9 }] }
  })
  expect(await run('tax', 'remove', 'US', '--yes')).toMatchObject({ code: 1, json: { error: { code: 'NOT_FOUND' } } })
})

test.each([
  [['XX', '--rate', '7'], 'country'],
  [['DE', '--rate', '101'], 'ratePercent'],
  [['DE', '--rate', '-1'], 'ratePercent'],
  [['DE', '--rate', '7.12345'], 'ratePercent'],
  [['DE', '--rate', 'seven'], 'ratePercent'],
  [['DE', '--rate', '7', '--class', 'luxury'], 'class'],
  [['US', '--rate', '7', '--region', 'Bavaria'], 'region']
])('a wrong rate is refused: %j', async (args, field) => {
  expect(await run('tax', 'set', ...args)).toMatchObject({
    code: 1,
    json: { error: { code: 'VALIDATION_FAILED', details: { fieldErrors: { [field]: expect.anything() } } } }
  })
})

test('the preset sets the standard rates of the EU, keeps the others, and says how old it is', async () => {
  const { stdout } = await shopstead(dataDir, ['tax', 'preset', 'eu'])
  expect(stdout).toMatch(/FI Finland +standard +25\.5 % +VAT/)
  expect(stdout).toMatch(/From sales-tax \S+, released on \d{4}-\d\d-\d\d\./)
  const { json } = await run('tax', 'list')
  expect(json).toMatchObject({
    rates: expect.arrayContaining([expect.objectContaining({ country: 'DE', class: 'reduced' })])
  })
  expect(json).toMatchObject({ rates: { length: 28 } })
})

test('the export contains the rates, and importing it again changes nothing', async () => {
  const { stdout } = await shopstead(dataDir, ['offers', 'export'])
  const file = join(folder, 'catalog.json')
  writeFileSync(file, stdout)
  expect(await run('offers', 'import', file)).toMatchObject({ json: { unchanged: { tax: 28 }, updated: { tax: 0 } } })
  const tax = [
    { country: 'de', class: 'reduced', ratePercent: 5 },
    { country: 'US', region: 'Oregon', class: 'standard', ratePercent: 0, name: 'Sales tax' }
  ]
  writeFileSync(file, JSON.stringify({ tax }))
  expect(await run('offers', 'import', file)).toMatchObject({ json: { created: { tax: 1 }, updated: { tax: 1 } } })
  writeFileSync(file, JSON.stringify({ tax: [tax[0], { ...tax[0], country: 'DE' }] }))
  expect(await run('offers', 'import', file)).toMatchObject({ code: 1, json: { error: { code: 'VALIDATION_FAILED' } } })
})
