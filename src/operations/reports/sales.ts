import { z } from 'zod'
import { readSnapshot, rawStatement } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { setting } from '../../shop/settings/settings.ts'
import { fittingUnit, partsOf, shopDays, units } from './days.ts'
import type { Days, Part, Unit } from './days.ts'
import { amount, chartsByCurrency, defineReport, money } from './report.ts'
import type { Column } from './report.ts'

/**
 * What was paid in a time, in minor units. `goods` are after discounts. `tax` is in the other amounts, or beside them, as
 * the order has it. `refunded` is what was returned in this time, also of orders that were paid before.
 */
type Sums = {
  orders: number
  goodsMinor: number
  /** What gift cards were sold for. They are a liability, and in no other sum. */
  giftCardsMinor: number
  discountMinor: number
  shippingMinor: number
  taxMinor: number
  totalMinor: number
  refundedMinor: number
}
export type SalesRow = Days & { currency: string } & Sums

type LabelledRow = SalesRow & { label: string }

const columns: readonly Column<LabelledRow>[] = [
  { key: 'from', kind: 'text', title: 'From', value: ({ from }) => from, text: ({ label }) => label },
  { key: 'to', kind: 'text', value: ({ to }) => to },
  { key: 'currency', kind: 'text', value: ({ currency }) => currency },
  { key: 'orders', kind: 'count', title: 'Orders', total: 'sum', isFigure: true, value: ({ orders }) => orders },
  { key: 'goods', ...money, title: 'Goods', isDetail: true, value: amount(({ goodsMinor }) => goodsMinor) },
  {
    key: 'giftCards',
    ...money,
    title: 'Gift cards',
    isDetail: true,
    value: amount(({ giftCardsMinor }) => giftCardsMinor)
  },
  {
    key: 'discount',
    ...money,
    title: 'Discounts',
    isDetail: true,
    value: amount(({ discountMinor }) => discountMinor)
  },
  {
    key: 'shipping',
    ...money,
    title: 'Shipping',
    isDetail: true,
    value: amount(({ shippingMinor }) => shippingMinor)
  },
  { key: 'tax', ...money, title: 'Tax', isDetail: true, value: amount(({ taxMinor }) => taxMinor) },
  { key: 'total', ...money, title: 'Total', isFigure: true, value: amount(({ totalMinor }) => totalMinor) },
  {
    key: 'refunded',
    ...money,
    title: 'Refunded',
    isFigure: true,
    value: amount(({ refundedMinor }) => refundedMinor)
  },
  { key: 'net', ...money, title: 'Net', isFigure: true, value: amount((row) => row.totalMinor - row.refundedMinor) }
]

/** The sales of some days by day, week or month. `net` is the total minus what was refunded in the same time. */
export const salesReport = defineReport({
  name: 'sales',
  title: 'Sales',
  about: 'what was sold by day, week or month: orders, totals and refunds',
  example: 'report sales --from 2026-01-01 --to 2026-12-31 --by month --html sales.html',
  period: shopDays,
  options: [{ name: 'by', flags: '--by <unit>', about: 'a row for each (default: what fits)', choices: units }],
  input: z.object({ by: z.enum(units).optional() }),
  columns,
  totals: { label: 'Total', by: ({ currency }) => currency },
  bar: ({ totalMinor }) => totalMinor,
  read: ({ shop: { db }, period: days, periodText, options }) => {
    const unit = options.by ?? fittingUnit(days)
    const rows = salesOf(db, days, unit).map((row) => ({ ...row, label: labelOf(row, unit) }))
    return {
      subtitle: `${periodText}, by ${unit}`,
      head: { by: unit },
      rows,
      titles: { from: { day: 'Day', week: 'From', month: 'Month' }[unit] },
      charts: chartsByCurrency(
        { title: `Total by ${unit}`, kind: 'columns' },
        rows,
        ({ label, totalMinor: minor }) => ({
          label,
          minor
        })
      ),
      notes: [
        'An order counts on the day on which it was paid, a refund on the day of its credit note. Goods are after discounts. Gift cards that were sold are owed until they are used, and in no other column.'
      ]
    }
  }
})

function labelOf({ from }: SalesRow, unit: Unit): string {
  return unit === 'month' ? from.slice(0, 'YYYY-MM'.length) : from
}

/** `imported` is 1 if orders of another shop count, too (setting reports.imported). */
type Span = Pick<Part, 'startsAt' | 'endsAt'> & { imported: 0 | 1 }
type Paid = Omit<Sums, 'refundedMinor' | 'giftCardsMinor'> & { currency: string }
type Refunded = { currency: string; refundedMinor: number }

const paidWithin = rawStatement<Span, Paid>(`
  SELECT currency, count(*) AS orders, sum(subtotal_minor - discount_minor) AS goodsMinor,
    sum(discount_minor) AS discountMinor, sum(shipping_minor) AS shippingMinor, sum(tax_minor) AS taxMinor,
    sum(total_minor) AS totalMinor
  FROM orders WHERE paid_at >= @startsAt AND paid_at < @endsAt AND imported <= @imported GROUP BY currency`)

const creditedWithin = rawStatement<Days, Refunded>(`
  SELECT currency, sum(total_minor) AS refundedMinor FROM invoices INDEXED BY invoices_credited
  WHERE kind = 'credit_note' AND correction = 0 AND date BETWEEN @from AND @to GROUP BY currency`)

/** What gift cards were sold for, and what their refunds returned. */
const giftCardsWithin = rawStatement<Span, { currency: string; soldMinor: number; returnedMinor: number }>(`
  SELECT currency, sum(sold) AS soldMinor, sum(returned) AS returnedMinor FROM (
    SELECT o.currency, i.total_minor AS sold, 0 AS returned FROM orders o JOIN order_items i ON i.order_id = o.id
    WHERE i.type = 'gift_card' AND o.paid_at >= @startsAt AND o.paid_at < @endsAt AND o.imported <= @imported
    UNION ALL
    SELECT o.currency, 0, l.amount_minor FROM order_refunds r JOIN refund_lines l ON l.refund_id = r.id
    JOIN order_items i ON i.id = l.order_item_id JOIN orders o ON o.id = r.order_id
    WHERE i.type = 'gift_card' AND r.done_at >= @startsAt AND r.done_at < @endsAt
  ) GROUP BY currency`)

/** An order of a version without invoices, or of another shop, has no credit note. Its refunds count when it was paid. */
const refundedWithoutNote = rawStatement<Span, Refunded>(`
  SELECT currency, sum(refunded_minor) AS refundedMinor FROM orders
  WHERE paid_at >= @startsAt AND paid_at < @endsAt AND refunded_minor > 0 AND imported <= @imported
    AND NOT EXISTS (SELECT 1 FROM invoices WHERE order_id = orders.id) GROUP BY currency`)

const none: Sums = {
  orders: 0,
  goodsMinor: 0,
  giftCardsMinor: 0,
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
  const span = { startsAt, endsAt, imported: setting(db, 'reports.imported') ? 1 : 0 } as const
  for (const { currency, ...paid } of paidWithin(db).all(span)) sums.set(currency, { ...none, ...paid })
  const refunds = [...creditedWithin(db).all({ from, to }), ...refundedWithoutNote(db).all(span)]
  for (const { currency, refundedMinor } of refunds) {
    const known = sums.get(currency) ?? none
    sums.set(currency, { ...known, refundedMinor: known.refundedMinor + refundedMinor })
  }
  for (const { currency, soldMinor, returnedMinor } of giftCardsWithin(db).all(span)) {
    const known = sums.get(currency) ?? none
    sums.set(currency, {
      ...known,
      goodsMinor: known.goodsMinor - soldMinor,
      giftCardsMinor: soldMinor - returnedMinor,
      totalMinor: known.totalMinor - soldMinor,
      refundedMinor: known.refundedMinor - returnedMinor
    })
  }
  return sums
}
