import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/errors.ts'
import { maxFileBytes, readCatalogFile } from '../../../../src/shop/catalog/import/read-file.ts'
import { csv, errorsOf, outcomeOf, read } from './support.ts'

const woo = 'ID,Type,SKU,Name,Description,Regular price\n1,simple,cup,Cup,"two\n\nlines",3\n2,simple,mug,Mug,,4\n'
const shopify = 'Handle,Title,Option1 Value,Variant Price\ncup,Cup,Default Title,3\n'

describe('a catalog file', () => {
  it.each([
    ['json', '[{"slug":"cup","name":"Cup","price":3}]'],
    ['json', '\ufeff \n{"products":[]}'],
    ['woocommerce', woo],
    ['woocommerce', `\ufeff${woo}`],
    ['woocommerce', woo.replaceAll('\n', '\r\n')],
    ['woocommerce', woo.replaceAll('\n', '\r')],
    ['woocommerce', 'Type;SKU;Name;Regular price\nsimple;cup;Cup;3,50\n'],
    ['woocommerce', woo.replace('Type', '"TYPE"')],
    ['shopify', shopify],
    ['shopify', shopify.trimEnd()]
  ])('is recognised as %s by its content', (format, text) => {
    expect(read(text).report.format).toBe(format)
    expect(read(new TextEncoder().encode(text)).report).toEqual(read(text).report)
  })

  it('may contain empty and short rows', () => {
    const { file, report } = read(
      'Type,SKU,Name,Regular price,Tags\n\nsimple,cup,Cup,3\n,,,,\nsimple,mug,Mug,4,blue,,\n'
    )
    expect(file.products.map(({ slug }) => slug)).toEqual(['cup', 'mug'])
    expect(report.rows).toBe(2)
  })

  it('reports a repeated column as ignored', () => {
    const { file, report } = read('Type,SKU,Name,Regular price,Name\nsimple,cup,Cup,3,Bowl\n')
    expect(file.products[0]?.name).toBe('Cup')
    expect(report.ignored).toEqual([{ column: 'Name (2)', count: 1, why: 'This column is not supported' }])
  })

  it.each([
    ['', null, 'The file is empty.'],
    [' \r\n', null, 'The file is empty.'],
    ['Identifiant,Genre,Titre\n1,simple,Tasse\n', 1, 'Identifiant, Genre, Titre'],
    ['hello', 1, 'is not JSON, and its header does not match a product export'],
    [woo.replace('2,simple,mug', '2,simple,"mug'), 5, 'is not closed'],
    [woo.replace('2,simple,mug', '2,simple,m"ug'), 5, 'must be quoted'],
    [woo.replace('2,simple,mug', '2,simple,"m"ug'), 5, 'must be doubled'],
    [woo.replace('Mug,,4', 'Mug,,4,5'), 5, 'more cells than the header'],
    [new Uint8Array([...new TextEncoder().encode('[{"slug":\n'), 0xe9]), 2, 'not UTF-8'],
    [new Uint8Array([0xff, 0xfe, 0x48, 0x00]), 1, 'does not match a product export']
  ])('is refused with the line of the error: %j', (content, line, cause) => {
    expect(errorsOf(content)).toEqual([{ line, column: null, cause: expect.stringContaining(cause) }])
  })

  it('reports the physical line on which a row starts, also after cells with line breaks', () => {
    expect(errorsOf(woo.replace('Mug,,4', 'Mug,,four'))).toMatchObject([{ line: 5, column: 'Regular price' }])
    expect(errorsOf(woo.replaceAll('\n', '\r\n').replace('Mug,,4', 'Mug,,four'))).toMatchObject([{ line: 5 }])
  })

  it('is refused above 50 MB', () => {
    expect(errorsOf(new Uint8Array(maxFileBytes + 1))).toEqual([
      { line: null, column: null, cause: 'The file is larger than 50 MB.' }
    ])
  })

  it('is refused when the currency of the shop is unknown', () => {
    expect(() => readCatalogFile(woo, { currency: 'eur', timeZone: 'UTC' })).toThrow(AppError)
  })

  it('is refused with a message that contains the first error', () => {
    expect(outcomeOf(() => read(woo.replace('Mug,,4', 'Mug,,four')))).toMatchObject({
      message: expect.stringMatching(/^The file has one error\. Nothing was imported\. Line 5, Regular price: /)
    })
  })

  it('can have ten thousand rows', () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => `${index},simple,cup-${index},Cup ${index},"<p>x</p>",3`)
    const text = `${woo.split('\n')[0]}\n${rows.join('\n')}\n`
    expect(read(text).file.products).toHaveLength(10_000)
  })

  it('gives ten thousand products with the same name different slugs', () => {
    const rows = Array.from({ length: 10_000 }, () => 'simple,Cup,3')
    const { products } = read(`Type,Name,Regular price\n${rows.join('\n')}`).file
    expect(new Set(products.map(({ slug }) => slug)).size).toBe(10_000)
  })
})

describe('a file with random content', () => {
  const cell = fc.oneof(
    fc.constantFrom(
      '',
      '1',
      '0',
      '-1',
      'simple',
      'variable',
      'variation',
      'cup',
      'id:1',
      'parent',
      '3.50',
      'true',
      'Default Title',
      '2026-11-30'
    ),
    fc.string(),
    fc.string({ unit: 'binary' })
  )
  const wooColumns = [
    'ID',
    'Type',
    'SKU',
    'Name',
    'Published',
    'In stock?',
    'Stock',
    'Sale price',
    'Regular price',
    'Date sale price ends',
    'Categories',
    'Parent',
    'Position',
    'Description',
    'Attribute 1 name',
    'Attribute 1 value(s)',
    'Attribute 1 default',
    'Download 1 URL'
  ]
  const shopifyColumns = [
    'Handle',
    'Title',
    'Body (HTML)',
    'Type',
    'Tags',
    'Published',
    'Status',
    'Option1 Value',
    'Option2 Value',
    'Variant SKU',
    'Variant Price',
    'Variant Compare At Price',
    'Variant Inventory Tracker',
    'Variant Inventory Qty',
    'Variant Requires Shipping',
    'Gift Card'
  ]
  const rowsOf = (columns: string[]) =>
    fc
      .array(fc.record(Object.fromEntries(columns.map((column) => [column, cell]))), { maxLength: 12 })
      .map((rows) => csv(columns, rows))

  it.each([
    ['text', fc.string({ unit: 'binary' })],
    ['lines below a header', fc.string({ unit: 'binary' }).map((text) => `${woo}${text}`)],
    ['WooCommerce rows', rowsOf(wooColumns)],
    ['Shopify rows', rowsOf(shopifyColumns)],
    ['bytes', fc.uint8Array({ maxLength: 200 })]
  ])(
    '(%s) is read, or refused with an AppError, with the same result each time',
    (_, content: fc.Arbitrary<string | Uint8Array>) => {
      fc.assert(
        fc.property(content, (content) => {
          const outcome = outcomeOf(() => read(content))
          expect(outcome instanceof AppError || Object.hasOwn(Object(outcome), 'file')).toBe(true)
          expect(outcomeOf(() => read(content))).toEqual(outcome)
        }),
        { numRuns: 50 }
      )
    }
  )
})
