import type { Product } from '../../client/api-types.ts'
import type { Site } from './site.ts'

/** The product as search engines read it (https://schema.org/Product). */
export function productJsonLd(product: Product, site: Site): object {
  const { name, summary, url, images, variations, price, available, sku, gtin, brand } = product
  const amounts = variations.length === 0 ? [price.amount] : variations.map((variation) => variation.price.amount)
  const [low, high] = [Math.min(...amounts), Math.max(...amounts)]
  const common = {
    priceCurrency: site.currency,
    availability: `https://schema.org/${available ? 'InStock' : 'OutOfStock'}`,
    url
  }
  return {
    '@context': 'https://schema.org',
    '@type': 'Product',
    name,
    description: summary,
    url,
    ...(sku === null ? {} : { sku }),
    ...(gtin === null ? {} : { gtin }),
    ...(brand === null ? {} : { brand: { '@type': 'Brand', name: brand } }),
    ...(images.length === 0 ? {} : { image: images.map((image) => image.url) }),
    offers:
      low === high
        ? { '@type': 'Offer', price: low, ...common }
        : { '@type': 'AggregateOffer', lowPrice: low, highPrice: high, offerCount: variations.length, ...common }
  }
}

/** JSON for a script element: `</script>` and `<!--` must not end or change it (HTML, 4.12.1.3). */
export function asScript(value: object): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
}
