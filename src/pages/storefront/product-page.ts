import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { formatMoney, toMajor } from '../../platform/money.ts'
import { grantText } from '../../shop/benefits/kinds.ts'
import type { Offer } from '../../shop/catalog/offer-view.ts'
import { listOffers } from '../../shop/catalog/offers.ts'
import { currentPrice, pricesOf } from '../../shop/catalog/price.ts'
import type { ProductRow, VariationRow } from '../../shop/catalog/rows.ts'
import { effectiveStock } from '../../shop/catalog/stock.ts'
import {
  categoriesOfProduct,
  grantsOfProduct,
  productBySlug,
  tagsOfProduct,
  variationsOfProduct
} from '../../shop/catalog/stored-product.ts'
import { chooseVariation } from '../../shop/catalog/variation-choice.ts'
import { setting } from '../../shop/settings/settings.ts'
import type { PageCall } from '../page.ts'
import { toCard } from './card.ts'
import { pictureOf } from './pictures.ts'
import type { Shown } from './shown.ts'

/** Below this number, the page shows how many units are left. */
const fewLeft = 6

/** @throws AppError NOT_FOUND for a product that is not published */
export function showProduct({ app, param, now }: PageCall): Shown {
  const product = productBySlug(app.db, param)
  if (product === undefined || !product.published) throw new AppError('NOT_FOUND', 'There is no such product.')
  const { id, slug, name, description, type } = product
  const categories = categoriesOfProduct(app.db, id)
  const names = categories.map((category) => category.name)
  const choices = choicesOf(app, product, now)
  return {
    template: 'product',
    title: name,
    data: {
      product: { id, slug, name, paragraphs: description.split(/\n+/).filter((text) => text !== ''), type },
      picture: pictureOf(slug, names),
      categories,
      tags: tagsOfProduct(app.db, id),
      gives: grantsOfProduct(app.db, id).map((grant) => grantText(app.db, grant)),
      currency: setting(app.db, 'shop.currency'),
      ...choices,
      more: moreOf(app, categories[0]?.slug, id, now)
    }
  }
}

type Choice = {
  id: number | null
  name: string
  amount: number
  price: string
  original: string | null
  /** Units in stock that one order can contain: null when stock is not counted, 0 when it is sold out. */
  stock: number | null
}

/** The choices: the variations, or the product itself without a name. */
function choicesOf(app: App, product: ProductRow, now: number) {
  const currency = setting(app.db, 'shop.currency')
  const variations = variationsOfProduct(app.db, product.id)
  const toChoice = (variation: VariationRow | null): Choice => {
    const { unitPriceMinor, originalMinor } = currentPrice(pricesOf(product, variation), now)
    return {
      id: variation?.id ?? null,
      name: variation?.name ?? '',
      amount: toMajor(unitPriceMinor, currency),
      price: formatMoney(unitPriceMinor, currency),
      original: originalMinor === null ? null : formatMoney(originalMinor, currency),
      stock: effectiveStock(product, variation)
    }
  }
  const choices = variations.length === 0 ? [toChoice(null)] : variations.map(toChoice)
  const chosenId = chooseVariation(product, variations)?.id ?? null
  const chosen = choices.find(({ id, stock }) => id === chosenId && stock !== 0)
  const left = chosen?.stock ?? null
  return {
    choices: variations.length === 0 ? [] : choices,
    chosen: chosen ?? choices[0],
    soldOut: chosen === undefined,
    left: left !== null && left < fewLeft ? left : null,
    most: Math.min(left ?? 50, 50)
  }
}

function moreOf(app: App, category: string | undefined, id: number, now: number) {
  if (category === undefined) return []
  try {
    const { body } = listOffers(app, { page: 1, perPage: 5, category }, now)
    const { data } = JSON.parse(body.toString()) as { data: { offers: Offer[] } }
    const others = data.offers.filter((offer) => offer.productId !== id)
    return others.slice(0, 4).map((offer) => toCard(offer, app.publicUrl()))
  } catch (error) {
    if (error instanceof AppError && error.code === 'DEPENDENCY_UNAVAILABLE') return []
    throw error
  }
}
