import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { GrantSpec } from '../../../../src/shop/catalog/grants.ts'
import { taxClasses } from '../../../../src/shop/tax/input.ts'
import type { FullProduct } from '../../../../src/shop/catalog/import/format.ts'
import { withDefaults } from '../../../../src/shop/catalog/import/format.ts'
import { toCatalogFile } from '../../../../src/shop/catalog/import/write-json.ts'
import { plainProduct, read } from './support.ts'

const slug = fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}$/)
const words = fc
  .stringMatching(/^[\p{L}\d&<>"'/][\p{L}\d &<>"'/]{0,20}[\p{L}\d!]$/u)
  .map((text) => text.normalize('NFC'))
const minor = fc.oneof(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }))
const time = fc.integer({ min: 0, max: Date.UTC(9999, 0, 1) })
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
const prices = minor.chain((priceMinor) =>
  fc.record({
    priceMinor: fc.constant(priceMinor),
    salePriceMinor: orNull(fc.integer({ min: 0, max: priceMinor - 1 }))
  })
)
const grants: fc.Arbitrary<GrantSpec> = fc.oneof(
  fc.record({
    kind: fc.constant('membership' as const),
    module: fc.constantFrom('A' as const, 'B' as const),
    plan: slug,
    period: orNull(fc.constantFrom('P1Y', 'P1M', 'P14D'))
  }),
  fc.record({
    kind: fc.constant('subscription' as const),
    interval: fc.constantFrom('month' as const, 'year' as const),
    pro: fc.boolean()
  }),
  fc.record({ kind: fc.constant('download' as const), file: slug, days: orNull(fc.integer({ min: 1, max: 365 })) }),
  fc.record({ kind: fc.constant('donation' as const), campaign: orNull(slug) })
)
const images = fc.record({
  src: fc.constantFrom('https://shop.example/a.jpg', 'pictures/b.png'),
  alt: fc.oneof(words, fc.constant(''))
})
const variations = fc
  .uniqueArray(fc.tuple(slug, words, prices, orNull(fc.nat(1000))), { selector: ([sku]) => sku, maxLength: 4 })
  .chain((entries) => fc.tuple(fc.constant(entries), fc.boolean()))
  .map(([entries, hasOptions]) =>
    entries.map(([sku, name, amounts, stock], index) => ({
      sku,
      name,
      options: hasOptions ? { Size: `${index} of ${name}`, Colour: name } : {},
      ...amounts,
      stock,
      gtin: index === 0 ? '4006381333931' : null,
      mpn: index === 0 ? 'HW-1' : null,
      unitMeasure: index === 0 ? null : '0.75 l',
      weightGrams: index === 0 ? null : index * 100,
      isDefault: index === entries.length - 1,
      images: index === 0 ? [{ src: 'small.png', alt: '' }] : undefined
    }))
  )
const product: fc.Arbitrary<FullProduct> = fc
  .tuple(
    prices,
    fc.record({
      slug,
      name: words,
      sku: orNull(words),
      description: words,
      descriptionHtml: fc.constantFrom(null, '<b>Two</b> <i>lines</i>'),
      costMinor: orNull(fc.nat(100_000)),
      lengthMm: orNull(fc.nat(1000)),
      widthMm: orNull(fc.nat(1000)),
      heightMm: orNull(fc.nat(1000)),
      brand: orNull(words),
      gtin: fc.constantFrom(null, '4006381333931', '030640615X'),
      mpn: orNull(fc.constant('HW-2041')),
      manufacturer: orNull(fc.constant('Harbour Works\nQuay 7, 20457 Hamburg\nmail@works.example')),
      responsiblePerson: orNull(fc.constant('Import House, Hamburg')),
      safetyInfo: orNull(fc.constant('Never leave a burning candle alone.')),
      unitMeasure: orNull(fc.constant('750 ml')),
      seoTitle: orNull(words),
      seoDescription: orNull(words),
      saleStartsAt: orNull(time),
      type: fc.constantFrom('physical' as const, 'digital' as const),
      stock: orNull(fc.nat(1000)),
      published: fc.boolean(),
      position: fc.nat(1000),
      weightGrams: orNull(fc.nat(100_000)),
      taxClass: fc.constantFrom(...taxClasses),
      url: orNull(slug.map((slug) => `https://shop.example/${slug}`)),
      categories: fc.uniqueArray(
        words.map((name) => name.replaceAll(' > ', ' ')),
        { selector: (word) => word.toLowerCase(), maxLength: 3 }
      ),
      images: fc.array(images, { maxLength: 3 }),
      tags: fc.uniqueArray(words, { selector: (word) => word.toLowerCase(), maxLength: 3 }),
      variations,
      grants: fc.array(grants, { maxLength: 3 })
    })
  )
  .map(([amounts, rest]) => ({
    ...rest,
    ...amounts,
    saleEndsAt: rest.saleStartsAt === null ? null : rest.saleStartsAt + 1
  }))

/** The same prices with 0 as the last digit, which Stripe requires of currencies with three decimals. */
function inTens<P extends { priceMinor: number; salePriceMinor: number | null }>(prices: P): P {
  const priceMinor = Math.max(10, prices.priceMinor - (prices.priceMinor % 10))
  const sale = prices.salePriceMinor === null ? null : prices.salePriceMinor - (prices.salePriceMinor % 10)
  return { ...prices, priceMinor, salePriceMinor: sale === null || sale < priceMinor ? sale : null }
}

function chargeable(product: FullProduct): FullProduct {
  const costMinor = product.costMinor === null ? null : product.costMinor * 10
  return { ...inTens(product), costMinor, variations: product.variations.map(inTens) }
}

describe('an export of the catalog', () => {
  it('has the fields of the import format', () => {
    const [lamp] = read('[{"slug":"lamp","name":"Lamp","price":"12.50","saleEnd":"2027-01-01","stock":2}]').file
      .products
    expect(toCatalogFile(lamp ? [withDefaults(lamp)] : [], { currency: 'EUR' })).toEqual({
      products: [
        {
          ...plainProduct,
          price: 12.5,
          salePrice: null,
          cost: null,
          saleStart: null,
          saleEnd: '2027-01-02T00:00:00.000Z',
          stock: 2
        }
      ]
    })
  })

  it('can be imported as the same products, in currencies with 0, 2 and 3 decimals', () => {
    const lists = fc.uniqueArray(product, { selector: ({ slug }) => slug, maxLength: 4 })
    fc.assert(
      fc.property(lists, fc.constantFrom('EUR', 'JPY', 'KWD'), (list, currency) => {
        const products = currency === 'KWD' ? list.map(chargeable) : list
        const text = JSON.stringify(toCatalogFile(products, { currency }))
        expect(read(text, currency).file.products.map(withDefaults)).toEqual(products)
      })
    )
  })
})
