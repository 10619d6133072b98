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

test('a VAT id is looked up in VIES, with the proof for a seller with an id, and health names what is not set', async () => {
  await run('settings', 'set', 'shop.country', 'DE')
  const health = async () => (await shopstead(dataDir, ['health'])).stdout
  expect(await health()).toContain('VAT ids are not confirmed: anyone who knows one')
  await run('settings', 'set', 'tax.vies', 'on')
  expect(await health()).toContain('VIES gives no consultation numbers')
  const { stdout } = await shopstead(dataDir, ['tax', 'check-id', 'atu 2000 0004'])
  expect(stdout).toBe(
    [
      'ATU20000004 is registered.',
      'Name: Registered Elsewhere GmbH',
      'Address: Ringstraße 1 1010 Wien',
      'VIES gave no consultation number: set shop.legal.vatId to get one.',
      ''
    ].join('\n')
  )
  await run('settings', 'set', 'shop.legal.vatId', 'DE100000008')
  expect(await health()).toContain('VIES confirms the VAT ids of businesses')
  expect(await run('tax', 'check-id', 'ATU10000005')).toMatchObject({
    code: 0,
    json: { vatId: 'ATU10000005', outcome: 'not_registered', consultation: 'WAPIAAAAATU10000005' }
  })
  expect(await run('tax', 'check-id', 'ATU30000003')).toMatchObject({
    code: 69,
    json: { error: { message: 'VIES did not answer about ATU30000003: MS_UNAVAILABLE. Try again later.' } }
  })
  for (const wrong of ['GB980780684', 'ATU1', 'nothing'])
    expect(await run('tax', 'check-id', wrong)).toMatchObject({
      code: 1,
      json: {
        error: {
          details: { fieldErrors: { id: ['Must be a VAT id of the EU or of Northern Ireland, such as ATU12345675.'] } }
        }
      }
    })
})
