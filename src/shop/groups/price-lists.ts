import { and, asc, eq, gt, isNull } from 'drizzle-orm'
import { z } from 'zod'
import { AppError, validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { amount } from '../../platform/input-fields.ts'
import { toMajor } from '../../platform/money.ts'
import { readTable, decimalText } from '../catalog/import/csv-table.ts'
import { formatFileError } from '../catalog/import/report.ts'
import { isVoucher } from '../catalog/product-types.ts'
import type { ProductRow, VariationRow } from '../catalog/rows.ts'
import { products, variations } from '../catalog/schema.ts'
import { productBySlug, variationsOfProduct } from '../catalog/stored-product.ts'
import { setting } from '../settings/settings.ts'
import { getGroup } from './groups.ts'
import type { GroupRow } from './groups.ts'
import { groupPrices } from './schema.ts'

/** A product of a price list, or one of its variations by SKU, with its price as typed; null takes it off the list. */
export type ListedPrice = { slug: string; sku: string | null; price: string | null }

/**
 * Puts a price on the price list of a group, or takes it off. For purchases from now on; orders keep their prices.
 *
 * @throws AppError NOT_FOUND for an unknown group; VALIDATION_FAILED (`product`, `sku`, `price`)
 */
export function setGroupPrice(db: Db, slug: string, listed: ListedPrice): GroupRow {
  return write(db, (tx) => {
    const group = getGroup(tx, slug)
    const { product, variation } = findListed(tx, listed)
    storePrice(tx, group, { product, variation, minor: readPrice(tx, listed.price) })
    return group
  })
}

/**
 * Reads a price list from a CSV file with the columns `slug`, `price` and optionally `sku` and `currency`. What it does not
 * name stays as it is; an empty price takes the product off the list.
 *
 * @returns how many prices it has
 * @throws AppError NOT_FOUND for an unknown group; VALIDATION_FAILED with each wrong line, and nothing is changed
 */
export function importPriceList(db: Db, slug: string, text: string): { group: GroupRow; prices: number } {
  const { rows, columns } = readTable(text)
  for (const column of ['slug', 'price'])
    if (!columns.includes(column))
      throw validationFailed({
        file: [`It needs the columns slug and price, and has ${columns.join(', ').slice(0, 500)}.`]
      })
  return write(db, (tx) => {
    const group = getGroup(tx, slug)
    const problems: string[] = []
    const seen = new Map<string, number>()
    for (const { line, cell } of rows) {
      const listed = { slug: cell('slug').trim(), sku: cell('sku').trim() || null, price: priceCell(cell) }
      const problem = attempt(() => {
        const { product, variation } = findListed(tx, listed)
        const key = `${product.id}/${variation?.id ?? ''}`
        const earlier = seen.get(key)
        if (earlier !== undefined) throw validationFailed({ slug: [`This is on line ${earlier}, too.`] })
        seen.set(key, line)
        storePrice(tx, group, { product, variation, minor: readPrice(tx, listed.price) })
      })
      if (problem !== undefined) problems.push(formatFileError({ line, ...problem }))
    }
    if (problems.length > 0) throw validationFailed({ file: problems.slice(0, 20) })
    return { group, prices: rows.length }
  })
}

/** A price of a spreadsheet with the currency of its row, as `setGroupPrice` takes it. */
function priceCell(cell: (column: string) => string): string | null {
  const price = decimalText(cell('price').trim())
  return price === '' ? null : `${price} ${cell('currency').trim().toUpperCase()}`.trim()
}

/** Why a line cannot be taken, with its column. */
function attempt(work: () => void): { column: string; cause: string } | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_FAILED') throw error
    const [[column, [cause = '']] = ['', []]] = Object.entries(error.details.fieldErrors ?? {})
    return { column: column === 'product' ? 'slug' : column, cause }
  }
}

type Listed = { product: ProductRow; variation: VariationRow | null }

function findListed(db: Db, { slug, sku }: ListedPrice): Listed {
  const product = productBySlug(db, slug)
  if (product === undefined) throw validationFailed({ product: [`No product has the slug ${slug}.`] })
  if (isVoucher(product.type)) throw validationFailed({ product: ['A gift card costs everyone what is on it.'] })
  if (sku === null) return { product, variation: null }
  const variation = variationsOfProduct(db, product.id).find((each) => each.sku === sku)
  if (variation === undefined)
    throw validationFailed({ sku: [`${product.name} has no variation with the SKU ${sku}.`] })
  return { product, variation }
}

/** `9.90`, or with the currency that it must have, `9.90 EUR`. */
function readPrice(db: Db, typed: string | null): number | null {
  if (typed === null) return null
  const currency = setting(db, 'shop.currency')
  const text = typed.trim()
  const [named = currency] = /[A-Za-z]{3}$/.exec(text) ?? []
  const number = text.endsWith(named) ? text.slice(0, -named.length).trim() : text
  if (named.toUpperCase() !== currency)
    throw validationFailed({
      price: [`Must be in ${currency}, the currency of the shop, not in ${named.toUpperCase()}.`]
    })
  return parseWith(z.object({ price: amount(currency) }), { price: number }).price
}

function storePrice(
  tx: Tx,
  { id: groupId }: GroupRow,
  { product, variation, minor }: Listed & { minor: number | null }
) {
  const productId = product.id
  const variationId = variation?.id ?? null
  tx.orm
    .delete(groupPrices)
    .where(
      and(
        eq(groupPrices.groupId, groupId),
        eq(groupPrices.productId, productId),
        variationId === null ? isNull(groupPrices.variationId) : eq(groupPrices.variationId, variationId)
      )
    )
    .run()
  if (minor !== null) tx.orm.insert(groupPrices).values({ groupId, productId, variationId, priceMinor: minor }).run()
}

/** A row of a price list beside the regular price, in major units. */
export type PriceListRow = { slug: string; sku: string | null; name: string; price: number; regular: number }

type StoredPrice = { id: number; row: PriceListRow & { variation: string | null; variationRegular: number | null } }

/** The price list of a group, as `importPriceList` reads it. It is read while it is used. */
export function listGroupPrices(db: Db, { id }: GroupRow): Iterable<PriceListRow> {
  const currency = setting(db, 'shop.currency')
  const next = (last: StoredPrice | undefined, limit: number): StoredPrice[] =>
    db.orm
      .select({
        id: groupPrices.id,
        row: {
          slug: products.slug,
          sku: variations.sku,
          name: products.name,
          variation: variations.name,
          price: groupPrices.priceMinor,
          regular: products.priceMinor,
          variationRegular: variations.priceMinor
        }
      })
      .from(groupPrices)
      .innerJoin(products, eq(products.id, groupPrices.productId))
      .leftJoin(variations, eq(variations.id, groupPrices.variationId))
      .where(and(eq(groupPrices.groupId, id), last && gt(groupPrices.id, last.id)))
      .orderBy(asc(groupPrices.id))
      .limit(limit)
      .all()
  return inParts(db, next, (rows) =>
    rows.map(({ row: { variation, variationRegular, ...row } }) => ({
      ...row,
      name: variation === null ? row.name : `${row.name} - ${variation}`,
      price: toMajor(row.price, currency),
      regular: toMajor(variationRegular ?? row.regular, currency)
    }))
  )
}
