import type { Db } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { rawStatement } from '../../platform/db/database.ts'
import { validationFailed } from '../../errors.ts'
import { findOrder } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import type { OrderStatus } from '../orders/states.ts'

export type ExportFilter = {
  status?: OrderStatus | undefined
  /** When the order was placed, in epoch milliseconds; `to` is not included. */
  from?: number | undefined
  to?: number | undefined
  /** The cursor of an earlier export, after which this one continues. */
  cursor?: string | undefined
  /** The most orders; all by default. */
  limit?: number | undefined
}

export type OrderExport<T> = {
  /** In the order of their ids, read while they are used. */
  rows: Iterable<T>
  /** Continues after the last order, also with orders that are placed later. */
  nextCursor: () => string
}

type Values = { after: number; from: number; to: number; status: OrderStatus | null; limit: number }

// The + keeps SQLite from searching by time, and sorting all orders again for each part.
const matching = rawStatement<Values, number>(`
  SELECT id FROM orders
  WHERE id > @after AND +created_at >= @from AND +created_at < @to AND (@status IS NULL OR status = @status)
  ORDER BY id LIMIT @limit`)

/**
 * The orders of an export, oldest first. Any number of orders needs the memory of a few hundred.
 *
 * @param view what the export shows of a few hundred orders at once
 * @throws AppError VALIDATION_FAILED for a cursor that is not one
 */
export function exportOrders<T>(db: Db, filter: ExportFilter, view: (orders: OrderRow[]) => T[]): OrderExport<T> {
  const { status = null, from = 0, to = Number.MAX_SAFE_INTEGER, cursor = '0', limit = Infinity } = filter
  if (!/^\d{1,15}$/.test(cursor)) throw validationFailed({ cursor: ['Must be the nextCursor of an earlier export.'] })
  let after = Number(cursor)
  const next = (_last: number | undefined, most: number): number[] =>
    matching(db).pluck().all({ after, from, to, status, limit: most })
  const rows = inParts(
    db,
    next,
    (ids) => {
      after = ids.at(-1) ?? after
      return view(ids.flatMap((id) => findOrder(db, id) ?? []))
    },
    limit
  )
  return { rows, nextCursor: () => String(after) }
}
