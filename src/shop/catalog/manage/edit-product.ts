import { AppError, validationFailed } from '../../../errors.ts'
import { write } from '../../../platform/db/database.ts'
import type { Db } from '../../../platform/db/database.ts'
import { definedFields } from '../../../platform/input-fields.ts'
import { parseWith } from '../../../platform/http/validation.ts'
import type { ShopContext } from '../../context.ts'
import { setting } from '../../settings/settings.ts'
import { shopPlace } from '../../settings/shop-days.ts'
import type { ShopPlace } from '../../settings/shop-days.ts'
import { ApplyRun, applyProduct } from '../apply-product.ts'
import { changesOf } from '../changes.ts'
import type { FieldChange } from '../changes.ts'
import { exportProduct } from '../export-catalog.ts'
import type { FetchOptions } from '../../../platform/pictures/fetch-picture.ts'
import type { ProductOption } from '../grants.ts'
import { loadPicture, showPicture } from '../images/manage-images.ts'
import type { NewPicture, SentPicture } from '../images/manage-images.ts'
import { formatSchemas, mostVariations } from '../import/format.ts'
import type { ProductInput } from '../import/format.ts'
import { slugFor } from '../import/slug.ts'
import type { ProductEntry } from '../import/write-json.ts'
import { getProduct } from '../products.ts'
import type { ProductRow } from '../rows.ts'
import { productBySlug } from '../stored-product.ts'

/** Fields of the import file with their new values, as an operator typed them; undefined keeps the stored value. */
export type ProductFields = {
  name?: string | undefined
  description?: string | undefined
  categories?: string[] | undefined
  tags?: string[] | undefined
  taxClass?: string | undefined
  /** What the shop pays for a unit, without tax. */
  cost?: string | null | undefined
  saleStart?: string | null | undefined
  saleEnd?: string | null | undefined
  brand?: string | null | undefined
  /** What the law of product safety asks for. */
  manufacturer?: string | null | undefined
  responsiblePerson?: string | null | undefined
  safetyInfo?: string | null | undefined
} & UnitFacts

/** What is true of a unit: of the product, or of a variation that differs from it. */
type UnitFacts = {
  weightGrams?: number | string | null | undefined
  gtin?: string | null | undefined
  mpn?: string | null | undefined
  unitMeasure?: string | null | undefined
}

export type ProductEdit = ProductFields & SaleEdit
export type NewProduct = ProductFields & {
  name: string
  price: string
  salePrice?: string | null | undefined
  stock?: number | string | null | undefined
  slug?: string | undefined
  type?: string | undefined
  published?: boolean | undefined
  /** Its options with their values. Each combination becomes a variation at the product's price. */
  options?: readonly ProductOption[] | undefined
  /** The stock of variations by their values, such as `S` or `S/Red`; one without an entry has none. */
  stocks?: ReadonlyMap<string, number> | undefined
  /** Files or URLs. */
  images?: readonly string[] | undefined
  /** Pictures that were sent, with the names of their files. */
  pictures?: readonly SentPicture[] | undefined
}

export type Edited = { row: ProductRow; changes: FieldChange[] }

/**
 * Changes fields of a product, or the prices, the stock and the facts of a unit of its variations. Everything else stays,
 * above all the stock, because orders take from it at any time.
 *
 * @throws AppError NOT_FOUND; VALIDATION_FAILED with the field
 */
export function editProduct(shop: ShopContext, slugOrId: string, edit: ProductEdit, now: number): Edited {
  const currency = setting(shop.db, 'shop.currency')
  return write(shop.db, (tx) => {
    const row = getProduct(tx, slugOrId)
    const before = exportProduct(tx, row, currency)
    const { price, salePrice, stock, stockAdd, skus, weightGrams, gtin, mpn, unitMeasure, ...fields } = edit
    const facts = { weightGrams, gtin, mpn, unitMeasure }
    const sale = { price, salePrice, stock, stockAdd, skus }
    const changed = definedFields(skus === undefined ? { ...fields, ...facts } : fields)
    const variations = withVariationEdit(before, skus === undefined ? sale : { ...sale, ...facts })
    const entry = { slug: row.slug, name: row.name, price: before.price, ...changed, ...variations }
    const touchesStock = stock !== undefined || stockAdd !== undefined
    applyProduct(new ApplyRun(tx, { keepStock: !touchesStock }, now), parseEntry(entry, before, shopPlace(tx)))
    const edited = getProduct(tx, row.slug)
    return { row: edited, changes: changesOf(before, exportProduct(tx, edited, currency)) }
  })
}

/** New values of one variation; undefined keeps the stored one, null removes the sale price or stops counting the stock. */
export type VariationEdit = {
  price?: string | undefined
  salePrice?: string | null | undefined
  stock?: number | string | null | undefined
}

/**
 * Changes prices and stock of several variations at once, by SKU: all of them, or none.
 *
 * @throws AppError NOT_FOUND; VALIDATION_FAILED with the field and the SKU, also for an SKU that the product does not have
 */
export function editVariations(
  shop: ShopContext,
  slugOrId: string,
  edits: ReadonlyMap<string, VariationEdit>,
  now: number
): Edited {
  const currency = setting(shop.db, 'shop.currency')
  return write(shop.db, (tx) => {
    const row = getProduct(tx, slugOrId)
    const before = exportProduct(tx, row, currency)
    chosen(before.variations, [...edits.keys()])
    const variations = before.variations.map(({ images: _images, ...variation }) => ({
      ...variation,
      ...definedFields(edits.get(variation.sku) ?? {})
    }))
    const main = variations.find((each) => each.default)
    const prices = main === undefined ? { price: before.price } : { price: main.price, salePrice: main.salePrice }
    const entry = { slug: row.slug, name: row.name, ...prices, variations }
    const keepStock = [...edits.values()].every(({ stock }) => stock === undefined)
    applyProduct(new ApplyRun(tx, { keepStock }, now), parseEntry(entry, before, shopPlace(tx)))
    const edited = getProduct(tx, row.slug)
    return { row: edited, changes: changesOf(before, exportProduct(tx, edited, currency)) }
  })
}

/**
 * Adds a product with its variations and pictures. Without a slug it gets one from its name. A picture that cannot be used
 * adds nothing.
 *
 * @throws AppError VALIDATION_FAILED with the field, also for a slug that another product has
 */
export async function addProduct(
  shop: ShopContext,
  { options = [], stocks, images = [], pictures: sent = [], ...product }: NewProduct,
  now: number,
  fetching: FetchOptions = {}
): Promise<Edited> {
  const currency = setting(shop.db, 'shop.currency')
  // Everything that the pictures do not depend on is checked before they are fetched.
  const entryFor = (tx: Db): ProductInput => {
    const slug = product.slug ?? freeSlug(tx, product.name)
    if (productBySlug(tx, slug) !== undefined) throw validationFailed({ slug: ['Another product has this slug.'] })
    const variations = variationsFrom(slug, { ...product, options, stocks })
    return parseWith(formatSchemas(shopPlace(tx)).product, { ...definedFields(product), slug, ...variations })
  }
  entryFor(shop.db)
  const pictures: NewPicture[] = []
  const sources = [...images.map((src) => ({ src })), ...sent.map(({ name, bytes }) => ({ src: name, bytes }))]
  for (const source of sources) pictures.push(await loadPicture(shop, { ...source, alt: product.name }, fetching))
  return write(shop.db, (tx) => {
    const entry = entryFor(tx)
    applyProduct(new ApplyRun(tx, { keepStock: false }, now), entry)
    const row = getProduct(tx, entry.slug)
    for (const picture of pictures) showPicture(tx, shop, { productId: row.id, variationId: null }, picture)
    return { row, changes: changesOf(undefined, exportProduct(tx, row, currency)) }
  })
}

type Combined = Pick<NewProduct, 'price' | 'salePrice' | 'stock' | 'stocks'> & { options: readonly ProductOption[] }

/** The variations of a product with options: each combination of their values. The first one is the default. */
function variationsFrom(slug: string, { price, salePrice, stock, options, stocks }: Combined): object {
  if (options.length === 0) {
    if (stocks === undefined) return {}
    throw refused('stock', 'A stock for each value needs --option.')
  }
  const counts = options.reduce((product, { values }) => product * values.length, 1)
  if (counts > mostVariations) throw refused('option', `Must give at most ${mostVariations} variations.`)
  let rows: string[][] = [[]]
  for (const { values } of options) rows = rows.flatMap((row) => values.map((value) => [...row, value]))
  const names = rows.map((row) => row.join('/'))
  const unknown = [...(stocks?.keys() ?? [])].find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw refused('stock', `No variation is ${unknown}. The product has ${names.slice(0, 10).join(', ')}.`)
  return {
    ...(stocks === undefined ? { stock } : {}),
    variations: rows.map((row, index) => ({
      sku: [slug, ...row]
        .join('-')
        .toUpperCase()
        .replaceAll(/[^\p{L}\p{N}]+/gu, '-'),
      options: Object.fromEntries(options.map(({ name }, place) => [name, row[place] ?? ''])),
      price,
      salePrice,
      default: index === 0,
      ...(stocks === undefined ? {} : { stock: stocks.get(names[index] ?? '') ?? 0 })
    }))
  }
}

function freeSlug(tx: Db, name: string): string {
  const base = slugFor(name, setting(tx, 'storefront.language'))
  let slug = base
  for (let number = 2; productBySlug(tx, slug) !== undefined; number += 1) slug = `${base}-${number}`
  return slug
}

/** An error in a variation names its field and SKU instead of its place in the list. */
function parseEntry(entry: object, { variations }: ProductEntry, place: ShopPlace) {
  try {
    return parseWith(formatSchemas(place).product, entry)
  } catch (error) {
    const fields = error instanceof AppError ? error.details['fieldErrors'] : undefined
    if (typeof fields !== 'object' || fields === null) throw error
    const named = Object.entries(fields).map(([path, messages]: [string, string[]]): [string, string[]] => {
      const [, index, field] = /^variations\.(\d+)\.(\w+)$/.exec(path) ?? []
      return [index === undefined ? path : `${field} (${variations[Number(index)]?.sku})`, messages]
    })
    throw validationFailed(Object.fromEntries(named))
  }
}

/** New prices and stock, and facts of the chosen variations; null removes a value, or stops counting the stock. */
type SaleEdit = UnitFacts & {
  price?: string | undefined
  salePrice?: string | null | undefined
  stock?: number | string | null | undefined
  /** Units to add; negative to remove. */
  stockAdd?: number | undefined
  /** The variations to change. */
  skus?: readonly string[] | undefined
}

type Variation = ProductEntry['variations'][number]

/** The options of `offers set` that change a variation. */
const ofVariations = ['price', 'sale-price', 'stock', 'stock-add', 'weight', 'gtin', 'mpn', 'unit'].map(
  (name) => `--${name}`
)

/**
 * The prices and the stock of an import entry after an edit. Without SKUs, the prices of a product's variations change
 * together if they are the same, and the stock of the product if no variation has its own.
 *
 * @throws AppError VALIDATION_FAILED with the field
 */
function withVariationEdit(product: ProductEntry, edit: SaleEdit): object {
  const { price, salePrice, stock, stockAdd, skus, ...rest } = edit
  const prices = definedFields({ price, salePrice })
  const hasPrices = Object.keys(prices).length > 0
  const facts = definedFields(rest)
  const hasFacts = Object.keys(facts).length > 0
  const hasStock = stock !== undefined || stockAdd !== undefined
  if (stock !== undefined && stockAdd !== undefined) throw refused('stock', 'Pass either --stock or --stock-add.')
  if (product.variations.length === 0) {
    if (skus !== undefined) throw refused('sku', 'The product has no variations.')
    return {
      ...(hasPrices ? { price: product.price, salePrice: product.salePrice, ...prices } : {}),
      ...(hasStock ? { stock: stockAfter(product, edit) } : {})
    }
  }
  if (!hasPrices && !hasStock && !hasFacts) {
    if (skus === undefined) return {}
    throw refused('sku', `Pass what changes of a variation: ${ofVariations.join(', ')}.`)
  }
  const priced = hasPrices ? pricedTogether(product, skus) : []
  const stocked = hasStock ? stockedTogether(product, skus) : []
  const described = skus === undefined ? [] : chosen(product.variations, skus)
  const variations = product.variations.map((variation) => {
    const { images: _images, ...kept } = variation
    return {
      ...kept,
      ...(priced.includes(variation) ? prices : {}),
      ...(stocked.includes(variation) ? { stock: stockAfter(variation, edit) } : {}),
      ...(described.includes(variation) ? facts : {})
    }
  })
  const main = priced.some((variation) => variation.default) ? variations.find((each) => each.default) : undefined
  return {
    variations,
    ...(main === undefined ? {} : { price: main.price, salePrice: main.salePrice }),
    ...(hasStock && stocked.length === 0 ? { stock: stockAfter(product, edit) } : {})
  }
}

function pricedTogether({ variations }: ProductEntry, skus: readonly string[] | undefined): Variation[] {
  if (skus !== undefined) return chosen(variations, skus)
  const [first] = variations
  const isSame = variations.every(({ price, salePrice }) => price === first?.price && salePrice === first.salePrice)
  if (isSame) return variations
  throw refused('price', `The variations have different prices. Choose with --sku: ${named(variations)}.`)
}

/** The variations whose stock changes; empty for the product's own stock. */
function stockedTogether({ variations }: ProductEntry, skus: readonly string[] | undefined): Variation[] {
  if (skus !== undefined) return chosen(variations, skus)
  if (variations.every(({ stock }) => stock === null)) return []
  throw refused('stock', `The variations have stocks of their own. Choose with --sku: ${named(variations)}.`)
}

function chosen(variations: Variation[], skus: readonly string[]): Variation[] {
  const unknown = skus.find((sku) => !variations.some((variation) => variation.sku === sku))
  if (unknown === undefined) return variations.filter(({ sku }) => skus.includes(sku))
  throw refused('sku', `No variation has the SKU ${unknown}. The product has ${named(variations)}.`)
}

function named(variations: readonly Variation[]): string {
  const skus = variations.map(({ sku }) => sku)
  return skus.length > 10 ? `${skus.slice(0, 10).join(', ')} and ${skus.length - 10} more` : skus.join(', ')
}

function stockAfter(
  { stock: before }: { stock: number | null },
  { stock, stockAdd }: SaleEdit
): number | string | null | undefined {
  if (stockAdd === undefined) return stock
  if (before === null) throw refused('stock', 'The stock is not counted. Pass --stock to count it.')
  if (before + stockAdd < 0) throw refused('stock', `Only ${before} are in stock.`)
  return before + stockAdd
}

function refused(field: string, message: string) {
  return validationFailed({ [field]: [message] })
}
