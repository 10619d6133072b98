import { readSnapshot } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { setting } from '../../shop/settings/settings.ts'
import { partsOf } from './days.ts'
import type { Days, Part, Unit } from './days.ts'

/**
 * What was paid in a time, in minor units. `goods` are after discounts. `tax` is in the other amounts, or beside them, as
 * the order has it. `refunded` is what was returned in this time, also of orders that were paid before.
 */
export type Sums = {
  orders: number
  goodsMinor: number
  discountMinor: number
  shippingMinor: number
  taxMinor: number
  totalMinor: number
  refundedMinor: number
}
export type SalesRow = Days & { currency: string } & Sums

type Span = Pick<Part, 'startsAt' | 'endsAt'>
type Paid = Omit<Sums, 'refundedMinor'> & { currency: string }
type Refunded = { currency: string; refundedMinor: number }

const paidWithin = rawStatement<Span, Paid>(`
  SELECT currency, count(*) AS orders, sum(subtotal_minor - discount_minor) AS goodsMinor,
    sum(discount_minor) AS discountMinor, sum(shipping_minor) AS shippingMinor, sum(tax_minor) AS taxMinor,
    sum(total_minor) AS totalMinor
  FROM orders WHERE paid_at >= @startsAt AND paid_at < @endsAt GROUP BY currency`)

const creditedWithin = rawStatement<Days, Refunded>(`
  SELECT currency, sum(total_minor) AS refundedMinor FROM invoices INDEXED BY invoices_credited
  WHERE kind = 'credit_note' AND date BETWEEN @from AND @to GROUP BY currency`)

/** An order of a version without invoices has no credit note. Its refunds count when it was paid. */
const refundedWithoutNote = rawStatement<Span, Refunded>(`
  SELECT currency, sum(refunded_minor) AS refundedMinor FROM orders
  WHERE paid_at >= @startsAt AND paid_at < @endsAt AND refunded_minor > 0
    AND NOT EXISTS (SELECT 1 FROM invoices WHERE order_id = orders.id) GROUP BY currency`)

const none: Sums = {
  orders: 0,
  goodsMinor: 0,
  discountMinor: 0,
  shippingMinor: 0,
  taxMinor: 0,
  totalMinor: 0,
  refundedMinor: 0
}

/**
 * The sales of some days in the shop's time zone, by day, week or month, with a row for each currency in which the shop
 * sold in these days. An order counts when it was paid. A refund counts when its credit note was issued, as in the tax
 * report: when the money was returned.
 */
export function salesOf(db: Db, days: Days, unit: Unit): SalesRow[] {
  return readSnapshot(db, () => {
    const found = partsOf(db, days, unit).map((part) => ({ part, sums: sumsWithin(db, part) }))
    const seen = new Set(found.flatMap(({ sums }) => [...sums.keys()]))
    const currencies = seen.size === 0 ? [setting(db, 'shop.currency')] : [...seen].toSorted()
    return found.flatMap(({ part: { from, to }, sums }) =>
      currencies.map((currency) => ({ from, to, currency, ...(sums.get(currency) ?? none) }))
    )
  })
}

function sumsWithin(db: Db, { from, to, startsAt, endsAt }: Part): Map<string, Sums> {
  const sums = new Map<string, Sums>()
  for (const { currency, ...paid } of paidWithin(db).all({ startsAt, endsAt }))
    sums.set(currency, { ...paid, refundedMinor: 0 })
  const refunds = [...creditedWithin(db).all({ from, to }), ...refundedWithoutNote(db).all({ startsAt, endsAt })]
  for (const { currency, refundedMinor } of refunds) add(sums, currency, { ...none, refundedMinor })
  return sums
}

function add(sums: Map<string, Sums>, currency: string, more: Sums): void {
  const known = sums.get(currency) ?? none
  sums.set(currency, {
    orders: known.orders + more.orders,
    goodsMinor: known.goodsMinor + more.goodsMinor,
    discountMinor: known.discountMinor + more.discountMinor,
    shippingMinor: known.shippingMinor + more.shippingMinor,
    taxMinor: known.taxMinor + more.taxMinor,
    totalMinor: known.totalMinor + more.totalMinor,
    refundedMinor: known.refundedMinor + more.refundedMinor
  })
}

/** The sums of all rows, by currency. */
export function totalSales(rows: readonly SalesRow[]): ({ currency: string } & Sums)[] {
  const sums = new Map<string, Sums>()
  for (const { currency, from: _from, to: _to, ...row } of rows) add(sums, currency, row)
  return [...sums].map(([currency, sum]) => ({ currency, ...sum }))
}
