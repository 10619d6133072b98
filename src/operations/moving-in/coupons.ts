import type { Tx } from '../../platform/db/database.ts'
import { createMovedCoupon, countMovedUses } from '../../shop/catalog/apply-catalog.ts'
import type { MovedCoupon } from '../../shop/catalog/apply-catalog.ts'
import { findCoupon } from '../../shop/catalog/coupons.ts'
import type { Move } from './move.ts'
import type { SubjectTally } from './report.ts'

/** A coupon of another shop as this shop stores it, apart from its code. */
export type CouponRecord = Omit<MovedCoupon, 'code'> & {
  /** Conditions that this shop does not have. Without them the coupon would take off more, so it arrives disabled. */
  lost: readonly string[]
}

/**
 * Stores a coupon, and reports what became of it. The uses of one that moved in before follow those in the other shop.
 *
 * @param read the coupon, or why it is left out
 */
export function writeCoupon(
  tx: Tx,
  { id, code: whole, read }: { id: string; code: string; read: (tx: Tx) => CouponRecord | string },
  move: Move,
  tally: SubjectTally
): void {
  const code = whole.slice(0, 64)
  const before = move.moved.find(tx, 'coupon', id)
  const known = before === undefined ? findCoupon(tx, code) : undefined
  if (known !== undefined) {
    move.moved.remember(tx, 'coupon', id, known.id, move.now)
    tally.change('The shop has a coupon with this code, which stays as it is', code)
    return tally.know()
  }
  const found = read(tx)
  const record = typeof found === 'string' ? found : (refusalOf(code, found) ?? found)
  if (typeof record === 'string') return before === undefined ? tally.leave(record, code) : tally.know()
  const { lost, ...values } = record
  if (before !== undefined) {
    if (countMovedUses(tx, before, values.used)) tally.change('The coupon was used in the other shop since', code)
    return tally.know()
  }
  for (const condition of lost) tally.change(`${condition} is not supported: the coupon is disabled`, code)
  const created = createMovedCoupon(tx, {
    ...values,
    code,
    // The other shop may have counted more uses than it allows.
    maxUses: values.maxUses === null ? null : Math.max(values.maxUses, values.used),
    enabled: values.enabled && lost.length === 0
  })
  move.moved.remember(tx, 'coupon', id, created.id, move.now)
  tally.arrive()
}

/** Why a coupon cannot be one here. */
function refusalOf(code: string, { percentBps, amountMinor }: CouponRecord): string | undefined {
  if (code === '') return 'The coupon has no code'
  if (!((percentBps ?? amountMinor ?? 0) > 0)) return 'The coupon takes nothing off the goods'
  return percentBps !== null && percentBps > 10_000 ? 'The coupon takes off more than 100 percent' : undefined
}
