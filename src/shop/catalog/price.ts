/** What determines a price. A variation has its own prices and its product's sale period. */
export type Priced = {
  priceMinor: number
  salePriceMinor: number | null
  saleStartsAt: number | null
  saleEndsAt: number | null
}

export type CurrentPrice = {
  unitPriceMinor: number
  /** The regular price during a sale, else null. */
  originalMinor: number | null
}

/** The prices of a variation, or of the product when `variation` is null, with the product's sale period. */
export function pricesOf(product: Priced, variation: Pick<Priced, 'priceMinor' | 'salePriceMinor'> | null): Priced {
  const { priceMinor, salePriceMinor } = variation ?? product
  return { priceMinor, salePriceMinor, saleStartsAt: product.saleStartsAt, saleEndsAt: product.saleEndsAt }
}

/**
 * The price of one unit at `now`. A sale includes its start and excludes its end; without a start or end it is open on
 * that side. A sale price that is not below the regular price is ignored.
 */
export function currentPrice(priced: Priced, now: number): CurrentPrice {
  const { priceMinor, salePriceMinor } = priced
  if (salePriceMinor === null || salePriceMinor >= priceMinor || !isWithin(priced, now)) {
    return { unitPriceMinor: priceMinor, originalMinor: null }
  }
  return { unitPriceMinor: salePriceMinor, originalMinor: priceMinor }
}

/** The next time after `now` at which the price may change; null when it does not change. */
export function nextPriceChange({ salePriceMinor, saleStartsAt, saleEndsAt }: Priced, now: number): number | null {
  if (salePriceMinor === null) return null
  const ahead = [saleStartsAt, saleEndsAt].filter((at): at is number => at !== null && at > now)
  return ahead.length === 0 ? null : Math.min(...ahead)
}

function isWithin({ saleStartsAt, saleEndsAt }: Priced, now: number): boolean {
  return (saleStartsAt === null || saleStartsAt <= now) && (saleEndsAt === null || now < saleEndsAt)
}
