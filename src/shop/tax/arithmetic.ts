import { shareMinor } from '../../platform/money.ts'

/** A tax rate and the place whose rate it is. Rates are exact: 8.875 % is 88 750 millionths. */
export type TaxRate = { name: string; country: string; region: string; rateMillionths: number }

/** What an order owes at one rate, in minor units: the amount without the tax, and the tax. */
export type TaxLine = TaxRate & { baseMinor: number; amountMinor: number }

/** Goods and the shipping that they carry, in minor units. A null rate means that they are not taxed. */
export type Taxable = { rate: TaxRate | null; goodsMinor: number; shippingMinor: number }

/** The tax of an order: a line for each rate, and the part of the tax that is on the goods. */
export type Taxes = { lines: TaxLine[]; goodsMinor: number }

/** A rate as people read it: `19 % VAT`. A rate of zero has only its name. */
export function rateLabel({ name, rateMillionths }: Pick<TaxRate, 'name' | 'rateMillionths'>): string {
  return rateMillionths === 0 ? name : `${rateMillionths / 10_000} % ${name}`
}

const million = 1_000_000n

/**
 * The taxes of amounts, rounded once for each rate. With `included`, the amounts contain the tax. Otherwise the tax is
 * added to them, and is a multiple of `stepMinor`, so that the currency can charge the sum.
 */
export function taxesOf(
  taxables: readonly Taxable[],
  { included, stepMinor }: { included: boolean; stepMinor: number }
): Taxes {
  return sumTaxes(byRate(taxables), ({ rate, ...group }) => {
    const amountMinor = sumOf(group)
    if (included) return grossLine(rate, amountMinor)
    return { ...rate, baseMinor: amountMinor, amountMinor: taxOn(amountMinor, rate, stepMinor) }
  })
}

/**
 * The taxes in a sum that was paid, with its taxes, for goods and their shipping: the sum is distributed in proportion to
 * what they cost. For an order whose buyer paid another amount, and for renewals.
 */
export function taxesInPaid(
  paidMinor: number,
  taxables: readonly Taxable[],
  { included }: { included: boolean }
): Taxes {
  const groups = byRate(taxables)
  const costs = groups.map(({ rate, ...group }) => {
    const amountMinor = sumOf(group)
    return included || rate === null ? amountMinor : amountMinor + taxOn(amountMinor, rate)
  })
  const shares = shareEvenly(paidMinor, costs)
  return sumTaxes(groups, ({ rate }, index) => grossLine(rate, shares[index] ?? 0))
}

/** A price without the tax that it includes, as a multiple of `stepMinor`. */
export function withoutTax(grossMinor: number, rate: TaxRate | null, stepMinor: number): number {
  if (rate === null) return grossMinor
  return timesRatio(grossMinor, million, (million + BigInt(rate.rateMillionths)) * BigInt(stepMinor)) * stepMinor
}

/** Divides an amount by weight; evenly if no weight is above zero. */
export function shareEvenly(amountMinor: number, weights: readonly number[]): number[] {
  return shareMinor(amountMinor, weights.some((weight) => weight > 0) ? weights : weights.map(() => 1))
}

type Group = Taxable & { rate: TaxRate | null }

/** The sums of each rate, in the order of the amounts. */
function byRate(taxables: readonly Taxable[]): Group[] {
  const groups = new Map<string, Group>()
  for (const { rate, goodsMinor, shippingMinor } of taxables) {
    const key = rate === null ? '' : JSON.stringify([rate.country, rate.region, rate.name, rate.rateMillionths])
    const { goodsMinor: goods, shippingMinor: shipping } = groups.get(key) ?? { goodsMinor: 0, shippingMinor: 0 }
    groups.set(key, { rate, goodsMinor: goods + goodsMinor, shippingMinor: shipping + shippingMinor })
  }
  return [...groups.values()]
}

/** The tax lines of the groups that have a rate, and the part of their taxes that is on goods. */
function sumTaxes(
  groups: readonly Group[],
  lineOf: (group: Taxable & { rate: TaxRate }, index: number) => TaxLine
): Taxes {
  const taxes: Taxes = { lines: [], goodsMinor: 0 }
  for (const [index, { rate, ...amounts }] of groups.entries()) {
    if (rate === null) continue
    const line = lineOf({ rate, ...amounts }, index)
    taxes.lines.push(line)
    const wholeMinor = sumOf(amounts)
    taxes.goodsMinor +=
      wholeMinor === 0 ? line.amountMinor : timesRatio(line.amountMinor, amounts.goodsMinor, wholeMinor)
  }
  return taxes
}

function grossLine(rate: TaxRate, grossMinor: number): TaxLine {
  const amountMinor = timesRatio(grossMinor, rate.rateMillionths, million + BigInt(rate.rateMillionths))
  return { ...rate, baseMinor: grossMinor - amountMinor, amountMinor }
}

function taxOn(netMinor: number, { rateMillionths }: TaxRate, stepMinor = 1): number {
  return timesRatio(netMinor, rateMillionths, million * BigInt(stepMinor)) * stepMinor
}

function sumOf({ goodsMinor, shippingMinor }: Omit<Taxable, 'rate'>): number {
  return goodsMinor + shippingMinor
}

/** amount × numerator ÷ denominator, rounded half up; exact for every safe integer. */
function timesRatio(amountMinor: number, numerator: number | bigint, denominator: number | bigint): number {
  const divisor = BigInt(denominator)
  return Number((2n * BigInt(amountMinor) * BigInt(numerator) + divisor) / (2n * divisor))
}
