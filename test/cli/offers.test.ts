import { parseRepricing } from '../../src/shop/catalog/manage/reprice.ts'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { shopstead } from '../support/command-line.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-offers-'))
afterAll(() => rmSync(dataDir, { recursive: true }))

const run = <Json = Record<string, unknown>>(...args: string[]) =>
  shopstead<Json>(dataDir, ['offers', ...args, '--json'])

const catalog = {
  products: [
    { slug: 'mug', name: 'Enamel mug', price: '12.00', salePrice: '9.60', stock: 20, categories: ['Kitchen > Cups'] },
    { slug: 'bowl', name: 'Soup bowl', price: '8.00', categories: ['Kitchen'], published: false },
    {
      slug: 'shirt',
      name: 'Shirt',
      price: '20.00',
      variations: [
        { sku: 'SHIRT-S', name: 'S', price: '20.00', stock: 3 },
        { sku: 'SHIRT-M', name: 'M', price: '22.00', stock: 0 }
      ]
    },
    { slug: 'lamp', name: 'Lamp', price: '40.00' }
  ]
}

beforeAll(async () => {
  createMigratedDatabase(join(dataDir, 'shopstead.db'))
  const file = join(dataDir, 'catalog.json')
  writeFileSync(file, JSON.stringify(catalog))
  await run('import', file)
})

describe('shopstead offers list', () => {
  type List = { offers: { productSlug: string }[]; nextCursor: string | null }
  const slugs = async (...args: string[]) => {
    const { json } = await run<List>('list', ...args)
    return json.offers.map(({ productSlug }) => productSlug)
  }

  it('shows names, and the stock of all variations together', async () => {
    const { stdout } = await shopstead(dataDir, ['offers', 'list'])
    expect(stdout.split('\n')).toEqual([
      'Id  Slug   Name        Price                    Stock  State',
      '1   mug    Enamel mug  €9.60 instead of €12.00  20     on sale',
      '2   bowl   Soup bowl   €8.00                    -      hidden',
      '3   shirt  Shirt       €20.00                   3      on sale',
      '4   lamp   Lamp        €40.00                   -      on sale',
      ''
    ])
  })

  it('finds products by a part of their name, slug or SKU, also hidden ones', async () => {
    expect(await slugs('--search', 'BOW')).toEqual(['bowl'])
    expect(await slugs('--search', 'shirt-m')).toEqual(['shirt'])
    expect(await slugs('--search', 'nothing')).toEqual([])
    expect(await slugs('--category', 'kitchen')).toEqual(['mug', 'bowl'])
    expect(await slugs('--category', 'Kitchen', '--search', 'mug')).toEqual(['mug'])
    expect(await run('list', '--category', 'nowhere')).toMatchObject({
      code: 1,
      json: { error: { code: 'NOT_FOUND' } }
    })
  })

  it('pages with a cursor until the last page has none', async () => {
    const first = await run<List>('list', '--limit', '3')
    expect(first.json).toMatchObject({ offers: [{}, {}, {}], nextCursor: expect.any(String) })
    const cursor = first.json.nextCursor ?? ''
    const second = await run('list', '--limit', '3', '--cursor', cursor)
    expect(second.json).toMatchObject({ offers: [{ productSlug: 'lamp' }], nextCursor: null })
    expect((await run<List>('list', '--limit', '4')).json.nextCursor).toBeNull()
    expect((await shopstead(dataDir, ['offers', 'list', '--limit', '3'])).stdout).toContain(`--cursor ${cursor}`)
    const refused = await run('list', '--cursor', 'x')
    expect(refused.json).toMatchObject({
      error: { code: 'VALIDATION_FAILED', details: { fieldErrors: { cursor: [expect.any(String)] } } }
    })
  })
})

describe('shopstead offers set', () => {
  type Set = { changes: { field: string; sku?: string; from: unknown; to: unknown }[]; offer: Record<string, unknown> }
  const set = async (...args: string[]) => {
    const { code, json } = await run<Set & { error?: { details: { fieldErrors: Record<string, string[]> } } }>(
      'set',
      ...args
    )
    return { code, changes: json.changes, fields: json.error?.details.fieldErrors ?? {} }
  }

  it('changes a price and leaves the stock, from which orders take at any time', async () => {
    expect(await set('mug', '--price', '13.50')).toMatchObject({
      code: 0,
      changes: [{ field: 'price', from: 12, to: 13.5 }]
    })
    expect(await set('mug', '--price', '12')).toMatchObject({ changes: [{ field: 'price', from: 13.5, to: 12 }] })
    expect(await set('mug', '--price', '12')).toMatchObject({ code: 0, changes: [] })
  })

  it('adds to the stock and takes from it, but not below zero', async () => {
    expect((await set('mug', '--stock-add', '5')).changes).toEqual([{ field: 'stock', from: 20, to: 25 }])
    expect((await set('mug', '--stock-add', '-5')).changes).toEqual([{ field: 'stock', from: 25, to: 20 }])
    expect((await set('mug', '--stock-add', '-21')).fields).toEqual({ stock: ['Only 20 are in stock.'] })
    expect((await set('lamp', '--stock-add', '1')).fields).toEqual({
      stock: ['The stock is not counted. Pass --stock to count it.']
    })
    expect((await set('lamp', '--stock', '4')).changes).toEqual([{ field: 'stock', from: null, to: 4 }])
    expect((await set('lamp', '--stock', 'none')).changes).toEqual([{ field: 'stock', from: 4, to: null }])
  })

  it('changes texts, categories, weight and a sale', async () => {
    const changed = await set(
      'bowl',
      '--name',
      'Bowl',
      '--category',
      'Table',
      '--weight',
      '300',
      '--description',
      'Deep.'
    )
    expect(changed.changes).toEqual([
      { field: 'name', from: 'Soup bowl', to: 'Bowl' },
      { field: 'description', from: '', to: 'Deep.' },
      { field: 'weightGrams', from: null, to: 300 },
      { field: 'categories', from: ['Kitchen'], to: ['Table'] }
    ])
    const { stdout } = await shopstead(dataDir, ['offers', 'set', 'mug', '--sale-price', 'none'])
    expect(stdout).toBe('salePrice: €9.60 → none\n')
  })

  it('changes what the law of product safety asks for', async () => {
    const texts = ['--manufacturer', 'Lumen GmbH, Kai 7', '--responsible', 'Import House', '--safety', 'Gets hot.']
    expect((await set('lamp', ...texts)).changes).toEqual([
      { field: 'manufacturer', from: null, to: 'Lumen GmbH, Kai 7' },
      { field: 'responsiblePerson', from: null, to: 'Import House' },
      { field: 'safetyInfo', from: null, to: 'Gets hot.' }
    ])
    const { stdout } = await shopstead(dataDir, ['offers', 'show', 'lamp'])
    expect(stdout).toContain('Manufacturer: Lumen GmbH, Kai 7. Responsible in the EU: Import House. Safety: Gets hot.')
    expect(
      (await set('lamp', '--manufacturer', 'none', '--responsible', 'none', '--safety', 'none')).changes
    ).toHaveLength(3)
  })

  it('changes brand, GTIN, MPN and the amount of a unit, of the product or of the variation that --sku names', async () => {
    const facts = ['--gtin', '4006381333931', '--mpn', 'HW-7', '--unit', '500 g']
    expect((await set('lamp', '--brand', 'Harbour Works', ...facts)).changes).toEqual([
      { field: 'brand', from: null, to: 'Harbour Works' },
      { field: 'gtin', from: null, to: '4006381333931' },
      { field: 'mpn', from: null, to: 'HW-7' },
      { field: 'unitMeasure', from: null, to: '500 g' }
    ])
    const { stdout } = await shopstead(dataDir, ['offers', 'show', 'lamp'])
    expect(stdout).toContain('Brand: Harbour Works. GTIN: 4006381333931. MPN: HW-7. A unit contains: 500 g.')
    expect((await set('lamp', '--gtin', 'none', '--brand', 'none')).changes).toEqual([
      { field: 'brand', from: 'Harbour Works', to: null },
      { field: 'gtin', from: '4006381333931', to: null }
    ])
    expect((await set('shirt', '--sku', 'SHIRT-M', ...facts)).changes).toEqual([
      { field: 'gtin', sku: 'SHIRT-M', from: null, to: '4006381333931' },
      { field: 'mpn', sku: 'SHIRT-M', from: null, to: 'HW-7' },
      { field: 'unitMeasure', sku: 'SHIRT-M', from: null, to: '500 g' }
    ])
    const variations = [
      { gtin: null, mpn: null },
      { gtin: '4006381333931', mpn: 'HW-7', unitMeasure: '500 g' }
    ]
    expect(await run('show', 'shirt')).toMatchObject({ json: { offer: { gtin: null, variations } } })
    expect((await shopstead(dataDir, ['offers', 'show', 'shirt'])).stdout).toMatch(/SHIRT-M .*4006381333931 +HW-7/)
    const added = await run('add', '--name', 'Ink', '--price', '4', '--brand', 'Quill', '--unit', '50 ml')
    expect(added).toMatchObject({ code: 0, json: { offer: { brand: 'Quill', unitMeasure: '50 ml' } } })
  })

  it('names the field that is wrong', async () => {
    expect((await set('lamp', '--gtin', '123')).fields).toEqual({ gtin: [expect.stringContaining('13')] })
    expect((await set('lamp', '--unit', '3 boxes')).fields).toEqual({
      unitMeasure: [expect.stringContaining('750 ml')]
    })
    expect((await set('shirt', '--sku', 'SHIRT-M', '--gtin', '1')).fields).toEqual({
      'gtin (SHIRT-M)': [expect.any(String)]
    })
    expect((await set('shirt', '--sku', 'SHIRT-M', '--brand', 'Quill')).fields).toEqual({
      sku: [expect.stringContaining('--gtin')]
    })
    expect((await set('mug', '--sale-price', '15')).fields).toEqual({ salePrice: ['Must be lower than the price.'] })
    expect((await set('mug', '--price', '12,50')).fields).toEqual({ price: [expect.stringContaining('decimal point')] })
    expect((await set('mug', '--stock', '-1')).fields).toEqual({ stock: [expect.stringContaining('number')] })
    expect((await set('mug', '--stock-add', 'x')).code).toBe(2)
    expect((await set('mug')).code).toBe(2)
    expect((await set('nothing', '--price', '1')).code).toBe(1)
  })

  it('changes the variation that --sku names, and asks for it where variations differ', async () => {
    expect((await set('shirt', '--price', '25')).fields).toEqual({
      price: ['The variations have different prices. Choose with --sku: SHIRT-S, SHIRT-M.']
    })
    expect((await set('shirt', '--stock-add', '1')).fields).toEqual({ stock: [expect.stringContaining('SHIRT-S')] })
    expect((await set('shirt', '--sku', 'SHIRT-L', '--price', '1')).fields).toEqual({
      sku: [expect.stringContaining('SHIRT-M')]
    })
    expect((await set('mug', '--sku', 'SHIRT-L', '--price', '1')).fields).toEqual({ sku: [expect.any(String)] })
    expect((await set('shirt', '--sku', 'SHIRT-S', '--price', '22', '--stock-add', '2')).changes).toEqual([
      { field: 'price', sku: 'SHIRT-S', from: 20, to: 22 },
      { field: 'stock', sku: 'SHIRT-S', from: 3, to: 5 }
    ])
    expect((await set('shirt', '--price', '20')).changes).toEqual([
      { field: 'price', sku: 'SHIRT-S', from: 22, to: 20 },
      { field: 'price', sku: 'SHIRT-M', from: 22, to: 20 }
    ])
    expect((await set('shirt', '--sku', 'SHIRT-M', '--weight', '280')).changes).toEqual([
      { field: 'weightGrams', sku: 'SHIRT-M', from: null, to: 280 }
    ])
    expect((await set('shirt', '--weight', '250')).changes).toEqual([{ field: 'weightGrams', from: null, to: 250 }])
    expect((await set('shirt', '--sku', 'SHIRT-M', '--sale-price', '30')).fields).toEqual({
      'salePrice (SHIRT-M)': ['Must be lower than the price.']
    })
  })
})

describe('shopstead offers add with options', () => {
  it('adds each combination as a variation with its stock and pictures, and shows the stock as a grid', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'shopstead-pictures-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const images = await Promise.all(
      ['red', 'blue'].map(async (background) => {
        const file = join(folder, `${background}.png`)
        await sharp({ create: { width: 10, height: 10, channels: 3, background } })
          .png()
          .toFile(file)
        return file
      })
    )
    const options = ['--option', 'Size=S,M,L', '--option', 'Colour=Red,Blue', '--stock', 'S/Red=3,M/Blue=5']
    const added = await run(
      'add',
      '--name',
      'Gansey',
      '--price',
      '89',
      ...options,
      '--cost',
      '40',
      '--image',
      ...images
    )
    expect(added).toMatchObject({
      code: 0,
      json: { offer: { cost: 40, options: [{ name: 'Size' }, { name: 'Colour' }] } }
    })
    const shown = await shopstead(dataDir, ['offers', 'show', 'gansey'])
    expect(shown.stdout).toContain(
      ['Stock by Size  Red  Blue', 'S              3    0', 'M              0    5', 'L              0    0', ''].join(
        '\n'
      )
    )
    expect(shown.stdout).toContain('GANSEY-M-BLUE')
    expect(shown.stdout).toContain('Costs the shop €40.00 without tax.')
    expect((await run<{ images: unknown[] }>('images', 'list', 'gansey')).json.images).toHaveLength(2)
  })

  it('shows one option as a row, and adds nothing for a wrong stock, option or picture', async () => {
    const add = (name: string, ...args: string[]) => run('add', '--name', name, '--price', '5', ...args)
    expect((await add('Ring', '--option', 'Size=50,52', '--stock', '50=1')).code).toBe(0)
    expect((await shopstead(dataDir, ['offers', 'show', 'ring'])).stdout).toContain('Size   50  52\nStock  1   0\n')
    const refused = { code: 1, json: { error: { code: 'VALIDATION_FAILED' } } }
    expect(await add('Bad', '--option', 'Size=S', '--stock', 'XL=3')).toMatchObject(refused)
    expect(await add('Bad', '--stock', 'S=3')).toMatchObject(refused)
    expect(await add('Bad', '--image', '/nowhere/a.png')).toMatchObject(refused)
    expect((await add('Bad', '--option', 'Size')).code).toBe(2)
    expect((await add('Bad', '--option', 'Size=S,S')).code).toBe(2)
    const numbers = Array.from({ length: 50 }, (_, index) => index).join(',')
    expect(await add('Bad', '--option', `A=${numbers}`, '--option', `B=${numbers}`)).toMatchObject(refused)
    expect((await run('show', 'bad')).code).toBe(1)
  })
})

describe('shopstead offers add', () => {
  it('adds a product whose slug comes from its name', async () => {
    const added = await run('add', '--name', 'Tin cup', '--price', '6.50', '--stock', '3', '--category', 'Kitchen')
    expect(added.json).toMatchObject({
      offer: { productSlug: 'tin-cup', stock: 3, categories: ['Kitchen'], state: 'listed', price: { amount: 6.5 } },
      changes: expect.arrayContaining([{ field: 'price', from: null, to: 6.5 }])
    })
    const again = await run('add', '--name', 'Tin cup', '--price', '7', '--hidden')
    expect(again.json).toMatchObject({ offer: { productSlug: 'tin-cup-2', state: 'unpublished' } })
  })

  it('refuses a slug that is taken, a name without letters and a wrong type', async () => {
    const refused = async (...args: string[]) => {
      const { json } = await run<{ error: { details: unknown } }>('add', ...args)
      return json.error.details
    }
    expect(await refused('--name', 'Mug', '--price', '1', '--slug', 'mug')).toEqual({
      fieldErrors: { slug: ['Another product has this slug.'] }
    })
    expect(await refused('--name', ' ', '--price', '1')).toMatchObject({ fieldErrors: { name: [expect.any(String)] } })
    expect(await refused('--name', 'A', '--price', '1', '--type', 'air')).toMatchObject({
      fieldErrors: { type: [expect.any(String)] }
    })
  })
})

describe('a currency that Stripe charges in whole units', () => {
  it('gets no price with decimals from a command', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'shopstead-krona-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    createMigratedDatabase(join(folder, 'shopstead.db'))
    const krona = (...args: string[]) => shopstead(folder, [...args, '--json'])
    await krona('settings', 'set', 'shop.currency', 'ISK')
    const add = (price: string) => krona('offers', 'add', '--slug', 'mug', '--name', 'Mug', '--price', price)
    const refused = await add('1250.50')
    expect(refused.code).not.toBe(0)
    expect(refused.json).toMatchObject({
      error: { details: { fieldErrors: { price: [expect.stringContaining('a multiple of 1.00')] } } }
    })
    expect((await add('1250')).code).toBe(0)
    expect((await krona('coupons', 'create', '--code', 'HALF', '--amount', '0.50')).code).not.toBe(0)
    expect((await krona('offers', 'reprice', '--percent', '5', '--round', '0.50', '--yes')).code).not.toBe(0)
  })
})

describe('shopstead offers reprice', () => {
  type Reprice = { changed: { slug: string; sku: string | null; field: string; from: number; to: number }[] }

  it('shows what would change, changes nothing without --yes, and then every price once', async () => {
    await run('set', 'mug', '--sale-price', '9.60')
    const plan = await run<Reprice>('reprice', '--percent', '5', '--round', '0.05', '--dry-run')
    expect(plan.json.changed).toEqual(
      expect.arrayContaining([
        { slug: 'mug', sku: null, field: 'price', from: 12, to: 12.6 },
        { slug: 'mug', sku: null, field: 'salePrice', from: 9.6, to: 10.1 },
        { slug: 'shirt', sku: 'SHIRT-M', field: 'price', from: 20, to: 21 }
      ])
    )
    expect((await run('reprice', '--percent', '5')).code).toBe(2)
    expect((await run<Reprice>('reprice', '--percent', '5', '--round', '0.05', '--yes')).json).toEqual(plan.json)
    const mug = await run('show', 'mug')
    expect(mug.json).toMatchObject({ offer: { price: { amount: 10.1, originalAmount: 12.6 }, stock: 20 } })
  })

  it('lowers the prices of one category when the operator agrees at a terminal', async () => {
    const args = ['offers', 'reprice', '--percent', '-10', '--category', 'Table']
    const { stdout, stderr, code } = await shopstead(dataDir, args, { answers: [true] })
    expect(code).toBe(0)
    expect(stderr).toContain('Change 1 price, such as bowl €8.40 → €7.56?')
    expect(stdout).toContain('1 price changed.')
  })

  it('reads a percentage exactly, though 1.15 × 100 is a little less than 115', () => {
    expect(parseRepricing('1.15', undefined, 'EUR')).toEqual({ percentBps: 115, stepMinor: 1 })
  })

  it('refuses a percentage that takes everything, and a step that is not an amount', async () => {
    for (const percent of ['0', '-100', 'five', '1e3'])
      expect(await run('reprice', '--percent', percent, '--yes')).toMatchObject({
        code: 1,
        json: { error: { details: { fieldErrors: { percent: [expect.any(String)] } } } }
      })
    const step = await run('reprice', '--percent', '5', '--round', 'x', '--yes')
    expect(step.json).toMatchObject({ error: { details: { fieldErrors: { round: [expect.any(String)] } } } })
  })
})
