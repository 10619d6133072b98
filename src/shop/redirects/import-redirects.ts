import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Table } from '../catalog/import/csv-table.ts'
import { FileErrors, refuseFile } from '../catalog/import/report.ts'
import type { ShopContext } from '../context.ts'
import { findRedirect, storeRedirect } from './redirects.ts'

const columns = {
  from: ['from', 'Redirect from'],
  to: ['to', 'Redirect to']
} as const

const shape = z.object({ fieldErrors: z.record(z.string(), z.array(z.string())).optional() })

/** Undoes a dry run. */
class DryRun extends Error {}

/**
 * Sets the redirects of a table, all or none. A target that is a path of a product or category of the former shop, such as
 * `/products/mug` of Shopify, stays that path: the product's redirect leads on.
 *
 * @returns how many rows were read, and how many lead elsewhere than before
 * @throws AppError VALIDATION_FAILED with the line and the column
 */
export function importRedirects(
  shop: Pick<ShopContext, 'db' | 'publicUrl'>,
  table: Table,
  { isDryRun, now }: { isDryRun: boolean; now: number }
): { read: number; changed: number } {
  const column = (name: keyof typeof columns): string => {
    const found = columns[name].find((title) => table.has(title))
    if (found === undefined)
      refuseFile(
        1,
        name,
        `The file has no column "${name}". If another column contains it, pass --map "COLUMN=${name}".`
      )
    return found
  }
  const [from, to] = [column('from'), column('to')]
  const errors = new FileErrors()
  let changed = 0
  try {
    write(shop.db, (tx) => {
      const inTx = { ...shop, db: tx }
      for (const { line, cell } of table.rows) {
        const before = findRedirect(inTx, cell(from))
        try {
          if (storeRedirect(tx, shop, cell(from), { to: cell(to) }, now).to !== before) changed += 1
        } catch (error) {
          addError(errors, line, error, { from, to })
        }
      }
      errors.throwIfAny()
      if (isDryRun) throw new DryRun()
    })
  } catch (error) {
    if (!(error instanceof DryRun)) throw error
  }
  return { read: table.rows.length, changed }
}

function addError(errors: FileErrors, line: number, error: unknown, titles: Record<string, string>): void {
  if (!(error instanceof AppError)) throw error
  const { fieldErrors = {} } = shape.parse(error.details)
  for (const [field, messages] of Object.entries(fieldErrors))
    errors.add(line, titles[field] ?? null, messages.join(' '))
}
