import { describe, expect, it } from 'vitest'
import { csv, errorsOf, read } from './support.ts'

/** The export's columns in its own order, without most of the ignored ones. */
const columns = [
  'ID',
  'Type',
  'SKU',
  'Name',
  'Published',
  'Visibility in catalog',
  'Short description',
  'Description',
  'Date sale price starts',
  'Date sale price ends',
  'Tax status',
  'Tax class',
  'In stock?',
  'Stock',
  'Backorders allowed?',
  'Sale price',
  'Regular price',
  'Categories',
  'Tags',
  'Images',
  'Download expiry days',
  'Parent',
  'Position',
  'Attribute 1 name',
  'Attribute 1 value(s)',
  'Attribute 1 default',
  'Attribute 2 name',
  'Attribute 2 value(s)',
  'Download 1 name',
  'Download 1 URL',
  'Meta: _note'
]
const base = {
  Published: '1',
  'Visibility in catalog': 'visible',
  'In stock?': '1',
  'Backorders allowed?': '0',
  Position: '0'
}
const cup = { ...base, ID: '1', Type: 'simple', SKU: 'cup', Name: 'Cup', 'Regular price': '18' }
const shirt = {
  ...base,
  ID: '44',
  Type: 'variable',
  SKU: 'shirt',
  Name: 'Shirt',
  'Attribute 1 name': 'Color',
  'Attribute 1 value(s)': 'Red, Blue',
  'Attribute 2 name': 'Size',
  'Attribute 2 value(s)': 'S, L'
}
const variation = {
  ...base,
  Type: 'variation',
  Parent: 'shirt',
  'Regular price': '20',
  'Attribute 1 name': 'Color',
  'Attribute 2 name': 'Size'
}
const red = {
  ...variation,
  ID: '45',
  SKU: 'shirt-red',
  Name: 'Shirt - Red, S',
  'Attribute 1 value(s)': 'Red',
  'Attribute 2 value(s)': 'S'
}
const blue = {
  ...variation,
  ID: '46',
  SKU: 'shirt-blue',
  Name: 'Shirt - Blue, L',
  'Attribute 1 value(s)': 'Blue',
  'Attribute 2 value(s)': 'L'
}

type Cells = Readonly<Record<string, string>>

const readRows = (...rows: Cells[]) => read(csv(columns, rows))
const productOf = (row: Cells) => readRows({ ...cup, ...row }).file.products[0]
const errors = (...rows: Cells[]) =>
  errorsOf(csv(columns, rows)).map(({ line, column, cause }) => `${line} ${column}: ${cause}`)

describe("WooCommerce's product export", () => {
  it('gives a simple product a slug from its SKU and a price in minor units', () => {
    const { file, report } = readRows(cup)
    expect(file.products).toEqual([
      expect.objectContaining({
        slug: 'cup',
        name: 'Cup',
        priceMinor: 1800,
        salePriceMinor: null,
        stock: null,
        type: 'physical',
        published: true
      })
    ])
    expect(file.products[0]?.position).toBeUndefined()
    expect(report).toMatchObject({ format: 'woocommerce', rows: 1, warnings: [] })
  })

  it.each([
    ['Manufacturer', 'Responsible person', 'Safety instructions'],
    [
      'Meta: _german_market_gpsr_manufacturer',
      'Meta: _german_market_gpsr_responsible_person',
      'Meta: _german_market_gpsr_warnings_and_safety_information'
    ]
  ])('reads product safety from the columns %s, %s and %s', (maker, person, warnings) => {
    const filled = { [maker]: 'Lumen GmbH<br>Kai 7', [person]: 'Import House', [warnings]: '<p>Hot &amp; sharp.</p>' }
    const { file, report } = read(csv([...columns, maker, person, warnings], [{ ...cup, ...filled }]))
    const safety = { manufacturer: 'Lumen GmbH\nKai 7', responsiblePerson: 'Import House', safetyInfo: 'Hot & sharp.' }
    expect(file.products).toMatchObject([safety])
    expect(report.ignored).toEqual([])
    const { file: empty } = read(csv([...columns, maker], [cup]))
    expect(empty.products[0]).toMatchObject({ manufacturer: null })
    expect(empty.products[0]?.safetyInfo).toBeUndefined()
  })

  it.each([
    ['MPN', 'Unit', 'Unit product', 'GTIN'],
    ['Meta: _ts_mpn', 'Meta: _unit', 'Meta: _unit_product', 'Meta: _ts_gtin']
  ])('reads what feeds need from the columns %s, %s, %s and %s of Germanized', (mpn, unit, amount, gtin) => {
    const { file, report } = read(
      csv(
        [...columns, mpn, unit, amount, gtin],
        [
          { ...cup, [mpn]: 'HW-2041', [unit]: 'Stk', [amount]: '6', [gtin]: '4006381333931' },
          { ...shirt, [unit]: 'l' },
          { ...red, [amount]: '0,75' },
          { ...blue, [unit]: 'yd', [amount]: '2', [mpn]: 'B' }
        ]
      )
    )
    expect(file.products).toMatchObject([
      { mpn: 'HW-2041', unitMeasure: '6 ct', gtin: '4006381333931' },
      {
        mpn: null,
        unitMeasure: null,
        variations: [
          { mpn: null, unitMeasure: '0.75 l' },
          { mpn: 'B', unitMeasure: null }
        ]
      }
    ])
    expect(report.ignored).toEqual([{ column: 'Unit', count: 1, why: expect.stringContaining('Shirt - Blue') }])
  })

  it('makes unique and stable slugs from the names of products without a SKU', () => {
    const rows = ['7', '8'].map((ID) => ({ ...cup, ID, SKU: '', Name: 'Thé &amp; Café' }))
    const slugs = readRows(...rows).file.products.map(({ slug }) => slug)
    expect(slugs[0]).toBe('the-cafe')
    expect(slugs[1]).toMatch(/^the-cafe-[0-9a-f]{8}$/)
    expect(readRows(...rows).file.products.map(({ slug }) => slug)).toEqual(slugs)
    expect(productOf({ SKU: '', Name: '湯呑' })?.slug).toMatch(/^item-[0-9a-f]{8}$/)
  })

  it('groups variations under their parent, found by SKU or id, before or after it in the file', () => {
    const { file } = readRows(red, { ...shirt, SKU: 'shirt' }, { ...blue, Parent: 'id:44', 'Sale price': '15' })
    expect(file.products).toHaveLength(1)
    expect(file.products[0]).toMatchObject({
      slug: 'shirt',
      priceMinor: 2000,
      salePriceMinor: null,
      variations: [
        { sku: 'shirt-red', name: 'Red / S', priceMinor: 2000, salePriceMinor: null, stock: null, isDefault: true },
        { sku: 'shirt-blue', name: 'Blue / L', priceMinor: 2000, salePriceMinor: 1500, stock: null, isDefault: false }
      ]
    })
  })

  it('orders variations by position and takes the default from the attributes', () => {
    const [product] = readRows(
      { ...shirt, 'Attribute 1 default': 'Red' },
      { ...red, Position: '2' },
      { ...blue, Position: '1' }
    ).file.products
    expect(product?.variations?.map(({ sku, isDefault }) => [sku, isDefault])).toEqual([
      ['shirt-blue', false],
      ['shirt-red', true]
    ])
  })

  it('makes a variation of each value of a variation for any value, with a part of its stock', () => {
    const any = { ...red, SKU: '', 'Attribute 2 value(s)': '', Stock: '5' }
    const blueS = { ...any, ID: '47', SKU: 'blue', 'Attribute 1 value(s)': 'Blue', 'Attribute 2 value(s)': 'S' }
    const anyBlue = { ...any, ID: '48', SKU: 'shirt-blue', 'Attribute 1 value(s)': 'Blue', Stock: '' }
    const { file, report } = readRows(shirt, any, anyBlue, blueS)
    expect(file.products[0]?.variations).toMatchObject([
      { sku: 'shirt-red-s', name: 'Red / S', options: { Color: 'Red', Size: 'S' }, stock: 3 },
      { sku: 'shirt-red-l', name: 'Red / L', options: { Color: 'Red', Size: 'L' }, stock: 2 },
      { sku: 'shirt-blue', name: 'Blue / L', options: { Color: 'Blue', Size: 'L' }, stock: null },
      { sku: 'blue', name: 'Blue / S', options: { Color: 'Blue', Size: 'S' }, stock: 5 }
    ])
    expect(report.warnings).toEqual(['Line 3: the stock of 5 is divided among 2 variations.'])
  })

  it('reads a variation for any value as one if the product lists no values', () => {
    const any = { ...red, 'Attribute 2 value(s)': '' }
    const { file, report } = readRows({ ...shirt, 'Attribute 2 value(s)': '' }, any)
    expect(file.products[0]?.variations).toMatchObject([{ sku: 'shirt-red', name: 'Red', options: { Color: 'Red' } }])
    expect(report.ignored).toContainEqual(expect.objectContaining({ column: 'Parent', count: 1 }))
  })

  it('reads a variation for any value as one if there would be thousands', () => {
    const sizes = Array.from({ length: 3000 }, (_, index) => `${index}`).join(', ')
    const any = { ...red, 'Attribute 2 value(s)': '' }
    expect(readRows({ ...shirt, 'Attribute 2 value(s)': sizes }, any).file.products[0]?.variations).toHaveLength(1)
  })

  it('leaves out variations without a price, and imports a product without any price as unpublished', () => {
    const free = { ...blue, 'Regular price': '', 'Sale price': '9' }
    const one = readRows(shirt, red, free)
    expect(one.file.products[0]).toMatchObject({ unpriced: false, variations: [{ sku: 'shirt-red' }] })
    expect(one.report.ignored).toContainEqual(expect.objectContaining({ column: 'Regular price', count: 1 }))
    const none = readRows(shirt, { ...red, 'Regular price': '' }, free)
    expect(none.file.products[0]).toMatchObject({ unpriced: true, variations: [{ priceMinor: 0 }, { priceMinor: 0 }] })
    expect(none.report.unpublished).toEqual([{ count: 1, why: expect.stringContaining('no price') }])
  })

  it('ignores disabled variations, and keeps drafts of a draft product', () => {
    const { file, report } = readRows(
      { ...shirt, Published: '-1' },
      { ...red, Published: '-1' },
      { ...blue, Published: '0' }
    )
    expect(file.products[0]).toMatchObject({ published: false })
    expect(file.products[0]?.variations?.map(({ sku }) => sku)).toEqual(['shirt-red'])
    const why = 'Disabled variations are not imported: Shirt - Blue, L'
    expect(report.ignored).toContainEqual({ column: 'Published', count: 1, why })
  })
})

describe("the product data of WooCommerce's export", () => {
  it.each([
    [{ 'Tax class': '' }, 'standard'],
    [{ 'Tax class': 'reduced-rate' }, 'reduced'],
    [{ 'Tax class': 'ermaessigter-steuersatz' }, 'reduced'],
    [{ 'Tax class': 'taux-reduit' }, 'reduced'],
    [{ 'Tax class': 'zero-rate' }, 'zero'],
    [{ 'Tax class': 'reduced-rate', 'Tax status': 'none' }, 'zero'],
    [{ 'Tax class': 'books' }, 'standard']
  ])('reads the tax class of %j as %s', (row, taxClass) => {
    expect(productOf(row)?.taxClass).toBe(taxClass)
  })

  it('keeps a product that is sold below zero on sale, and says that its stock is not counted', () => {
    const { report } = readRows({ ...cup, Stock: '2', 'Backorders allowed?': 'notify' })
    expect(report.ignored).toEqual([{ column: 'Stock', count: 1, why: expect.stringMatching(/below zero.*: Cup$/) }])
  })

  it.each([
    [{ Published: '1' }, true],
    [{ Published: '0' }, false],
    [{ Published: '-1' }, false],
    [{ Published: "'-1" }, false],
    [{ Published: '2' }, false],
    [{ 'Visibility in catalog': 'hidden' }, false],
    [{ 'Visibility in catalog': 'search' }, true]
  ])('reads whether %j is published as %s', (row, published) => {
    expect(productOf(row)?.published).toBe(published)
  })

  it('hides a hidden product of an export in British English', () => {
    const british = columns.map((column) => (column === 'Visibility in catalog' ? 'Visibility in catalogue' : column))
    const { file, report } = read(csv(british, [{ ...cup, 'Visibility in catalogue': 'hidden' }]))
    expect(file.products[0]?.published).toBe(false)
    expect(report.ignored).toEqual([])
  })

  it.each([
    [{ Stock: '' }, null],
    [{ Stock: '7' }, 7],
    [{ Stock: '7.0000' }, 7],
    [{ Stock: '-3' }, 0],
    [{ Stock: '', 'In stock?': '0' }, 0],
    [{ Stock: '3', 'In stock?': '0' }, 0],
    [{ Stock: '0', 'In stock?': 'backorder' }, null],
    [{ Stock: '2', 'Backorders allowed?': '1' }, null],
    [{ Stock: '2', 'Backorders allowed?': 'notify' }, null]
  ])('reads the stock of %j as %s', (row, stock) => {
    expect(productOf(row)?.stock).toBe(stock)
  })

  it('stores stock that variations share on the product', () => {
    const { file, report } = readRows({ ...shirt, Stock: '9' }, { ...red, Stock: 'parent' }, { ...blue, Stock: '2' })
    expect(file.products[0]).toMatchObject({ stock: 9, variations: [{ stock: null }, { stock: 2 }] })
    expect(report.warnings).toEqual(['Line 2: the variations share the stock of Shirt.'])
  })

  it('reads sale dates in the time zone of the shop and includes the whole last day', () => {
    const dates = (starts: string, ends: string) => {
      const sale = { 'Sale price': '15', 'Date sale price starts': starts, 'Date sale price ends': ends }
      const [product] = read(csv(columns, [{ ...cup, ...sale }]), 'EUR', 'Europe/Berlin').file.products
      return [product?.saleStartsAt, product?.saleEndsAt].map((at) => at && new Date(at).toISOString())
    }
    expect(dates('2026-11-01', '2026-11-30')).toEqual(['2026-10-31T23:00:00.000Z', '2026-11-30T23:00:00.000Z'])
    expect(dates('2026-11-01 9:30:00', '2026-11-30 23:59:59')).toEqual([
      '2026-11-01T08:30:00.000Z',
      '2026-11-30T23:00:00.000Z'
    ])
    expect(dates('', '')).toEqual([null, null])
    const [error] = errorsOf(csv(columns, [{ ...cup, 'Sale price': '15', 'Date sale price ends': '2026-11-30 29:00' }]))
    expect(error).toMatchObject({ column: 'Date sale price ends' })
  })

  it('ignores the sale of a variation whose dates differ from the other variations', () => {
    const { file, report } = readRows(
      shirt,
      { ...red, 'Sale price': '15', 'Date sale price ends': '2026-11-30' },
      { ...blue, 'Sale price': '10' }
    )
    expect(file.products[0]).toMatchObject({
      saleEndsAt: Date.UTC(2026, 11, 1),
      variations: [{ salePriceMinor: 1500 }, { salePriceMinor: null }]
    })
    expect(report.ignored).toContainEqual(expect.objectContaining({ column: 'Sale price', count: 1 }))
  })

  it('reads prices with a decimal comma, and ignores a sale price that is not lower', () => {
    expect(productOf({ 'Regular price': '18,50' })).toMatchObject({ priceMinor: 1850 })
    const { file, report } = readRows({ ...cup, 'Sale price': '18' })
    expect(file.products[0]).toMatchObject({ salePriceMinor: null })
    expect(report.ignored).toContainEqual(expect.objectContaining({ column: 'Sale price', count: 1 }))
  })

  it('reads the paths of categories, and reads escaped commas', () => {
    const Categories = String.raw`Clothing > Shirts, Clothing > Bags\, Cases, Uncategorized, Unkategorisiert, Non classé`
    expect(productOf({ Categories, Tags: String.raw`soft, warm\, dry, Soft` })).toMatchObject({
      categories: ['Clothing > Shirts', 'Clothing > Bags, Cases'],
      tags: ['soft', 'warm, dry']
    })
  })

  it('converts descriptions to text, the short one first', () => {
    const Description = String.raw`<p>Holds <b>a lot</b> &amp; more.</p>\n<ul><li>blue</li></ul>`
    expect(productOf({ Description, 'Short description': String.raw`A cup.\nC:\\new` })?.description).toBe(
      'A cup.\nC:\\new\n\nHolds a lot & more.\n\n- blue'
    )
  })

  it('reads virtual products as digital and downloads as grants of the file', () => {
    const product = productOf({
      Type: 'simple, downloadable, virtual',
      'Download 1 name': 'Single',
      'Download 1 URL': 'https://shop.example/wp-content/My%20single.mp3?x=1',
      'Download expiry days': '30'
    })
    expect(product).toMatchObject({ type: 'digital', grants: [{ kind: 'download', file: 'My single.mp3', days: 30 }] })
    const virtual = [shirt, { ...red, Type: 'variation, virtual' }]
    expect(readRows(...virtual).file.products[0]?.type).toBe('digital')
    expect(readRows(...virtual, blue).file.products[0]?.type).toBe('physical')
  })

  it('reads the menu order where the shop uses it', () => {
    const positions = (...orders: string[]) =>
      readRows(...orders.map((Position, index) => ({ ...cup, SKU: `cup-${index}`, Position }))).file.products.map(
        ({ position }) => position
      )
    expect(positions('0', '0')).toEqual([undefined, undefined])
    expect(positions('2', '0', '-1')).toEqual([3, 1, 0])
  })

  it('leaves fields without a column undefined', () => {
    const [product] = read('Type,SKU,Name,Regular price\nsimple,cup,Cup,18\n').file.products
    const defined = Object.entries(product ?? {}).filter(([, value]) => value !== undefined)
    expect(defined.map(([field]) => field).sort()).toEqual([
      'foundBySku',
      'name',
      'priceMinor',
      'saleEndsAt',
      'salePriceMinor',
      'saleStartsAt',
      'shape',
      'sku',
      'slug',
      'type',
      'unpriced',
      'variations'
    ])
  })

  it('reads the pictures of products and variations, without other addresses than http and https', () => {
    const { file, report } = readRows(
      {
        ...cup,
        Images: 'https://shop.example/1.jpg, https://shop.example/2.jpg, photo.jpg, https://shop.example/1.jpg'
      },
      { ...cup, SKU: 'plain', Name: 'Plain', Images: '' }
    )
    expect(file.products.map(({ images }) => images)).toEqual([
      [
        { src: 'https://shop.example/1.jpg', alt: '' },
        { src: 'https://shop.example/2.jpg', alt: '' }
      ],
      []
    ])
    expect(report.ignored).toEqual([{ column: 'Images', count: 1, why: 'Only http and https addresses are fetched' }])
  })

  it('reports the ignored columns and products', () => {
    const { file, report } = readRows(
      {
        ...cup,
        Images: 'https://shop.example/1.jpg',
        'Tax status': 'taxable',
        'Meta: _note': 'x',
        'Attribute 1 name': 'Color'
      },
      { ...cup, SKU: 'set', Name: 'Set', Type: 'grouped' },
      { ...cup, SKU: 'far', Name: 'Far', Type: 'external' },
      { ...shirt, SKU: 'empty', Name: 'Empty' },
      { ...cup, SKU: 'draft', Name: 'Draft', Published: '-1', 'Regular price': '' }
    )
    expect(file.products.map(({ slug }) => slug)).toEqual(['cup', 'draft'])
    expect(report.unpublished).toEqual([
      { count: 1, why: 'Not published in WooCommerce: Draft' },
      { count: 1, why: expect.stringMatching(/no price.*: Draft$/) }
    ])
    const ignored = report.ignored.map(({ column, count, why }) => `${column} ${count}: ${why}`)
    expect(ignored).toEqual(
      expect.arrayContaining([
        'Meta: _note 1: Fields of other plugins are not supported',
        'Attribute 1 name 1: Attributes are used only as the options of variations',
        'Type 1: Products of type grouped are not supported: Set',
        'Type 1: Products of type external are not supported: Far',
        'Type 1: A variable product without variations cannot be bought: Empty'
      ])
    )
  })
})

describe("a variation of WooCommerce's export", () => {
  it('is left out if its product was deleted or became a simple one', () => {
    const orphans = ['', 'id:99', 'cup'].map((Parent) => ({ ...red, Parent, Name: `Shirt of ${Parent || 'none'}` }))
    const { file, report } = readRows(cup, shirt, blue, ...orphans)
    expect(file.products.map(({ variations }) => variations?.length)).toEqual([0, 1])
    expect(report.ignored).toEqual(
      expect.arrayContaining([
        {
          column: 'Parent',
          count: 2,
          why: 'Variations whose product is not in the file are not imported: Shirt of none, Shirt of id:99'
        },
        {
          column: 'Parent',
          count: 1,
          why: 'Variations whose product is a simple product are not imported: Shirt of cup'
        }
      ])
    )
  })
})

describe("WooCommerce's product export is refused", () => {
  it('with line, column and cause of each row', () => {
    expect(
      errors(
        cup,
        { ...cup, SKU: 'b', 'Regular price': 'abc' },
        { ...cup, SKU: 'c', Name: '', Description: 'two\nlines' },
        { ...cup, SKU: 'e', Stock: 'many' },
        { ...cup, SKU: 'f', Published: 'maybe' },
        { ...cup, SKU: 'g', 'Sale price': '1', 'Date sale price starts': 'soon' },
        { ...cup, SKU: 'i', Position: 'first' },
        { ...cup, SKU: 'j', 'Regular price': '18.505' }
      )
    ).toEqual([
      '3 Regular price: An amount must be zero or more, written as digits with an optional decimal point.',
      '4 Name: Must not be empty.',
      '6 Stock: Must be a whole number from 0 to 1000000000.',
      '7 Published: Must be 1, 0, -1 or 2.',
      '8 Date sale price starts: Must be an ISO 8601 date, or a date and time with Z or an offset.',
      '9 Position: Must be a whole number.',
      '10 Regular price: An amount in EUR must have at most 2 decimals.'
    ])
  })

  it('with the line of the variation when a variation has an error', () => {
    expect(errors(shirt, red, { ...blue, 'Regular price': 'x' })).toEqual([expect.stringMatching(/^4 Regular price: /)])
  })
})
