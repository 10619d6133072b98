import { htmlToLine } from '../../../shop/catalog/import/html-text.ts'
import { setting } from '../../../shop/settings/settings.ts'
import { writeCoupon } from '../coupons.ts'
import type { CouponRecord } from '../coupons.ts'
import { writeInBatches } from '../move.ts'
import type { Move } from '../move.ts'
import type { SubjectTally } from '../report.ts'
import type { Row, WordPress } from './database.ts'
import { eddId } from './edd-rows.ts'
import { idsOf, minorOf, readMeta, text, utc } from './values.ts'

/** Moves the discount codes in. */
export async function* moveEddDiscounts(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  if (!source.has('edd_adjustments')) return
  const currency = setting(move.shop.db, 'shop.currency')
  const sql = "SELECT a.*, a.id AS id FROM {edd_adjustments} a WHERE a.type = 'discount' AND a.id > ?"
  for await (const rows of source.parts(sql)) {
    const metaOf = source.has('edd_adjustmentmeta')
      ? await readMeta(source, { table: 'edd_adjustmentmeta', owner: 'edd_adjustment_id' }, idsOf(rows))
      : () => new Map<string, string>()
    await writeInBatches(move, rows, (tx, row) => {
      const code = htmlToLine(text(row, 'code'))
      const isScoped = ['product_requirement', 'excluded_product', 'categories'].some(
        (key) => (metaOf(text(row, 'id')).get(key) ?? '') !== ''
      )
      writeCoupon(tx, { id: eddId(text(row, 'id')), code, read: () => toCoupon(row, currency, isScoped) }, move, tally)
    })
    yield
  }
}

function toCoupon(row: Row, currency: string, isScoped: boolean): CouponRecord {
  const isPercent = text(row, 'amount_type') === 'percent'
  const percentBps = isPercent ? Math.round(Number(text(row, 'amount')) * 100) : null
  const amountMinor = isPercent ? null : minorOf(text(row, 'amount'), currency)
  const limit = Number(text(row, 'max_uses'))
  return {
    percentBps,
    amountMinor,
    startsAt: utc(text(row, 'start_date')),
    endsAt: utc(text(row, 'end_date')),
    minTotalMinor: minorOf(text(row, 'min_charge_amount'), currency) || null,
    maxUses: limit > 0 ? limit : null,
    maxUsesPerCustomer: text(row, 'once_per_customer') === '1' ? 1 : null,
    exclusive: false,
    used: Number(text(row, 'use_count')),
    enabled: text(row, 'status') === 'active',
    createdAt: utc(text(row, 'date_created')) ?? 0,
    productIds: [],
    categories: [],
    lost:
      isScoped || text(row, 'scope') === 'not_global' ? ['A coupon for some products of Easy Digital Downloads'] : []
  }
}
