import type { Product, Variation } from '../../client/api-types.ts'
import { toCard, toPicture, toPrice } from './card.ts'
import { productJsonLd } from './json-ld.ts'
import type { Shown, Site, Visit } from './site.ts'

/** One order can contain this many units of a product. */
const mostUnits = 50
/** With more values than this, a choice is a select. */
const mostRadios = 6

/** A product with its choices. The form works without script. @throws ShopError NOT_FOUND */
export async function showProduct({ client, site, param, query }: Visit): Promise<Shown> {
  const { product } = await client.get(`/store/products/${encodeURIComponent(param)}`)
  const chosen = product.variations.find(({ isDefault, available }) => isDefault && available)
  const shown = chosen ?? product.variations.find(({ available }) => available) ?? product.variations[0]
  const [category] = product.categories
  const price = shown?.price ?? product.price
  const main = shown?.image ?? product.image
  return {
    template: 'product',
    title: product.seo.title ?? product.name,
    meta: {
      description: product.seo.description ?? product.summary,
      path: `/products/${product.slug}`,
      image: product.image?.url ?? null,
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
