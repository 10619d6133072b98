/** What a price is decided by. A variation has prices of its own and shares its product's window. */
export type Priced = {
  priceMinor: number
  salePriceMinor: number | null
  saleStartsAt: number | null
  saleEndsAt: number | null
}

export type CurrentPrice = {
  unitPriceMinor: number
  /** The regular price while a sale holds, else null. */
  originalMinor: number | null
}

/** A variation's own prices in its product's window; without one, the product's. */
export function pricesOf(product: Priced, variation: Pick<Priced, 'priceMinor' | 'salePriceMinor'> | null): Priced {
  const { priceMinor, salePriceMinor } = variation ?? product
  return { priceMinor, salePriceMinor, saleStartsAt: product.saleStartsAt, saleEndsAt: product.saleEndsAt }
}

/** What one unit costs at `now`. A sale begins with its start and is over at its end; without them it is always on. */
export function currentPrice(priced: Priced, now: number): CurrentPrice {
  const { priceMinor, salePriceMinor } = priced
  if (salePriceMinor === null || salePriceMinor >= priceMinor || !isWithin(priced, now)) {
    return { unitPriceMinor: priceMinor, originalMinor: null }
  }
  return { unitPriceMinor: salePriceMinor, originalMinor: priceMinor }
}

/** The next moment after `now` at which the price may change; null when it stays as it is. */
export function nextPriceChange({ salePriceMinor, saleStartsAt, saleEndsAt }: Priced, now: number): number | null {
  if (salePriceMinor === null) return null
  const ahead = [saleStartsAt, saleEndsAt].filter((at): at is number => at !== null && at > now)
  return ahead.length === 0 ? null : Math.min(...ahead)
}

function isWithin({ saleStartsAt, saleEndsAt }: Priced, now: number): boolean {
  return (saleStartsAt === null || saleStartsAt <= now) && (saleEndsAt === null || now < saleEndsAt)
}
