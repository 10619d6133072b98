import { asc, eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { insertion } from '../../platform/db/insert.ts'
import { chargeStepMinor, formatMoney, shareMinor, toMajor } from '../../platform/money.ts'
import { textsIn } from '../../platform/texts/languages.ts'
import type { TextKey, Texts } from '../../platform/texts/languages.ts'
import { rateLabel, withoutTax, saleTerms, shippingWithoutTax, taxOf } from '../tax/terms.ts'
import type { TaxLine, OrderTax, SaleTerms, TaxedKind, TaxedLine } from '../tax/terms.ts'
import { creditsFor, dueMinor } from './refunds/credits.ts'
import { couponsOf, itemsOf } from './find.ts'
import type { OrderItemRow, OrderRow } from './find.ts'
import { orderItems, orderTaxes } from './schema.ts'
import type { TaxView } from './shapes.ts'

/** The sums of an order, in minor units: subtotal − discount + shipping (+ tax that prices do not include) = total. */
export type Totals = {
  /** The lines before discounts. */
  subtotalMinor: number
  discountMinor: number
  shippingMinor: number
  /** What the shipping costs with the tax that the buyer does not pay; null if that is the same. */
  listShippingMinor: number | null
  tax: OrderTax
  totalMinor: number
}

type Sold = { lines: readonly TaxedLine[]; shippingMinor: number; currency: string }

/**
 * The sums of a cart or an order: the one function that computes them. The prices of the lines are what this buyer pays;
 * the shipping is at its list price.
 */
export function computeTotals(terms: SaleTerms, { lines, shippingMinor: listMinor, currency }: Sold): Totals {
  const shippingMinor = chargedShipping(terms, { lines, shippingMinor: listMinor, currency })
  const tax = taxOf(terms, { lines, shippingMinor }, currency)
  const listShippingMinor = terms.removed === null ? null : listMinor
  return totalsOf(lines, { shippingMinor, listShippingMinor, tax })
}

/** The sums of an order that only ships the lines of another one: the shipping has the rates of those. */
export function shippingTotals(terms: SaleTerms, { lines, shippingMinor: listMinor, currency }: Sold): Totals {
  const shippingMinor = chargedShipping(terms, { lines, shippingMinor: listMinor, currency })
  // Lines without a price share the shipping by what they cost before discounts.
  const carried = lines.map((line) => ({ ...line, totalMinor: 0, discountMinor: line.totalMinor + line.discountMinor }))
  const tax = taxOf(terms, { lines: carried, shippingMinor }, currency)
  const listShippingMinor = terms.removed === null ? null : listMinor
  return totalsOf([], { shippingMinor, listShippingMinor, tax, ...terms })
}

/** What shipping with a list price costs a buyer whose sale is taxed on these terms. */
export function chargedShipping({ removed }: Pick<SaleTerms, 'removed'>, { currency, ...listed }: Sold): number {
  return removed === null ? listed.shippingMinor : shippingWithoutTax(removed, listed, currency)
}

type Parts = Pick<Totals, 'shippingMinor' | 'listShippingMinor' | 'tax'>

/** The sums of lines whose tax is known. */
export function totalsOf(
  lines: readonly Pick<TaxedLine, 'totalMinor' | 'discountMinor'>[],
  { shippingMinor, listShippingMinor, tax }: Parts
): Totals {
  const goodsMinor = lines.reduce((sum, line) => sum + line.totalMinor, 0)
  const discountMinor = lines.reduce((sum, line) => sum + line.discountMinor, 0)
  return {
    subtotalMinor: goodsMinor + discountMinor,
    discountMinor,
    shippingMinor,
    listShippingMinor,
    tax,
    totalMinor: goodsMinor + shippingMinor + (tax.included ? 0 : tax.amountMinor)
  }
}

/** The columns of an order that store its sums. */
export type SumColumns = Pick<
  OrderRow,
  'subtotalMinor' | 'discountMinor' | 'shippingMinor' | 'taxMinor' | 'goodsTaxMinor' | 'taxIncluded' | 'totalMinor'
>
type AllColumns = SumColumns & Pick<OrderRow, 'listShippingMinor'>

/** The sums as the columns of an order. */
export function toColumns({ tax, ...sums }: Totals): AllColumns {
  return { ...sums, taxMinor: tax.amountMinor, goodsTaxMinor: tax.goodsMinor, taxIncluded: tax.included }
}

/** What the goods of an order cost after discounts and without tax, in minor units. Commissions are a share of it. */
export function netGoodsMinor(order: Omit<SumColumns, 'shippingMinor' | 'taxMinor' | 'totalMinor'>): number {
  const { subtotalMinor, discountMinor, goodsTaxMinor, taxIncluded } = order
  return subtotalMinor - discountMinor - (taxIncluded ? goodsTaxMinor : 0)
}

/**
 * What a line costs before discounts, and the price of one unit. If the buyer does not pay the tax that the catalog's price
 * contains, the unit's price is rounded, and the line costs its whole price without the tax.
 */
export type ChargedPrice = Pick<OrderItemRow, 'unitPriceMinor' | 'listPriceMinor'> & { amountMinor: number }

/** What units with a price in the catalog cost a buyer whose sale is taxed on these terms. */
export function chargedPrice(
  { removed }: Pick<SaleTerms, 'removed'>,
  kind: TaxedKind,
  { catalogMinor, quantity }: { catalogMinor: number; quantity: number },
  currency: string
): ChargedPrice {
  const rate = removed?.(kind) ?? null
  if (rate === null) return { unitPriceMinor: catalogMinor, listPriceMinor: null, amountMinor: catalogMinor * quantity }
  const stepMinor = chargeStepMinor(currency)
  return {
    unitPriceMinor: withoutTax(catalogMinor, rate, stepMinor),
    listPriceMinor: catalogMinor,
    amountMinor: withoutTax(catalogMinor * quantity, rate, stepMinor)
  }
}

/** What a line costs before discounts. Without tax, that can be some units of money beside its units' rounded prices. */
export function lineAmountMinor({
  totalMinor,
  discountMinor
}: Pick<OrderItemRow, 'totalMinor' | 'discountMinor'>): number {
  return totalMinor + discountMinor
}

/** What a line costs when its order comes to another total. */
export type LinePrice = Pick<OrderItemRow, 'unitPriceMinor' | 'discountMinor' | 'totalMinor'>

/**
 * Distributes a total over lines by what they cost, to the minor unit. Where more is charged than a line's price, the
 * price follows; where less is charged, the difference is a discount.
 */
export function pricesFor(
  lines: readonly Pick<OrderItemRow, 'unitPriceMinor' | 'quantity' | 'totalMinor' | 'discountMinor'>[],
  totalMinor: number
): LinePrice[] {
  const shares = shareMinor(
    totalMinor,
    lines.map((line) => Math.max(1, lineAmountMinor(line)))
  )
  return lines.map((line, index) => {
    const { unitPriceMinor, quantity } = line
    const share = shares[index] ?? 0
    const amountMinor = lineAmountMinor(line)
    if (share <= amountMinor) return { unitPriceMinor, discountMinor: amountMinor - share, totalMinor: share }
    const price = Math.ceil(share / quantity)
    return { unitPriceMinor: price, discountMinor: price * quantity - share, totalMinor: share }
  })
}

/** How an order is taxed, by its addresses and the rates of the moment. Whether its prices include the tax stays. */
export function termsOfOrder(db: Db, order: OrderRow): SaleTerms {
  return saleTerms(db, order, order.taxIncluded)
}

const taxes = statement((orm) =>
  orm
    .select()
    .from(orderTaxes)
    .where(eq(orderTaxes.orderId, sql.placeholder('orderId')))
    .orderBy(asc(orderTaxes.id))
    .prepare()
)

/** The taxes of an order, a row for each rate. */
export function taxesOfOrder(db: Db, orderId: number): (typeof orderTaxes.$inferSelect)[] {
  return taxes(db).all({ orderId })
}

const newTax = insertion(orderTaxes)

/** Stores the taxes of a new order. Its line items are inserted with their own (`rowOf`). */
export function insertTaxes(tx: Tx, orderId: number, { lines }: Pick<OrderTax, 'lines'>): void {
  for (const line of lines) newTax.run(tx, { ...line, orderId })
}

/** Replaces the taxes of an order, and which of them is on each line item. */
export function replaceTaxes(tx: Tx, orderId: number, { lines, rowOf }: Pick<OrderTax, 'lines' | 'rowOf'>): void {
  for (const [index, { id }] of itemsOf(tx, orderId).entries())
    tx.orm
      .update(orderItems)
      .set({ taxRow: rowOf[index] ?? null })
      .where(eq(orderItems.id, id))
      .run()
  tx.orm.delete(orderTaxes).where(eq(orderTaxes.orderId, orderId)).run()
  insertTaxes(tx, orderId, { lines })
}

/** The taxes of an order or a quote as their public form. */
export function toTaxes(lines: readonly TaxLine[], currency: string): TaxView[] {
  return lines.filter(isNamed).map(({ name, rateMillionths, amountMinor }) => ({
    name,
    ratePercent: rateMillionths / 10_000,
    amount: toMajor(amountMinor, currency)
  }))
}

/** Whether buyers read of a tax. Of a sale without tax, such as an export, only the invoice says why. */
function isNamed({ name }: TaxLine): boolean {
  return name !== ''
}

/** What stands below the lines of an order, in its order. */
export const summaryKinds = [
  'subtotal',
  'coupon',
  'discount',
  'shipping',
  'pickup',
  'tax',
  'total',
  'taxIncluded',
  'credit',
  'giftCard',
  'due',
  'paid'
] as const

/**
 * An amount between the lines of an order and its total, or what pays it. `name` is that of the coupon, the shipping method or
 * the tax, the number of the order whose credit it is, or the last signs of the gift card.
 */
export type SummaryPart = {
  kind: (typeof summaryKinds)[number]
  name: string
  amountMinor: number
}

/**
 * From the subtotal to the total of an order, as its pages and its emails show it. Without discounts, shipping and tax,
 * the total is the only part.
 *
 * @param taxLines the taxes that the order would have, if it is not stored yet
 */
export function summaryParts(
  db: Db,
  order: OrderRow,
  texts: Texts,
  taxLines: readonly TaxLine[] = taxesOfOrder(db, order.id)
): SummaryPart[] {
  const { subtotalMinor, shippingMinor, shippingMethod, taxIncluded, totalMinor } = order
  const part = (kind: SummaryPart['kind'], amountMinor: number, name = ''): SummaryPart => ({ kind, name, amountMinor })
  const discounts = discountParts(db, order).map(({ kind, name, amountMinor }) => part(kind, -amountMinor, name))
  const taxParts = taxLines
    .filter(isNamed)
    .map((tax) =>
      part(taxIncluded && tax.rateMillionths > 0 ? 'taxIncluded' : 'tax', tax.amountMinor, rateLabel(tax, texts))
    )
  const parts = [
    ...discounts,
    ...(shippingMethod === null
      ? []
      : [part(shippingMethod.pickup ? 'pickup' : 'shipping', shippingMinor, shippingMethod.name)]),
    ...taxParts.filter(({ kind }) => kind === 'tax')
  ]
  return [
    ...(parts.length === 0 ? [] : [part('subtotal', subtotalMinor)]),
    ...parts,
    part('total', totalMinor),
    ...taxParts.filter(({ kind }) => kind === 'taxIncluded'),
    ...creditParts(db, order)
  ]
}

/** What pays an order besides its buyer, and what that leaves to them. */
function creditParts(db: Db, order: OrderRow): SummaryPart[] {
  const credits = creditsFor(db, order)
  if (credits.length === 0) return []
  return [
    ...credits.flatMap(({ credit, refund, card }): SummaryPart[] => {
      const amountMinor = -credit.amountMinor
      if (refund !== null) return [{ kind: 'credit', name: String(refund.orderId), amountMinor }]
      return card === null || amountMinor === 0 ? [] : [{ kind: 'giftCard', name: card.lastFour, amountMinor }]
    }),
    { kind: order.paidAt === null ? 'due' : 'paid', name: '', amountMinor: dueMinor(db, order) }
  ]
}

const sumKeys = {
  subtotal: 'sum.subtotal',
  coupon: 'sum.coupon',
  discount: 'sum.discount',
  shipping: 'sum.shippingNamed',
  pickup: 'sum.named',
  tax: 'sum.named',
  taxIncluded: 'sum.taxIncluded',
  total: 'sum.total',
  credit: 'sum.credit',
  giftCard: 'sum.giftCard',
  due: 'sum.due',
  paid: 'sum.paid'
} as const satisfies Record<SummaryPart['kind'], TextKey>

/** The parts of an order's total as rows of a page or an email. */
export function summaryRows(
  db: Db,
  order: OrderRow,
  texts: Texts = textsIn('en'),
  taxLines?: readonly TaxLine[]
): { label: string; amount: string; isTotal: boolean }[] {
  return toRows(summaryParts(db, order, texts, taxLines), order.currency, texts)
}

/** Parts of a total as rows of a page or an email. */
export function toRows(
  parts: readonly SummaryPart[],
  currency: string,
  texts: Texts
): { label: string; amount: string; isTotal: boolean }[] {
  return parts.map(({ kind, name, amountMinor }) => ({
    label: texts.t(sumKeys[kind], { name }),
    amount: formatMoney(amountMinor, currency, texts.lang),
    isTotal: kind === 'total'
  }))
}

/** The discounts of an order, which add up to its `discountMinor`. */
export function discountsOf(
  db: Db,
  order: OrderRow,
  { t }: Pick<Texts, 't'> = textsIn('en')
): { label: string; amountMinor: number }[] {
  return discountParts(db, order).map(({ kind, name, amountMinor }) => ({
    label: t(sumKeys[kind], { name }),
    amountMinor
  }))
}

function discountParts(db: Db, { id, discountMinor }: OrderRow): SummaryPart[] {
  const coupons = couponsOf(db, id).filter((coupon) => coupon.discountMinor > 0)
  const byCoupons = coupons.reduce((sum, coupon) => sum + coupon.discountMinor, 0)
  // An order that was paid with another amount than ordered has another discount than its coupons.
  return byCoupons === discountMinor
    ? coupons.map((coupon) => ({ kind: 'coupon', name: coupon.code, amountMinor: coupon.discountMinor }))
    : [{ kind: 'discount', name: '', amountMinor: discountMinor }]
}
