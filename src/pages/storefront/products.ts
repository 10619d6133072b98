import type { Product, Variation, Card, Image, Price } from '../../client/api-types.ts'
import type { Shown, Site, Visit } from './site.ts'
import { productJsonLd } from './structured-data.ts'
import { money } from '../../platform/texts/languages.ts'

/** One order can contain this many units of a product. */
const mostUnits = 50
/** With more values than this, a choice is a select. */
const mostRadios = 6

/** A product with its choices. The form works without script. @throws ShopError NOT_FOUND */
export async function showProduct({ client, site, param, query }: Visit): Promise<Shown> {
  const { product } = await client.get(`/store/products/${encodeURIComponent(param)}`)
  const shown = shownFirst(product, query.get('variation'))
  const [category] = product.categories
  const price = shown?.price ?? product.price
  const main = shown?.image ?? product.image
  return {
    template: 'product',
    title: product.seo.title ?? product.name,
    meta: {
      description: product.seo.description ?? product.summary,
      path: `/products/${product.slug}`,
      image: product.image,
      jsonLd: productJsonLd(product, site)
    },
    data: {
      product: { ...product, paragraphs: product.description.split(/\n+/).filter((text) => text !== '') },
      picture: toPicture(main, product.name, site),
      pictures: product.images
        .filter(({ url }) => url !== main?.url)
        .map((image) => toPicture(image, product.name, site)),
      price: toPrice(price, site),
      choices: choicesOf(product, shown, site),
      variations: JSON.stringify(product.variations.map((variation) => forScript(variation, product, site))),
      left: (shown ?? product).stockLeft,
      most: Math.min((shown ?? product).stockLeft ?? mostUnits, mostUnits),
      notice: noticeOf(query.get('notice'), site),
      more: category === undefined ? [] : await moreOf(client, category.slug, product, site)
    }
  }
}

/** The variation that a link names, as in search results and product feeds; else the default, or one that can be bought. */
function shownFirst({ variations }: Product, named: string | null): Variation | undefined {
  return (
    variations.find(({ variationId, available }) => String(variationId) === named && available) ??
    variations.find(({ isDefault, available }) => isDefault && available) ??
    variations.find(({ available }) => available) ??
    variations[0]
  )
}

/** What became of the form. */
function noticeOf(name: string | null, { t }: Site): { text: string; leadsToCart: boolean } | null {
  if (name === 'no-choice') return { text: t('noSuchChoice'), leadsToCart: false }
  if (name !== 'added' && name !== 'full' && name !== 'most') return null
  return { text: t(`product.${name}`), leadsToCart: true }
}

export type Choice = {
  name: string
  label: string
  isSelect: boolean
  values: { value: string; label: string; chosen: boolean; soldOut: boolean }[]
}

/** One choice for each option; without options, one choice of a variation. */
function choicesOf(product: Product, shown: Variation | undefined, { t }: Site): Choice[] {
  const { options, variations } = product
  if (variations.length === 0) return []
  if (options.length === 0) {
    const values = variations.map((variation) => ({
      value: String(variation.variationId),
      label: variation.name,
      chosen: variation === shown,
      soldOut: !variation.available
    }))
    return [{ name: 'variation', label: t('choose'), isSelect: values.length > mostRadios, values }]
  }
  return options.map(({ name, values }, index) => ({
    name: `option-${index}`,
    label: name,
    isSelect: values.length > mostRadios,
    values: values.map((value) => ({
      value,
      label: value,
      chosen: shown?.options[name] === value,
      soldOut: !variations.some((variation) => variation.available && variation.options[name] === value)
    }))
  }))
}

function forScript(variation: Variation, { name: productName, image, options, variations }: Product, site: Site) {
  const { variationId, name, available, stockLeft, price } = variation
  const isPictured = variations.some((each) => each.image !== null)
  return {
    id: variationId,
    name,
    values: options.map((option) => variation.options[option.name]),
    available,
    left: stockLeft,
    leftText: available ? (stockLeft === null ? '' : site.t('product.left', { count: stockLeft })) : site.t('soldOut'),
    ...(isPictured ? { picture: toPicture(variation.image ?? image, productName, site).image } : {}),
    ...toPrice(price, site)
  }
}

/** Other products of the category; none if the shop cannot list them now. */
async function moreOf(client: Visit['client'], category: string, { productId }: Product, site: Site) {
  const { products } = await client.get('/store/products', { query: { category, perPage: 5 } })
  const others = products.filter((card) => card.productId !== productId && card.available)
  return others.slice(0, 4).map((card) => toCard(card, site))
}

/** A picture, or the initial of the product's name in its place. */
export type Picture = { image: (Image & { srcset: string }) | null; initial: string }

/** `facts` are what EU law asks for beside a price. */
export type ShownPrice = { price: string; original: string | null; from: boolean; facts: string[] }

/** A product in a list. */
export type ShownCard = ShownPrice & { id: number; name: string; href: string; picture: Picture; soldOut: boolean }

/** A card of the API for the storefront's list. */
export function toCard(card: Card, site: Site): ShownCard {
  return {
    id: card.productId,
    name: card.name,
    href: `/products/${card.slug}`,
    picture: toPicture(card.image, card.name, site),
    soldOut: !card.available,
    ...toPrice(card.price, site)
  }
}

/** A price as text. */
export function toPrice(price: Price, site: Site): ShownPrice {
  const { amount, originalAmount, from } = price
  const original = originalAmount === null ? null : money(originalAmount, site)
  return { price: money(amount, site), original, from, facts: site.isEuLaw ? factsOf(price, site) : [] }
}

/** The price per kilogram or litre, and during a sale the lowest price of the 30 days before it. */
function factsOf({ unitPrice, lowestAmount }: Price, site: Site): string[] {
  const { t } = site
  return [
    ...(unitPrice === null ? [] : [`${money(unitPrice.amount, site)}/${t(`unit.${unitPrice.unit}`)}`]),
    ...(lowestAmount === null ? [] : [t('price.lowest', { amount: money(lowestAmount, site) })])
  ]
}

export function toPicture(image: Image | null, name: string, site: Site): Picture {
  const [initial = ''] = name.trim().toLocaleUpperCase()
  if (image === null) return { image: null, initial }
  const srcset = image.sizes.map(({ url, width }) => `${ownPath(url, site)} ${width}w`).join(', ')
  return { image: { ...image, url: ownPath(image.url, site), srcset }, initial }
}

/**
 * The path of an address of the shop. A buyer who opened the shop under another host name stays there, and sees the
 * pictures, which the content security policy allows only from the page's own host.
 */
export function ownPath(url: string, { publicUrl }: Site): string {
  return url.startsWith(`${publicUrl}/`) ? url.slice(publicUrl.length) : url
}
