import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  const variations = [
    { sku: 'T-S-L', gtin: '4006381333931', options: { Größe: 'S', Fit: 'Loose' }, price: 20, stock: 0 },
    { sku: 'T-M-L', options: { Größe: 'M', Fit: 'Loose' }, price: 24, salePrice: 18, stock: 5, default: true },
    { sku: 'T-L-L', options: { Größe: 'L', Fit: 'Loose' }, price: 26, stock: 5 }
  ]
  shop = await startShop({
    seed: {
      products: [
        {
          slug: 'tee',
          sku: 'TEE',
          name: 'Tee',
          brand: 'Harbour Works',
          price: 20,
          categories: ['Clothes'],
          variations
        },
        { slug: 'mug', sku: 'MUG', gtin: '4006381333931', name: 'Mug', price: 12, salePrice: 9 }
      ]
    }
  })
  setSetting(shop.app.db, 'storefront.enabled', 'true', Date.now())
  setSetting(shop.app.db, 'storefront.contact', 'hello@bags.example', Date.now())
  setSetting(shop.app.db, 'storefront.logoUrl', 'https://cdn.example/logo.png', Date.now())
})
afterAll(() => shop.stop())

const html = async (path: string): Promise<string> => (await fetch(`${shop.url}${path}`)).text()
const data = async (path: string) =>
  JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/s.exec(await html(path))?.[1] ?? 'null')

/** Required and recommended by Google's pages about merchant listings and product variants, as of November 2026. */
const fields = {
  group: ['name', 'productGroupID', 'hasVariant', 'variesBy', 'brand', 'url', 'description'],
  variant: ['name', 'url', 'sku', 'offers'],
  offer: ['url', 'price', 'priceCurrency', 'availability']
}

describe('the structured data of a product', () => {
  it('is a group with an offer for each variation, with the fields that Google asks for', async () => {
    const [group] = (await data('/products/tee'))['@graph']
    expect(Object.keys(group)).toEqual(expect.arrayContaining(fields.group))
    expect(group).toMatchObject({ productGroupID: 'TEE', variesBy: ['https://schema.org/size'] })
    expect(group.hasVariant).toHaveLength(3)
    for (const variant of group.hasVariant) {
      expect(Object.keys(variant)).toEqual(expect.arrayContaining(fields.variant))
      expect(Object.keys(variant.offers)).toEqual(expect.arrayContaining(fields.offer))
    }
    const [small, medium] = group.hasVariant
    const fit = [{ '@type': 'PropertyValue', name: 'Fit', value: 'Loose' }]
    expect(small).toMatchObject({ sku: 'T-S-L', gtin: '4006381333931', size: 'S', additionalProperty: fit })
    expect(small.offers.availability).toBe('https://schema.org/OutOfStock')
    expect(medium.offers).toMatchObject({
      price: 18,
      priceCurrency: 'EUR',
      availability: 'https://schema.org/InStock',
      priceSpecification: { priceType: 'https://schema.org/StrikethroughPrice', price: 24 }
    })
  })

  it('names for each variation an address at which the page shows that variation', async () => {
    const [group] = (await data('/products/tee'))['@graph']
    const url: string = group.hasVariant[2].offers.url
    expect(new Set(group.hasVariant.map((variant: { url: string }) => variant.url)).size).toBe(3)
    expect(await html('/products/tee')).toMatch(/value="M"[^>]* checked/)
    const page = await html(url.slice(shop.app.publicUrl().length))
    expect(page).toMatch(/value="L"[^>]* checked/)
    expect(page).toMatch(/data-price data-price-of="\d+">[\s\S]{0,80}26\.00/)
    expect(page).toContain(`<link rel="canonical" href="${group.url}">`)
  })

  it('is a product with its identifiers and one offer without variations', async () => {
    const [mug] = (await data('/products/mug'))['@graph']
    expect(mug).toMatchObject({ '@type': 'Product', name: 'Mug', sku: 'MUG', gtin: '4006381333931' })
    expect(mug.offers).toMatchObject({ '@type': 'Offer', price: 9, priceSpecification: { price: 12 } })
  })

  it('shows the way to the product', async () => {
    const trail = (await data('/products/tee'))['@graph'][1]
    const base = shop.app.publicUrl()
    expect(trail.itemListElement).toEqual([
      { '@type': 'ListItem', position: 1, name: 'All products', item: `${base}/` },
      { '@type': 'ListItem', position: 2, name: 'Clothes', item: `${base}/?category=clothes` },
      { '@type': 'ListItem', position: 3, name: 'Tee' }
    ])
  })
})

describe('the delivery of a product', () => {
  const zones = [
    { zone: 'EU', countries: ['AT', 'DE'], methods: [{ id: 'parcel', name: 'Parcel', amount: '4.00', perKg: '2.00' }] },
    { zone: 'Far', countries: ['US'], methods: [{ id: 'air', name: 'Air', amount: '20.00' }] }
  ]
  const policy = {
    '@type': 'MerchantReturnPolicy',
    applicableCountry: ['AT', 'DE', 'US'],
    returnPolicyCategory: 'https://schema.org/MerchantReturnFiniteReturnWindow',
    merchantReturnDays: 14,
    returnMethod: 'https://schema.org/ReturnByMail',
    returnFees: 'https://schema.org/ReturnFeesCustomerResponsibility'
  }
  let delivery: RunningShop
  beforeAll(async () => {
    const products = [
      { slug: 'pot', name: 'Pot', price: 12, weightGrams: 500 },
      { slug: 'map', name: 'Map', price: 3, type: 'digital' }
    ]
    delivery = await startShop({ seed: { products, shipping: zones } })
    setSetting(delivery.app.db, 'storefront.enabled', 'true', Date.now())
  })
  afterAll(() => delivery.stop())
  const dataOf = async (path: string) => {
    const page = await (await fetch(`${delivery.url}${path}`)).text()
    return JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/s.exec(page)?.[1] ?? 'null')
  }

  it('says what shipping costs to each country, and nothing about returns without a setting', async () => {
    const [pot] = (await dataOf('/products/pot'))['@graph']
    const to = (value: number, ...countries: string[]) => ({
      '@type': 'OfferShippingDetails',
      shippingRate: { '@type': 'MonetaryAmount', value, currency: 'EUR' },
      shippingDestination: countries.map((addressCountry) => ({ '@type': 'DefinedRegion', addressCountry }))
    })
    expect(pot.offers.shippingDetails).toEqual([to(5, 'AT', 'DE'), to(20, 'US')])
    expect(pot.offers.hasMerchantReturnPolicy).toBeUndefined()
    const [map] = (await dataOf('/products/map'))['@graph']
    expect(map.offers.shippingDetails).toBeUndefined()
  })

  it('says for how long goods can be sent back, and who pays for that', async () => {
    setSetting(delivery.app.db, 'shop.returnDays', '14', Date.now())
    expect((await dataOf('/products/pot'))['@graph'][0].offers.hasMerchantReturnPolicy).toEqual(policy)
    expect((await dataOf('/products/map'))['@graph'][0].offers.hasMerchantReturnPolicy).toBeUndefined()
    setSetting(delivery.app.db, 'shop.freeReturns', 'true', Date.now())
    expect((await dataOf('/')).hasMerchantReturnPolicy).toEqual({
      ...policy,
      returnFees: 'https://schema.org/FreeReturn'
    })
  })
})

describe('the front page', () => {
  it('describes the shop as an online store', async () => {
    expect(await data('/')).toMatchObject({
      '@type': 'OnlineStore',
      url: `${shop.app.publicUrl()}/`,
      logo: 'https://cdn.example/logo.png',
      email: 'hello@bags.example'
    })
    expect(await html('/')).toContain('<meta property="og:type" content="website">')
    expect(await data('/?category=clothes')).toBeNull()
  })
})
