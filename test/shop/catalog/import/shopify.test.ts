import { describe, expect, it } from 'vitest'
import { csv, errorsOf, read } from './support.ts'

const columns = [
  'Handle',
  'Title',
  'Body (HTML)',
  'Vendor',
  'Product Category',
  'Type',
  'Tags',
  'Published',
  'Option1 Name',
  'Option1 Value',
  'Option2 Name',
  'Option2 Value',
  'Variant SKU',
  'Variant Grams',
  'Variant Inventory Tracker',
  'Variant Inventory Qty',
  'Variant Inventory Policy',
  'Variant Price',
  'Variant Compare At Price',
  'Variant Requires Shipping',
  'Image Src',
  'Image Position',
  'Image Alt Text',
  'Variant Image',
  'Gift Card',
  'Price / International',
  'Status'
]
const plain = {
  Handle: 'blue-cup',
  Title: 'Blue Cup',
  'Body (HTML)': '<p>Holds &frac12; litre.</p>',
  Published: 'true',
  'Option1 Name': 'Title',
  'Option1 Value': 'Default Title',
  'Variant Inventory Tracker': 'shopify',
  'Variant Inventory Qty': '4',
  'Variant Inventory Policy': 'deny',
  'Variant Price': '12.50',
  'Variant Requires Shipping': 'true',
  'Gift Card': 'false',
  Status: 'active'
}
const small = { ...plain, Handle: 'shirt', Title: 'Shirt', 'Option1 Name': 'Size', 'Option1 Value': 'Small' }
const large = { Handle: 'shirt', 'Option1 Value': 'Large', 'Variant Price': '15', 'Variant Requires Shipping': 'true' }

type Cells = Readonly<Record<string, string>>

const readRows = (...rows: Cells[]) => read(csv(columns, rows))
const productOf = (row: Cells) => readRows({ ...plain, ...row }).file.products[0]
const errors = (...rows: Cells[]) =>
  errorsOf(csv(columns, rows)).map(({ line, column, cause }) => `${line} ${column}: ${cause}`)

describe("Shopify's product export", () => {
  it('gives a product without options its handle as slug', () => {
    const { file, report } = readRows(plain)
    expect(file.products).toEqual([
      expect.objectContaining({
        shape: 'product',
        slug: 'blue-cup',
        name: 'Blue Cup',
        description: 'Holds ½ litre.',
        priceMinor: 1250,
        salePriceMinor: null,
        stock: 4,
        type: 'physical',
        published: true,
        categories: [],
        tags: [],
        variations: []
      })
    ])
    expect(report).toEqual({ format: 'shopify', rows: 1, ignored: [], unpublished: [], warnings: [] })
  })

  it('groups the rows of a handle into variations, and makes SKUs for those without one', () => {
    const { file, report } = readRows({ ...small, 'Variant SKU': 'S-1' }, large, {
      ...large,
      'Option1 Value': 'Large',
      'Option2 Value': 'Red'
    })
    expect(file.products).toHaveLength(1)
    expect(file.products[0]).toMatchObject({
      slug: 'shirt',
      priceMinor: 1250,
      stock: null,
      variations: [
        { sku: 'S-1', name: 'Small', priceMinor: 1250, stock: 4, isDefault: false },
        { sku: 'shirt-large', name: 'Large', priceMinor: 1500, stock: null, isDefault: false },
        { sku: 'shirt-large-red', name: 'Large / Red', priceMinor: 1500, isDefault: false }
      ]
    })
    expect(report.rows).toBe(3)
  })

  it('reads a single variant with an option as a variation', () => {
    expect(readRows(small).file.products[0]?.variations).toMatchObject([{ name: 'Small', isDefault: false }])
  })

  it('adds a suffix to a SKU that a product has twice', () => {
    const { file, report } = readRows({ ...small, 'Variant SKU': 'S' }, { ...large, 'Variant SKU': 'S' })
    expect(file.products[0]?.variations?.[1]?.sku).toMatch(/^S-[0-9a-f]{8}$/)
    expect(report.warnings).toEqual([
      'Variations with the SKU of another variation of the product got a suffix (1): shirt'
    ])
  })

  it('counts the repeated SKUs of many products in one warning, which names the first five', () => {
    const handles = ['a', 'b', 'c', 'd', 'e', 'f']
    const rows = handles.flatMap((handle) =>
      [small, large, { ...large, 'Option1 Value': 'Huge' }].map((row) => ({
        ...row,
        Handle: handle,
        'Variant SKU': 'S'
      }))
    )
    expect(readRows(...rows).report.warnings).toEqual([
      'Variations with the SKU of another variation of the product got a suffix (12): a, b, c, d, e, …'
    ])
  })

  it('reads pictures in the order of their positions and does not read their rows as variants', () => {
    const images = [
      { 'Image Src': 'https://shop.example/2.jpg', 'Image Position': '2', 'Image Alt Text': 'Back' },
      { 'Image Src': 'https://shop.example/1.jpg', 'Image Position': '1', 'Image Alt Text': '' },
      { 'Image Src': 'photo.jpg', 'Image Position': '3' }
    ]
    const [first = {}, ...others] = images
    const { file, report } = readRows({ ...plain, ...first }, ...others.map((row) => ({ Handle: 'blue-cup', ...row })))
    expect(file.products[0]?.variations).toEqual([])
    expect(file.products[0]?.images).toEqual([
      { src: 'https://shop.example/1.jpg', alt: '' },
      { src: 'https://shop.example/2.jpg', alt: 'Back' }
    ])
    expect(report.ignored).toEqual([
      { column: 'Image Src', count: 1, why: 'Only http and https addresses are fetched' }
    ])
  })

  it("reads a variant's picture", () => {
    const picture = { 'Variant Image': 'https://shop.example/s.jpg' }
    const { file } = readRows({ ...small, ...picture }, { ...large, 'Variant Image': '' })
    expect(file.products[0]?.variations?.map(({ images }) => images)).toEqual([
      [{ src: 'https://shop.example/s.jpg', alt: '' }],
      undefined
    ])
  })

  it('reads the price as a sale price when the compare-at price is higher', () => {
    expect(productOf({ 'Variant Compare At Price': '20' })).toMatchObject({ priceMinor: 2000, salePriceMinor: 1250 })
    expect(productOf({ 'Variant Compare At Price': '12.50' })).toMatchObject({ priceMinor: 1250, salePriceMinor: null })
    expect(productOf({ 'Variant Compare At Price': '0.00' })).toMatchObject({ priceMinor: 1250, salePriceMinor: null })
  })

  it.each([
    [{}, 4],
    [{ 'Variant Inventory Qty': '-2' }, 0],
    [{ 'Variant Inventory Tracker': '' }, null],
    [{ 'Variant Inventory Policy': 'continue' }, null],
    [{ 'Variant Inventory Qty': '' }, null]
  ])('reads the stock of %j as %s', (row, stock) => {
    expect(productOf(row)?.stock).toBe(stock)
  })

  it('counts in one line the stock that is tracked in a file without quantities', () => {
    const withoutQuantity = columns.filter((column) => column !== 'Variant Inventory Qty')
    const text = csv(withoutQuantity, [plain, { ...small, Handle: 'cap', Title: 'Cap' }])
    const { file, report } = read(text)
    expect(file.products[0]?.stock).toBeNull()
    const why = 'Shopify tracks this stock, but the file has no quantity, so the stock is not counted'
    expect(report).toMatchObject({ ignored: [{ column: 'Variant Inventory Qty', count: 2, why }], warnings: [] })
  })

  it('reads SKUs and barcodes of digits without the apostrophe that Shopify writes before them', () => {
    const text = csv(
      [...columns, 'Variant Barcode'],
      [
        { ...plain, 'Variant SKU': "'0042", 'Variant Barcode': "'4006381333931" },
        { ...small, 'Variant SKU': "'7", 'Variant Barcode': "'0036000291452" },
        { ...large, 'Variant SKU': "'n-roll" }
      ]
    )
    const { file, report } = read(text)
    expect(file.products).toMatchObject([
      { sku: '0042', gtin: '4006381333931' },
      { variations: [{ sku: '7', gtin: '0036000291452' }, { sku: "'n-roll" }] }
    ])
    expect(report.ignored).toEqual([])
  })

  it('reads product safety from metafields', () => {
    const maker = 'Manufacturer (product.metafields.custom.manufacturer)'
    const info = 'Safety information (product.metafields.custom.safety_info)'
    const { file, report } = read(csv([...columns, maker, info], [{ ...plain, [maker]: 'Lumen GmbH', [info]: '' }]))
    expect(file.products).toMatchObject([{ manufacturer: 'Lumen GmbH', safetyInfo: null }])
    expect(report.ignored).toEqual([])
  })

  it('reads the number of the maker and the content of each variant, for feeds and unit prices', () => {
    const text = csv(
      [...columns, 'Google Shopping / MPN', 'Unit Price Total Measure', 'Unit Price Total Measure Unit'],
      [
        {
          ...plain,
          'Google Shopping / MPN': "'0815",
          'Unit Price Total Measure': '750.0',
          'Unit Price Total Measure Unit': 'ml'
        },
        { ...small, 'Unit Price Total Measure': '0.5', 'Unit Price Total Measure Unit': 'm2' },
        { ...large, 'Unit Price Total Measure': '3', 'Unit Price Total Measure Unit': 'fl oz' }
      ]
    )
    const { file, report } = read(text)
    expect(file.products).toMatchObject([
      { mpn: '0815', unitMeasure: '750 ml' },
      { variations: [{ mpn: null, unitMeasure: '0.5 sqm' }, { unitMeasure: null }] }
    ])
    expect(report.ignored).toEqual([
      { column: 'Unit Price Total Measure', count: 1, why: expect.stringContaining('unit or the number') }
    ])
  })

  it('rounds the weight in grams of a variant that was weighed in ounces', () => {
    const { file, report } = readRows(
      { ...plain, 'Variant Grams': '28.349523125' },
      { ...small, 'Variant Grams': '70.87380781250' }
    )
    expect(file.products.map(({ weightGrams }) => weightGrams)).toEqual([28, 71])
    expect(report.ignored).toEqual([])
  })

  it.each([
    [{}, true],
    [{ Published: '' }, true],
    [{ Published: 'FALSE' }, false],
    [{ Status: 'draft' }, false],
    [{ Status: 'Archived' }, false],
    [{ Status: '' }, true]
  ])('reads whether %j is published as %s', (row, published) => {
    expect(productOf(row)?.published).toBe(published)
  })
})

describe("the product data of Shopify's export", () => {
  it('reads a product without shipping as digital', () => {
    expect(productOf({ 'Variant Requires Shipping': 'false' })?.type).toBe('digital')
    expect(readRows({ ...small, 'Variant Requires Shipping': 'false' }, large).file.products[0]?.type).toBe('physical')
  })

  it('reads type and product category as categories', () => {
    const row = { Type: 'Mugs', 'Product Category': 'Home & Garden > Kitchen > Mugs', Tags: 'blue, Gift, blue' }
    expect(productOf(row)).toMatchObject({
      categories: ['Mugs', 'Home & Garden > Kitchen > Mugs'],
      tags: ['blue', 'Gift']
    })
  })

  it('reads the category from its column of 2021', () => {
    const cells = { ...plain, 'Standard Product Type': 'Home & Garden > Kitchen', 'Custom Product Type': 'Mugs' }
    const { file } = read(csv(Object.keys(cells), [cells]))
    expect(file.products[0]?.categories).toEqual(['Mugs', 'Home & Garden > Kitchen'])
  })

  it('names metafields as the reason why their columns are left out', () => {
    const cells = { ...plain, 'Glaze (product.metafields.custom.glaze)': 'matt' }
    expect(read(csv(Object.keys(cells), [cells])).report.ignored).toMatchObject([
      { why: 'Metafields are not supported' }
    ])
  })

  it('ignores gift cards and reports the ignored columns', () => {
    const { file, report } = readRows(
      { ...plain, Vendor: 'Potter', 'Price / International': '14', 'Variant SKU': 'C-1' },
      { ...plain, Handle: 'card', Title: 'Card', 'Gift Card': 'true' }
    )
    expect(file.products.map(({ slug }) => slug)).toEqual(['blue-cup'])
    expect(report.ignored).toEqual([
      { column: 'Price / International', count: 1, why: 'Only one market is supported' },
      { column: 'Gift Card', count: 1, why: 'Gift cards are not supported: Card' }
    ])
  })

  it('makes a slug from a handle that is not a valid slug', () => {
    const { file, report } = readRows({ ...plain, Handle: 'Tasse_À-Café' }, small)
    expect(file.products.map(({ slug }) => slug)).toEqual(['tasse-a-cafe', 'shirt'])
    const why = 'The address has other characters than a to z, digits and hyphens, so it changes: Blue Cup'
    expect(report.ignored).toEqual([{ column: 'Handle', count: 1, why }])
  })

  it('can have the new column names; a row without a handle then belongs to the product above', () => {
    const text = csv(
      [
        'Title',
        'URL handle',
        'Description',
        'Status',
        'SKU',
        'Option1 name',
        'Option1 value',
        'Price',
        'Compare-at price',
        'Inventory tracker',
        'Inventory quantity',
        'Continue selling when out of stock',
        'Requires shipping',
        'Product image URL'
      ],
      [
        {
          Title: 'Shirt',
          'URL handle': 'shirt',
          Description: '<b>Soft</b>',
          Status: 'Active',
          SKU: 'S',
          'Option1 name': 'Size',
          'Option1 value': 'S',
          Price: '10',
          'Compare-at price': '12',
          'Inventory tracker': 'shopify',
          'Inventory quantity': '3',
          'Continue selling when out of stock': 'DENY',
          'Requires shipping': 'TRUE'
        },
        {
          'Option1 value': 'L',
          SKU: 'L',
          Price: '11',
          'Inventory tracker': 'shopify',
          'Inventory quantity': '3',
          'Continue selling when out of stock': 'CONTINUE'
        }
      ]
    )
    expect(read(text).file.products).toMatchObject([
      {
        slug: 'shirt',
        description: 'Soft',
        type: 'physical',
        variations: [
          { sku: 'S', priceMinor: 1200, salePriceMinor: 1000, stock: 3 },
          { sku: 'L', priceMinor: 1100, salePriceMinor: null, stock: null }
        ]
      }
    ])
  })
})

describe("Shopify's product export is refused", () => {
  it('with line, column and cause of each row', () => {
    expect(
      errors(
        { ...plain, Title: '', 'Body (HTML)': 'two\nlines' },
        { ...small, 'Variant Price': 'free' },
        { ...large, 'Variant Price': '' },
        { ...plain, Handle: 'b', Status: 'gone', Published: 'perhaps' },
        { ...plain, Handle: 'c', 'Variant Inventory Qty': 'few' },
        { Handle: 'd', Title: 'Only a picture', 'Image Src': 'https://shop.example/1.jpg' }
      )
    ).toEqual([
      '2 Title: Must not be empty.',
      '4 Variant Price: An amount must be zero or more, written as digits with an optional decimal point.',
      '5 Variant Price: Is required.',
      '6 Status: Must be active, draft, archived or unlisted.',
      '6 Published: Must be true or false.',
      '7 Variant Inventory Qty: Must be a whole number from 0 to 1000000000.',
      '8 Variant Price: Is required.'
    ])
  })

  it('once when it has no column of prices', () => {
    const rows = [
      { Handle: 'a', Title: 'A', 'Variant SKU': 'a-1' },
      { Handle: 'b', Title: 'B', 'Variant SKU': 'b-1' }
    ]
    expect(errorsOf(csv(['Handle', 'Title', 'Variant SKU'], rows))).toEqual([
      {
        line: 1,
        column: 'Variant Price',
        cause: 'The file does not have this column. Export the products from Shopify with all columns.'
      }
    ])
  })

  it('for a row without a handle and title', () => {
    expect(errors({ 'Variant Price': '3' })).toEqual(['2 Handle: Must not be empty.'])
  })
})
