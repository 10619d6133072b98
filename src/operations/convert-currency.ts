import { and, eq, gt, isNotNull, or } from 'drizzle-orm'
import { z } from 'zod'
import { AppError, validationFailed } from '../errors.ts'
import { write } from '../platform/db/database.ts'
import type { Db, Tx } from '../platform/db/database.ts'
import { parseWith } from '../platform/http/validation.ts'
import { amount } from '../platform/input-fields.ts'
import { chargeStepMinor, currencyDecimals, isCurrency } from '../platform/money.ts'
import { coupons, priceHistory, products, variations } from '../shop/catalog/schema.ts'
import { groupPrices } from '../shop/groups/schema.ts'
import { hasOrders } from '../shop/orders/find.ts'
import { setSetting, setting } from '../shop/settings/settings.ts'
import { shippingMethods } from '../shop/shipping/schema.ts'

/** A conversion of all prices: one unit of the shop's currency is `rateMillionths` millionths of the new one. */
export type Conversion = { currency: string; rateMillionths: number; stepMinor: number }

/** How many rows of each kind have new amounts. */
export type Converted = { products: number; variations: number; coupons: number; shippingMethods: number }

/**
 * What an operator typed as a currency, a rate and a rounding step.
 *
 * @throws AppError VALIDATION_FAILED with the field
 */
export function parseConversion(currency: string, rate: string, round: string | undefined): Conversion {
  if (!isCurrency(currency)) throw validationFailed({ currency: ['Must be an ISO 4217 code such as EUR.'] })
  const isRate = /^\d{1,7}(\.\d{1,6})?$/.test(rate)
  const rateMillionths = isRate ? Math.round(Number(rate) * 1_000_000) : 0
  if (rateMillionths === 0)
    throw validationFailed({ rate: ['Must be a number above 0 with at most six decimals, such as 1.08.'] })
  const stepMinor =
    round === undefined ? chargeStepMinor(currency) : parseWith(z.object({ round: amount(currency) }), { round }).round
  if (stepMinor === 0) throw validationFailed({ round: ['Must be an amount such as 0.05.'] })
  return { currency, rateMillionths, stepMinor }
}

/** Whether the catalog, the coupons or the shipping have amounts in the shop's currency. */
export function hasPrices({ orm }: Db): boolean {
  const withAmount = or(isNotNull(coupons.amountMinor), isNotNull(coupons.minTotalMinor))
  return [
    orm.select({ id: products.id }).from(products).where(gt(products.priceMinor, 0)),
    orm.select({ id: variations.id }).from(variations).where(gt(variations.priceMinor, 0)),
    orm.select({ id: coupons.id }).from(coupons).where(withAmount),
    orm.select({ id: shippingMethods.id }).from(shippingMethods)
  ].some((query) => query.limit(1).get() !== undefined)
}

/**
 * Changes the shop's currency, and converts the prices, the amounts of coupons and the shipping at a rate, in one
 * transaction. What costs nothing stays free, and a price is at least one step. A sale price that rounding makes equal
 * to the price ends its sale.
 *
 * @throws AppError CONFLICT once there is an order
 */
export function convertCurrency(db: Db, conversion: Conversion, now: number): Converted {
  return write(db, (tx) => {
    if (hasOrders(tx)) throw keptByOrders()
    const convert = converter(setting(tx, 'shop.currency'), conversion)
    const converted = {
      products: convertProducts(tx, convert, now),
      variations: convertVariations(tx, convert),
      coupons: convertCoupons(tx, convert),
      shippingMethods: convertMethods(tx, convert)
    }
    convertHistory(tx, convert)
    convertPriceLists(tx, convert)
    setSetting(tx, 'shop.currency', conversion.currency, now)
    return converted
  })
}

/** Orders keep their currency, so the shop's cannot change any more. */
export function keptByOrders(): AppError {
  const rule = 'shop.currency cannot be changed once there is an order.'
  return new AppError('CONFLICT', rule, { fieldErrors: { 'shop.currency': [rule] } })
}

type Convert = (minor: number) => number

/** Rounds half up to the step; exact for every safe integer. */
function converter(from: string, { currency, rateMillionths, stepMinor }: Conversion): Convert {
  const [decimals, before] = [currencyDecimals(currency), currencyDecimals(from)]
  const numerator = BigInt(rateMillionths) * 10n ** BigInt(decimals)
  const denominator = 1_000_000n * 10n ** BigInt(before) * BigInt(stepMinor)
  return (minor) => {
    if (minor === 0) return 0
    const steps = (2n * BigInt(minor) * numerator + denominator) / (2n * denominator)
    return Math.max(stepMinor, Number(steps) * stepMinor)
  }
}

type Prices = { priceMinor: number; salePriceMinor: number | null }

function convertPrices({ priceMinor, salePriceMinor }: Prices, convert: Convert): Prices {
  const price = convert(priceMinor)
  const sale = orNull(salePriceMinor, convert)
  return { priceMinor: price, salePriceMinor: sale !== null && sale < price ? sale : null }
}

function convertProducts(tx: Tx, convert: Convert, updatedAt: number): number {
  const rows = tx.orm.select().from(products).all()
  for (const row of rows)
    tx.orm
      .update(products)
      .set({ ...convertPrices(row, convert), costMinor: orNull(row.costMinor, convert), updatedAt })
      .where(eq(products.id, row.id))
      .run()
  return rows.length
}

function convertVariations(tx: Tx, convert: Convert): number {
  const rows = tx.orm.select().from(variations).all()
  for (const row of rows)
    tx.orm.update(variations).set(convertPrices(row, convert)).where(eq(variations.id, row.id)).run()
  return rows.length
}

/** What things cost before, the prices of a moment ago included. */
function convertHistory(tx: Tx, convert: Convert): void {
  const rows = tx.orm.select().from(priceHistory).all()
  for (const row of rows)
    tx.orm.update(priceHistory).set(convertPrices(row, convert)).where(eq(priceHistory.id, row.id)).run()
}

/** The price lists of customer groups. */
function convertPriceLists(tx: Tx, convert: Convert): void {
  for (const { id, priceMinor } of tx.orm.select().from(groupPrices).all())
    tx.orm
      .update(groupPrices)
      .set({ priceMinor: convert(priceMinor) })
      .where(eq(groupPrices.id, id))
      .run()
}

function convertCoupons(tx: Tx, convert: Convert): number {
  const rows = tx.orm.select().from(coupons).all()
  for (const { id, amountMinor, minTotalMinor } of rows) {
    const amounts = { amountMinor: orNull(amountMinor, convert), minTotalMinor: orNull(minTotalMinor, convert) }
    tx.orm.update(coupons).set(amounts).where(eq(coupons.id, id)).run()
  }
  return rows.length
}

function convertMethods(tx: Tx, convert: Convert): number {
  const rows = tx.orm.select().from(shippingMethods).all()
  for (const { zoneId, id, amountMinor, freeFromMinor, perKgMinor } of rows) {
    const amounts = {
      amountMinor: convert(amountMinor),
      freeFromMinor: orNull(freeFromMinor, convert),
      perKgMinor: orNull(perKgMinor, convert)
    }
    tx.orm
      .update(shippingMethods)
      .set(amounts)
      .where(and(eq(shippingMethods.zoneId, zoneId), eq(shippingMethods.id, id)))
      .run()
  }
  return rows.length
}

function orNull(minor: number | null, convert: Convert): number | null {
  return minor === null ? null : convert(minor)
}
