import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/errors.ts'
import { withDefaults } from '../../../../src/shop/catalog/import/format.ts'
import { errorsOf, outcomeOf, plainProduct, read, readProducts } from './support.ts'

const lamp = { slug: 'lamp', name: 'Lamp', price: '12.50' }
const whole = {
  ...lamp,
  sku: ' LAMP ',
  description: ' Two\r\nlines ',
  descriptionHtml: '<b onclick="x()">Two</b><br>lines<script>x()</script>',
  lengthMm: 100,
  widthMm: 90,
  heightMm: 310,
  brand: 'Lumen',
  gtin: '4006381-333931',
  mpn: 'HW-2041',
  manufacturer: ' Lumen GmbH\r\nKai 7 ',
  responsiblePerson: 'Import House',
  safetyInfo: '',
  unitMeasure: '750ML',
  seoTitle: 'A lamp',
  seoDescription: 'It shines.',
  salePrice: 10,
  saleStart: '2026-11-01',
  saleEnd: '2026-12-01T00:00Z',
  type: 'digital',
  stock: 3,
  published: false,
  position: 2,
  weightGrams: 900,
  taxClass: 'reduced',
  url: 'https://shop.example/lamp',
  categories: ['Light', 'light', 'Home > Tables'],
  tags: ['oil'],
  variations: [
    { sku: 'L-1', name: 'Small', options: { Size: ' S ' }, price: 12.5 },
    {
      sku: 'L-2',
      options: { Size: 'L' },
      price: '20',
      salePrice: 15,
      stock: 0,
      gtin: '4006381333931',
      weightGrams: 1200,
      default: true
    }
  ],
  grants: [
    { kind: 'membership', module: 'A', plan: 'friend', period: '1y' },
    { kind: 'subscription', interval: 'month' },
    { kind: 'course', course: 'lamps' },
    { kind: 'download', file: 'sheets/lamp.pdf', days: 30 },
    { kind: 'donation' }
  ]
}

function causes(product: object): string[] {
  return errorsOf(JSON.stringify([product])).map(({ column, cause }) => `${column}: ${cause}`)
}

describe('a catalog file in JSON', () => {
  it('needs only the slug, name and price of a product; other fields have defaults', () => {
    const [product] = readProducts([lamp])
    expect(product).toMatchObject({ shape: 'product', slug: 'lamp', name: 'Lamp', priceMinor: 1250 })
    expect(product?.stock).toBeUndefined()
    expect(product && withDefaults(product)).toEqual({
      ...plainProduct,
      priceMinor: 1250,
      costMinor: null,
      salePriceMinor: null,
      saleStartsAt: null,
      saleEndsAt: null,
      stock: null,
      images: []
    })
  })

  it('reads every field and normalizes amounts, times and texts', () => {
    const small = { sku: 'L-1', name: 'Small', options: { Size: 'S' } }
    const large = { sku: 'L-2', name: 'L', options: { Size: 'L' } }
    expect(readProducts({ products: [whole] })).toEqual([
      {
        shape: 'product',
        slug: 'lamp',
        name: 'Lamp',
        sku: 'LAMP',
        description: 'Two\nlines',
        descriptionHtml: '<b>Two</b><br />lines',
        lengthMm: 100,
        widthMm: 90,
        heightMm: 310,
        brand: 'Lumen',
        gtin: '4006381333931',
        mpn: 'HW-2041',
        manufacturer: 'Lumen GmbH\nKai 7',
        responsiblePerson: 'Import House',
        safetyInfo: null,
        unitMeasure: '750 ml',
        seoTitle: 'A lamp',
        seoDescription: 'It shines.',
        priceMinor: 1250,
        salePriceMinor: 1000,
        saleStartsAt: Date.UTC(2026, 10, 1),
        saleEndsAt: Date.UTC(2026, 11, 1),
        type: 'digital',
        stock: 3,
        published: false,
        position: 2,
        weightGrams: 900,
        taxClass: 'reduced',
        url: 'https://shop.example/lamp',
        categories: ['Light', 'Home > Tables'],
        tags: ['oil'],
        variations: [
          {
            ...small,
            priceMinor: 1250,
            salePriceMinor: null,
            stock: null,
            gtin: null,
            mpn: null,
            unitMeasure: null,
            weightGrams: null,
            isDefault: false
          },
          {
            ...large,
            priceMinor: 2000,
            salePriceMinor: 1500,
            stock: 0,
            gtin: '4006381333931',
            mpn: null,
            unitMeasure: null,
            weightGrams: 1200,
            isDefault: true
          }
        ],
        grants: [
          { kind: 'membership', module: 'A', plan: 'friend', period: 'P1Y' },
          { kind: 'subscription', interval: 'month', pro: false },
          { kind: 'course', course: 'lamps' },
          { kind: 'download', file: 'sheets/lamp.pdf', days: 30 },
          { kind: 'donation', campaign: null }
        ]
      }
    ])
  })

  it('gives the product the price of the first variation when none is the default, and makes none the default', () => {
    const [product] = readProducts([
      {
        slug: 'a',
        name: 'A',
        variations: [
          { sku: '1', name: 'One', price: 3, salePrice: 2 },
          { sku: '2', name: 'Two', price: 4 }
        ]
      }
    ])
    expect(product).toMatchObject({ priceMinor: 300, salePriceMinor: 200 })
    expect(product?.variations?.map(({ isDefault }) => isDefault)).toEqual([false, false])
  })

  it('distinguishes null ("no sale", "not counted") from a missing field', () => {
    const [product] = readProducts([{ ...lamp, salePrice: null, stock: null, url: null, tags: null }])
    expect(product).toMatchObject({ salePriceMinor: null, stock: null, url: null })
    expect(product?.tags).toBeUndefined()
  })

  it('reads amounts with the number of decimals of the currency', () => {
    expect(read(JSON.stringify([{ ...lamp, price: 500 }]), 'JPY').file.products[0]?.priceMinor).toBe(500)
    expect(read(JSON.stringify([{ ...lamp, price: 1.23 }]), 'KWD').file.products[0]?.priceMinor).toBe(1230)
    expect(errorsOf(JSON.stringify([{ ...lamp, price: 1.5 }]), 'JPY')[0]?.cause).toContain('at most 0 decimals')
  })

  // The amounts are those of docs.stripe.com/currencies#special-cases, written out here.
  it.each([
    ['KWD', '1.230', '1.234', '0.010'],
    ['BHD', '0.990', '0.995', '0.010'],
    ['ISK', '1250.00', '1250.50', '1.00'],
    ['UGX', '9000', '9000.01', '1.00']
  ])('refuses each price in %s that Stripe cannot charge', (currency, good, bad, step) => {
    const cause = `Must be a multiple of ${step}, because Stripe cannot charge other amounts in ${currency}.`
    const file = (fields: object) => JSON.stringify([{ ...lamp, price: good, ...fields }])
    expect(read(file({}), currency).file.products).toHaveLength(1)
    expect(errorsOf(file({ price: bad }), currency)).toMatchObject([{ column: '0.price', cause }])
    expect(errorsOf(file({ price: '100000', salePrice: bad }), currency)).toMatchObject([
      { column: '0.salePrice', cause }
    ])
  })

  it('reads categories, coupons, plans, campaigns and affiliates', () => {
    const { file, report } = read(
      JSON.stringify({
        categories: [
          { slug: 'light', name: 'Light', description: 'Lamps.' },
          { slug: 'oil-lamps', name: 'Oil', parent: 'light' }
        ],
        coupons: [
          { code: 'TEN', percent: 12.5, endsAt: '2027-01-01', products: ['lamp'], categories: ['Light'] },
          {
            code: 'FIVE',
            amount: '5',
            minTotal: 20,
            maxUses: 1,
            maxUsesPerCustomer: 1,
            exclusive: true,
            startsAt: null
          }
        ],
        plans: [{ slug: 'friend', name: 'Friend', module: 'B' }],
        campaigns: [{ slug: 'roof', name: 'Roof' }],
        affiliates: [
          { code: 'mira', user: 'mira@shop.example', status: 'active', rate: 12.5 },
          { code: 'jonas', user: 'jonas@shop.example' }
        ]
      })
    )
    const none = {
      startsAt: null,
      endsAt: null,
      minTotalMinor: null,
      maxUses: null,
      maxUsesPerCustomer: null,
      exclusive: false
    }
    expect(file).toEqual({
      categories: [
        { slug: 'light', name: 'Light', description: 'Lamps.' },
        { slug: 'oil-lamps', name: 'Oil', parent: 'light' }
      ],
      products: [],
      coupons: [
        {
          ...none,
          code: 'TEN',
          percentBps: 1250,
          amountMinor: null,
          endsAt: Date.UTC(2027, 0, 2),
          products: ['lamp'],
          categories: ['Light']
        },
        {
          ...none,
          code: 'FIVE',
          percentBps: null,
          amountMinor: 500,
          minTotalMinor: 2000,
          maxUses: 1,
          maxUsesPerCustomer: 1,
          exclusive: true,
          products: [],
          categories: []
        }
      ],
      plans: [{ slug: 'friend', name: 'Friend', module: 'B', rank: 0, pro: false }],
      campaigns: [{ slug: 'roof', name: 'Roof' }],
      affiliates: [
        { code: 'mira', coupons: [], user: 'mira@shop.example', status: 'active', rateBps: 1250 },
        { code: 'jonas', coupons: [], user: 'jonas@shop.example', status: 'pending', rateBps: undefined }
      ],
      shipping: [],
      tax: []
    })
    expect(report).toEqual({ format: 'json', rows: 8, ignored: [], unpublished: [], warnings: [] })
  })
})

describe('a response of GET /store/offers as a catalog file', () => {
  const offer = {
    offerId: 'offer-7',
    productId: 7,
    productSlug: 'lamp',
    name: 'Lamp',
    description: 'Bright.',
    url: 'https://shop.example/products/lamp',
    price: { currency: 'EUR', amount: 10, originalAmount: 12.5, isOnSale: true },
    categories: ['Light'],
    tags: []
  }
  const plain = {
    ...offer,
    productSlug: 'cap',
    price: { currency: 'EUR', amount: 10, originalAmount: null, isOnSale: false }
  }

  it('is accepted as the whole response, its data, or a list of offers', () => {
    const expected = [
      expect.objectContaining({ shape: 'offer', slug: 'lamp', priceMinor: 1250, salePriceMinor: 1000 }),
      expect.objectContaining({ shape: 'offer', slug: 'cap', priceMinor: 1000 })
    ]
    const offers = [offer, plain]
    expect(readProducts({ data: { offers, pagination: { page: 1 } }, meta: {} })).toEqual(expected)
    expect(readProducts({ offers, pagination: {} })).toEqual(expected)
    expect(readProducts(offers)).toEqual(expected)
    expect(readProducts({ products: [offer, plain] })).toEqual(expected)
  })

  it('leaves fields that it does not show undefined', () => {
    const [product] = readProducts([plain])
    const defined = Object.entries(product ?? {}).filter(([, value]) => value !== undefined)
    expect(defined.map(([field]) => field).sort()).toEqual([
      'categories',
      'description',
      'name',
      'priceMinor',
      'shape',
      'slug',
      'tags',
      'url'
    ])
  })

  it('must be in the currency of the shop', () => {
    const foreign = { ...offer, price: { ...offer.price, currency: 'USD' } }
    expect(errorsOf(JSON.stringify({ data: { offers: [foreign] } }))).toEqual([
      { line: 1, column: 'data.offers.0.price.currency', cause: "Must be the shop's currency, EUR." }
    ])
  })
})

describe('a catalog file in JSON is refused', () => {
  it('with the line and path of each error', () => {
    const text = `{
  "products": [
    { "slug": "a", "name": "A", "price": 1 },
    {
      "slug": "Not a slug",
      "name": "",
      "colour": "red",
      "variations": [
        { "sku": "1", "name": "One" }
      ]
    }
  ],
  "racks": []
}`
    expect(errorsOf(text)).toEqual([{ line: 13, column: 'racks', cause: 'Is not a known field.' }])
    expect(errorsOf(text.replace('"racks"', '"plans"'))).toEqual([
      {
        line: 5,
        column: 'products.1.slug',
        cause: 'Must be lower-case letters, digits and hyphens, at most 255 characters.'
      },
      { line: 6, column: 'products.1.name', cause: 'Must not be empty.' },
      { line: 7, column: 'products.1.colour', cause: 'Is not a known field.' },
      { line: 9, column: 'products.1.variations.0.price', cause: 'Is required.' }
    ])
  })

  it.each([
    ['{\n"a": \n}', 3],
    ['[1,\n2', 2],
    ['[\n{"slug": "a",\n}]', 3],
    ['[] \n x', 2],
    ['{"a": "tab\there"}', 1],
    ['[\n\n01]', 3],
    ['[1\n2]', 2],
    ['{"a": [1}\n]', 1],
    ["{'a': 1}", 1]
  ])('when it is not valid JSON: %j', (text, line) => {
    expect(errorsOf(text)).toEqual([
      { line, column: null, cause: 'The file is not valid JSON. The error is on this line.' }
    ])
  })

  it.each([
    [{ ...lamp, price: undefined }, '0.price: Is required.'],
    ...['750', '0 ml', '3 pints', '1,5 l'].map((unitMeasure): [object, string] => [
      { ...lamp, unitMeasure },
      '0.unitMeasure: Must be a number above 0 and one of the units mg, g, kg, ml, cl, l, cm, m, sqm, cbm, ct, such as 750 ml.'
    ]),
    [
      { ...lamp, price: -1 },
      '0.price: An amount must be zero or more, written as digits with an optional decimal point.'
    ],
    [{ ...lamp, price: '1.234' }, '0.price: An amount in EUR must have at most 2 decimals.'],
    [{ ...lamp, price: true }, '0.price: Must be a number, or a decimal number as text.'],
    [{ ...lamp, salePrice: 12.5 }, '0.salePrice: Must be lower than the price.'],
    [
      { ...lamp, saleStart: '2026-02-30' },
      '0.saleStart: Must be an ISO 8601 date, or a date and time with Z or an offset.'
    ],
    [{ ...lamp, saleStart: '2026-02-02', saleEnd: '2026-02-01' }, '0.saleEnd: Must be after the sale starts.'],
    [{ ...lamp, stock: -1 }, '0.stock: Must be a whole number from 0 to 1000000000.'],
    [{ ...lamp, stock: 1.5 }, '0.stock: Must be a whole number from 0 to 1000000000.'],
    [{ ...lamp, stock: '3' }, '0.stock: Must be a whole number from 0 to 1000000000.'],
    [{ ...lamp, published: 'yes' }, '0.published: Must be a boolean.'],
    [{ ...lamp, type: 'virtual' }, '0.type: Must be physical, digital or gift_card.'],
    [{ ...lamp, url: 'javascript:alert(1)' }, '0.url: Must be an http or https URL without credentials.'],
    [{ ...lamp, url: 'https://good.example@evil.example' }, '0.url: Must be an http or https URL without credentials.'],
    [{ ...lamp, name: 'a\u0007b' }, '0.name: Must not contain control characters.'],
    [{ ...lamp, name: 'x'.repeat(256) }, '0.name: Must have at most 255 characters.'],
    [{ ...lamp, name: 5 }, '0.name: Must be a string.'],
    [
      { ...lamp, slug: 'a'.repeat(256) },
      '0.slug: Must be lower-case letters, digits and hyphens, at most 255 characters.'
    ],
    [{ ...lamp, tags: 'oil' }, '0.tags: Must be a list.'],
    [{ ...lamp, tags: [''] }, '0.tags.0: Must not be empty.'],
    [
      { ...lamp, grants: [{ kind: 'magic' }] },
      '0.grants.0.kind: Must be membership, subscription, course, download or donation.'
    ],
    [{ ...lamp, grants: [{ kind: 'course' }] }, '0.grants.0.course: Is required.'],
    [
      { ...lamp, grants: [{ kind: 'membership', module: 'A', plan: 'p', period: 'soon' }] },
      '0.grants.0.period: Must be a period such as P1Y, P1M or P14D.'
    ],
    [
      { ...lamp, grants: [{ kind: 'download', file: '../secret.key' }] },
      '0.grants.0.file: Must be a file name, or a path inside the downloads folder.'
    ],
    [
      { ...lamp, variations: ['1', '1'].map((sku) => ({ sku, name: 'x', price: 1 })) },
      '0.variations.1.sku: Must be unique: an earlier variation of this product has the same SKU.'
    ],
    [
      { ...lamp, variations: ['1', '2'].map((sku) => ({ sku, name: 'x', price: 1, default: true })) },
      '0.variations.1.default: Only one variation can be the default.'
    ],
    [
      { ...lamp, variations: [{ sku: '1', name: 'x', price: 1, salePrice: 2 }] },
      '0.variations.0.salePrice: Must be lower than the price.'
    ]
  ])('for a product such as %j', (product, cause) => {
    expect(causes(product)).toEqual([cause])
  })

  it.each([
    [{ code: 'A' }, 'percent'],
    [{ code: 'A', percent: 10, amount: 5 }, 'percent'],
    [{ code: 'A', percent: 101 }, 'percent'],
    [{ code: 'A', percent: 0 }, 'percent'],
    [{ code: 'A', amount: 0 }, 'amount'],
    [{ code: 'A', amount: 1, startsAt: '2026-02-02', endsAt: '2026-02-01' }, 'endsAt'],
    [{ code: 'A', amount: 1, maxUses: 0 }, 'maxUses'],
    [{ code: '', amount: 1 }, 'code'],
    [{ code: 'A', amount: 1, used: 5 }, 'used']
  ])('for a coupon such as %j', (coupon, field) => {
    expect(errorsOf(JSON.stringify({ coupons: [coupon] })).map(({ column }) => column)).toEqual([`coupons.0.${field}`])
  })

  it('when it contains an entry twice; codes are compared ignoring case', () => {
    const coupons = ['TEN', 'ten'].map((code) => ({ code, percent: 10 }))
    expect(errorsOf(JSON.stringify({ products: [lamp, lamp], coupons }))).toEqual([
      { line: 1, column: 'products.1', cause: 'Is in the file more than once.' },
      { line: 1, column: 'coupons.1', cause: 'Is in the file more than once.' }
    ])
  })

  it('without repeating the refused value in the error', () => {
    const secret = 'whsec_0123456789'
    const text = JSON.stringify([
      { slug: secret, name: 'A', price: secret, type: secret, published: secret, url: secret }
    ])
    expect(JSON.stringify(errorsOf(text))).not.toContain('0123456789')
  })

  it('with at most a hundred errors, and the count of all', () => {
    const products = Array.from({ length: 150 }, () => ({}))
    const outcome = outcomeOf(() => read(JSON.stringify(products)))
    expect(outcome).toMatchObject({ details: { total: 450 } })
    expect(errorsOf(JSON.stringify(products))).toHaveLength(100)
  })

  it('in linear time when it has many errors', () => {
    const products = Array.from({ length: 15_000 }, (_, index) => ({ ...lamp, slug: `lamp-${index}`, price: 'dear' }))
    const outcome = outcomeOf(() => read(`{"products": [\n${products.map((one) => JSON.stringify(one)).join(',\n')}]}`))
    const errors = products.slice(0, 100).map((_, index) => expect.objectContaining({ line: index + 2 }))
    expect(outcome).toMatchObject({ details: { total: 15_000, errors } })
  })

  it('in linear time when an entry has many fields', () => {
    const entry = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`field${index}`, index]))
    const outcome = outcomeOf(() => read(JSON.stringify([entry], null, 1)))
    const errors = Array.from({ length: 97 }, (_, index) => ({ line: index + 3, column: `0.field${index}` }))
    expect(outcome).toMatchObject({
      details: { total: 100_003, errors: expect.arrayContaining(errors.map((error) => expect.objectContaining(error))) }
    })
  })

  it('only with an AppError, whatever its content is', () => {
    const keys = fc.constantFrom(
      ...Object.keys(whole),
      'products',
      'coupons',
      'offers',
      'data',
      'productSlug',
      '__proto__',
      'code'
    )
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ depthSize: 'small' }, fc.jsonValue(), fc.array(tie('tree')), fc.dictionary(keys, tie('tree')))
    }))
    const text = fc.oneof(
      tree.map((value) => JSON.stringify(value)),
      fc.string(),
      fc.string().map((text) => `[${text}`)
    )
    fc.assert(
      fc.property(text, (text) => {
        const outcome = outcomeOf(() => read(text))
        expect(outcome instanceof AppError || Object.hasOwn(Object(outcome), 'file')).toBe(true)
      }),
      { numRuns: 100 }
    )
  })

  it('when it has a hundred thousand levels', () => {
    expect(errorsOf('['.repeat(100_000) + ']'.repeat(100_000))).toHaveLength(1)
    expect(errorsOf('['.repeat(100_000))).toHaveLength(1)
  })

  it("when a key would change an object's prototype", () => {
    expect(causes(JSON.parse('{"slug":"a","name":"A","price":1,"__proto__":{"published":false}}')).length).toBe(1)
  })
})
