import type { Image, Price, Product, Variation } from '../../client/api-types.ts'
import type { ShippedUnit, Site } from './site.ts'
import { optionProperty } from '../../platform/texts/option-names.ts'

const context = 'https://schema.org'

/**
 * The product page as search engines read it: the product with its offer, or a group with a product for each variation,
 * and the way to it. The fields are those of Google's merchant listings
 * (https://developers.google.com/search/docs/appearance/structured-data/merchant-listing and …/product-variants).
 */
export function productJsonLd(product: Product, site: Site): object {
  const { variations } = product
  const main = variations.length === 0 ? singleProduct(product, site) : productGroup(product, site)
  return { '@context': context, '@graph': [main, breadcrumbs(product, site)] }
}

/** The shop as search engines read it on the front page (https://developers.google.com/search/docs/appearance/structured-data/organization). */
export function shopJsonLd(site: Site): object {
  const { name, tagline, logoUrl, publicUrl, contact } = site
  return {
    '@context': context,
    '@type': 'OnlineStore',
    name,
    url: `${publicUrl}/`,
    ...(tagline === '' ? {} : { description: tagline }),
    ...(logoUrl === '' ? {} : { logo: logoUrl }),
    ...(/^[^\s@<>]+@[^\s@<>]+$/.test(contact) ? { email: contact } : {}),
    ...returnPolicy(site)
  }
}

/** The address of the page of a product, on which a variation is chosen. */
export function pageUrl({ slug }: Pick<Product, 'slug'>, { publicUrl }: Site, variation?: Variation): string {
  const query = variation === undefined ? '' : `?variation=${variation.variationId}`
  return `${publicUrl}/products/${slug}${query}`
}

function singleProduct(product: Product, site: Site): object {
  const { sku, gtin, mpn, price, available, images } = product
  const url = pageUrl(product, site)
  return {
    '@type': 'Product',
    ...commonFacts(product, url),
    ...identifiers({ sku, gtin, mpn }),
    ...pictures(images),
    offers: offer({ price, available }, url, { product, weightGrams: product.weightGrams, site })
  }
}

function productGroup(product: Product, site: Site): object {
  const variesBy = product.options.flatMap(({ name }) => optionProperty(name) ?? [])
  return {
    '@type': 'ProductGroup',
    ...commonFacts(product, pageUrl(product, site)),
    productGroupID: product.sku ?? product.slug,
    ...pictures(product.images),
    ...(variesBy.length === 0 ? {} : { variesBy: variesBy.map((property) => `${context}/${property}`) }),
    hasVariant: product.variations.map((variation) => variant(variation, product, site))
  }
}

function variant(variation: Variation, product: Product, site: Site): object {
  const url = pageUrl(product, site, variation)
  const { name, sku, gtin, mpn, image, options } = variation
  return {
    '@type': 'Product',
    name: `${product.name}, ${name}`,
    url,
    ...identifiers({ sku, gtin: gtin ?? product.gtin, mpn: mpn ?? product.mpn }),
    ...pictures(image === null ? product.images.slice(0, 1) : [image]),
    ...optionFacts(options),
    offers: offer(variation, url, { product, weightGrams: variation.weightGrams ?? product.weightGrams, site })
  }
}

function commonFacts({ name, summary, brand }: Product, url: string) {
  return {
    name,
    description: summary,
    url,
    ...(brand === null ? {} : { brand: { '@type': 'Brand', name: brand } })
  }
}

function identifiers(known: { sku: string | null; gtin: string | null; mpn: string | null }): object {
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null))
}

function pictures(images: readonly Image[]) {
  return images.length === 0 ? {} : { image: images.map(({ url }) => url) }
}

/** A regular price that is struck through is a specification of its own beside the price that counts. */
function offer(
  { price, available }: { price: Price; available: boolean },
  url: string,
  { product, weightGrams, site }: { product: Product; weightGrams: number | null; site: Site }
): object {
  const { amount, originalAmount } = price
  const priceCurrency = site.currency
  const regular = {
    '@type': 'UnitPriceSpecification',
    priceType: `${context}/StrikethroughPrice`,
    price: originalAmount,
    priceCurrency
  }
  return {
    '@type': 'Offer',
    url,
    price: amount,
    priceCurrency,
    ...(originalAmount === null ? {} : { priceSpecification: regular }),
    availability: `${context}/${available ? 'InStock' : 'OutOfStock'}`,
    seller: { '@type': 'Organization', name: site.name },
    ...(product.requiresShipping ? delivery({ type: product.type, weightGrams, amount }, site) : {})
  }
}

/** What shipping costs, with the countries of one cost together, and how goods are sent back. */
function delivery(unit: ShippedUnit, site: Site): object {
  const groups = [...Map.groupBy(site.shippingTo(unit), ({ amount }) => amount)]
  const details = groups.map(([value, destinations]) => ({
    '@type': 'OfferShippingDetails',
    shippingRate: { '@type': 'MonetaryAmount', value, currency: site.currency },
    shippingDestination: destinations.map(({ country }) => ({ '@type': 'DefinedRegion', addressCountry: country }))
  }))
  return { ...(details.length === 0 ? {} : { shippingDetails: details }), ...returnPolicy(site) }
}

/** https://developers.google.com/search/docs/appearance/structured-data/return-policy */
function returnPolicy({ returns }: Site): object {
  if (returns === null) return {}
  return {
    hasMerchantReturnPolicy: {
      '@type': 'MerchantReturnPolicy',
      applicableCountry: returns.countries,
      returnPolicyCategory: `${context}/MerchantReturnFiniteReturnWindow`,
      merchantReturnDays: returns.days,
      returnMethod: `${context}/ReturnByMail`,
      returnFees: `${context}/${returns.isFree ? 'FreeReturn' : 'ReturnFeesCustomerResponsibility'}`
    }
  }
}

function optionFacts(options: Readonly<Record<string, string>>): object {
  const entries = Object.entries(options)
  const known = entries.flatMap(([name, value]) => {
    const property = optionProperty(name)
    return property === undefined ? [] : [[property, value]]
  })
  const others = entries
    .filter(([name]) => optionProperty(name) === undefined)
    .map(([name, value]) => ({ '@type': 'PropertyValue', name, value }))
  return { ...Object.fromEntries(known), ...(others.length === 0 ? {} : { additionalProperty: others }) }
}

/** The same steps as at the top of the page; the last one is the page itself and needs no address. */
function breadcrumbs({ name, categories }: Product, { t, publicUrl }: Site): object {
  const steps = [
    { name: t('allProducts'), path: '/' },
    ...categories.slice(0, 1).map((category) => ({ name: category.name, path: `/?category=${category.slug}` }))
  ]
  const items = [...steps.map((step) => ({ name: step.name, item: `${publicUrl}${step.path}` })), { name }]
  return {
    '@type': 'BreadcrumbList',
    itemListElement: items.map((item, index) => ({ '@type': 'ListItem', position: index + 1, ...item }))
  }
}
