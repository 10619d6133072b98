import { and, asc, eq, gt, isNull } from 'drizzle-orm'
import { z } from 'zod'
import { validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { amount } from '../../platform/input-fields.ts'
import { toMajor } from '../../platform/money.ts'
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

type Listed = { product: ProductRow; variation: VariationRow | null }

/** @throws AppError VALIDATION_FAILED (`product`, `sku`) */
export function findListed(db: Db, { slug, sku }: ListedPrice): Listed {
  const product = productBySlug(db, slug)
  if (product === undefined) throw validationFailed({ product: [`No product has the slug ${slug}.`] })
  if (isVoucher(product.type)) throw validationFailed({ product: ['A gift card costs everyone what is on it.'] })
  if (sku === null) return { product, variation: null }
  const variation = variationsOfProduct(db, product.id).find((each) => each.sku === sku)
  if (variation === undefined)
    throw validationFailed({ sku: [`${product.name} has no variation with the SKU ${sku}.`] })
  return { product, variation }
}

/**
 * In minor units: `9.90`, or with the currency that it must have, `9.90 EUR`.
 *
 * @throws AppError VALIDATION_FAILED (`price`)
 */
export function readPrice(db: Db, typed: string | null): number | null {
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

/** Replaces the price of a product or variation in a price list; null takes it off. */
export function storePrice(
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
