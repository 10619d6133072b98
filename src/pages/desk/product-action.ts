import { exportProduct } from '../../shop/catalog/export-catalog.ts'
import type { ProductEntry } from '../../shop/catalog/import/write-json.ts'
import { getProduct } from '../../shop/catalog/products.ts'
import type { ProductRow } from '../../shop/catalog/rows.ts'
import { setting } from '../../shop/settings/settings.ts'
import type { Field, Known } from '../storefront/form-view.ts'
import type { Action, DeskCall } from './view.ts'

export const slugPart = '([a-z0-9][a-z0-9-]{0,199})'

/** The product that the path names. @throws AppError NOT_FOUND */
export function rowOf({ app, params }: DeskCall): ProductRow {
  return getProduct(app.db, params[0] ?? '')
}

const none = (): Field[][] => []

/** A product in the import format, as the forms show and compare it. */
export function entryOf({ app }: DeskCall, row: ProductRow): ProductEntry {
  return exportProduct(app.db, row, setting(app.db, 'shop.currency'))
}

/** An action on one product, which is refused when the product has changed since its form was shown. */
export function productAction(
  verb: string,
  title: (call: DeskCall) => string,
  {
    rows = none,
    ...rest
  }: {
    rows?: (call: DeskCall, row: ProductRow, entry: ProductEntry) => Field[][]
    known?: (call: DeskCall, row: ProductRow, entry: ProductEntry) => Known
    command: (call: DeskCall, form: URLSearchParams, row: ProductRow) => string
    run: (call: DeskCall, form: URLSearchParams, row: ProductRow) => unknown
    isFree?: true
  }
): Action {
  return {
    path: new RegExp(`^/desk/products/${slugPart}/${verb}$`),
    name: `/desk/products/:slug/${verb}`,
    needs: 'products.change',
    form: (call) => {
      const row = rowOf(call)
      const entry = entryOf(call, row)
      return {
        title: title(call),
        rows: rows(call, row, entry),
        known: rest.known?.(call, row, entry) ?? {},
        submit: rows === none ? title(call) : call.words.t('desk.save'),
        back: { label: row.name, url: `/desk/products/${row.slug}` }
      }
    },
    ...(rest.isFree ? {} : { version: (call) => JSON.stringify(entryOf(call, rowOf(call))) }),
    command: (call, form) => rest.command(call, form, rowOf(call)),
    run: async (call, form) => {
      const row = rowOf(call)
      await rest.run(call, form, row)
      return `/desk/products/${row.slug}`
    }
  }
}
