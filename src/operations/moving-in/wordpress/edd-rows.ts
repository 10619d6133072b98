import type { Row, WordPress } from './database.ts'
import { idsOf, text } from './values.ts'

/** An order of Easy Digital Downloads with what belongs to it. */
export type EddOrder = {
  row: Row
  items: Row[]
  /** Discounts, fees and tax rates. */
  adjustments: Row[]
  addresses: Row[]
  notes: Row[]
  transactions: Row[]
  /** Orders of the type `refund`, with their items. */
  refunds: { row: Row; items: Row[] }[]
}

/** Whether Easy Digital Downloads is, or was, in the WordPress, in version 3 or later. */
export function hasEdd(source: WordPress): boolean {
  return source.has('edd_orders') && source.has('edd_order_items')
}

/** How rows of this plugin are remembered, beside those of WooCommerce. */
export function eddId(id: string): string {
  return `edd ${id}`
}

/** How one of the prices of a product is remembered. */
export function priceId(productId: string, price: string): string {
  return eddId(`${productId} ${price}`)
}

/** Reads the orders in the order of their ids. */
export async function* readEddOrders(source: WordPress): AsyncGenerator<EddOrder[]> {
  const sql = "SELECT o.*, o.id AS id FROM {edd_orders} o WHERE o.type = 'sale' AND o.id > ?"
  for await (const rows of source.parts(sql, 200)) {
    const ids = idsOf(rows)
    const refunds = await source.rows(
      "SELECT * FROM {edd_orders} WHERE type = 'refund' AND status = 'complete' AND parent IN (?) ORDER BY id",
      [ids]
    )
    const items = await belonging(source, 'edd_order_items', 'order_id', [...ids, ...idsOf(refunds)])
    const ofOrder = (table: string) => belonging(source, table, 'object_id', ids, "AND object_type = 'order'")
    const [adjustments, notes, transactions, addresses] = [
      await ofOrder('edd_order_adjustments'),
      await ofOrder('edd_notes'),
      await ofOrder('edd_order_transactions'),
      await belonging(source, 'edd_order_addresses', 'order_id', ids)
    ]
    yield rows.map((row) => ({
      row,
      items: items(row),
      adjustments: adjustments(row),
      addresses: addresses(row),
      notes: notes(row),
      transactions: transactions(row),
      refunds: refunds
        .filter((refund) => text(refund, 'parent') === text(row, 'id'))
        .map((refund) => ({ row: refund, items: items(refund) }))
    }))
  }
}

/** The rows of a table by the order that they belong to. */
async function belonging(
  source: WordPress,
  table: string,
  owner: string,
  ids: readonly string[],
  where = ''
): Promise<(row: Row) => Row[]> {
  if (!source.has(table) || ids.length === 0) return () => []
  const rows = await source.rows(`SELECT * FROM {${table}} WHERE ${owner} IN (?) ${where} ORDER BY id`, [ids])
  const byOwner = Map.groupBy(rows, (row) => text(row, owner))
  return (row) => byOwner.get(text(row, 'id')) ?? []
}
