import type { Row, WordPress } from './database.ts'
import { isRecord } from '../../../platform/typed.ts'
import { addressKeys, idsOf, json, numberOf, readMeta, scalar, text } from './values.ts'
import type { Meta } from './values.ts'

/** An item of an order: a line, a tax, the shipping, a fee or a coupon. */
export type OrderItem = { id: string; type: string; name: string; meta: Meta }
export type OrderNote = { text: string; at: string; toCustomer: boolean }
/** A refund, with its items. */
export type SourceRefund = { id: string; createdAt: string; meta: Meta; items: OrderItem[] }

/** A parcel; `lines` names the items of the order. */
export type SourceParcel = {
  carrier: string
  tracking: string
  url: string
  at: string
  lines: { sourceId: string; quantity: number }[]
}

/** An order, whichever tables WooCommerce keeps it in. `meta` has the names of the older tables (`_billing_city`). */
export type SourceOrder = {
  id: string
  status: string
  createdAt: string
  updatedAt: string
  note: string
  meta: Meta
  items: OrderItem[]
  refunds: SourceRefund[]
  notes: OrderNote[]
  parcels: SourceParcel[]
}

type Head = Omit<SourceOrder, 'items' | 'refunds' | 'notes' | 'parcels'> & { parent: string }
type Storage = {
  orders: (type: string) => AsyncGenerator<Head[]>
  refundsOf: (orderIds: readonly string[]) => Promise<Head[]>
}

const pageRows = 50

/** Reads the orders, or the subscriptions, with their items, refunds and notes, in the order of their ids. */
export async function* readOrders(
  source: WordPress,
  type: 'shop_order' | 'shop_subscription' = 'shop_order'
): AsyncGenerator<SourceOrder[]> {
  const isHpos = source.has('wc_orders') && (await source.option('woocommerce_custom_orders_table_enabled')) === 'yes'
  const storage = isHpos ? ownTables(source) : posts(source)
  for await (const heads of storage.orders(type)) {
    const ids = heads.map(({ id }) => id)
    const refunds = Map.groupBy(await storage.refundsOf(ids), ({ parent }) => parent)
    const itemsOf = await readItems(source, [...ids, ...[...refunds.values()].flat().map(({ id }) => id)])
    const notesOf = await readNotes(source, ids)
    const parcelsOf = await readParcels(source, ids)
    yield heads.map((head) => ({
      ...head,
      items: itemsOf(head.id),
      refunds: (refunds.get(head.id) ?? []).map((refund) => ({ ...refund, items: itemsOf(refund.id) })),
      notes: notesOf(head.id),
      parcels: parcelsOf(head.id)
    }))
  }
}

/** Orders as posts, as WooCommerce kept them until version 8. */
function posts(source: WordPress): Storage {
  const columns = 'ID AS id, post_parent, post_status, post_date_gmt, post_modified_gmt, post_excerpt'
  const withMeta = async (rows: Row[]): Promise<Head[]> => {
    const ids = idsOf(rows)
    const metaOf = await readMeta(source, { table: 'postmeta', owner: 'post_id' }, ids)
    return rows.map((row) => ({
      id: text(row, 'id'),
      parent: text(row, 'post_parent'),
      status: text(row, 'post_status'),
      createdAt: text(row, 'post_date_gmt'),
      updatedAt: text(row, 'post_modified_gmt'),
      note: text(row, 'post_excerpt'),
      meta: metaOf(text(row, 'id'))
    }))
  }
  return {
    async *orders(type) {
      const sql = `SELECT ${columns} FROM {posts} WHERE post_type = '${type}' AND post_status <> 'auto-draft' AND ID > ?`
      for await (const rows of source.parts(sql, pageRows)) yield await withMeta(rows)
    },
    refundsOf: async (ids) => {
      const sql = `SELECT ${columns} FROM {posts} WHERE post_type = 'shop_order_refund' AND post_parent IN (?) ORDER BY ID`
      return ids.length === 0 ? [] : withMeta(await source.rows(sql, [ids]))
    }
  }
}

/** Orders in tables of their own (HPOS), the default since WooCommerce 8.2. */
function ownTables(source: WordPress): Storage {
  const columns = `o.id, o.parent_order_id, o.status, o.currency, o.total_amount, o.tax_amount, o.customer_id,
    o.billing_email, o.date_created_gmt, o.date_updated_gmt, o.payment_method, o.payment_method_title, o.transaction_id,
    o.customer_note, p.created_via, p.prices_include_tax, p.date_paid_gmt, p.date_completed_gmt, p.shipping_total_amount,
    p.shipping_tax_amount, p.discount_total_amount, p.discount_tax_amount`
  const tables = '{wc_orders} o LEFT JOIN {wc_order_operational_data} p ON p.order_id = o.id'
  const withMeta = async (rows: Row[]): Promise<Head[]> => {
    const ids = idsOf(rows)
    const metaOf = await readMeta(source, { table: 'wc_orders_meta', owner: 'order_id', order: 'id' }, ids)
    const addressesOf = await readAddresses(source, ids)
    return rows.map((row) => {
      const id = text(row, 'id')
      return {
        id,
        parent: text(row, 'parent_order_id'),
        status: text(row, 'status'),
        createdAt: text(row, 'date_created_gmt'),
        updatedAt: text(row, 'date_updated_gmt'),
        note: text(row, 'customer_note'),
        meta: new Map([...metaOf(id), ...addressesOf(id), ...columnsAsMeta(row)])
      }
    })
  }
  return {
    async *orders(type) {
      const sql = `SELECT ${columns} FROM ${tables} WHERE o.type = '${type}' AND o.status <> 'auto-draft' AND o.id > ?`
      for await (const rows of source.parts(sql, pageRows)) yield await withMeta(rows)
    },
    refundsOf: async (ids) => {
      const sql = `SELECT ${columns} FROM ${tables} WHERE o.type = 'shop_order_refund' AND o.parent_order_id IN (?) ORDER BY o.id`
      return ids.length === 0 ? [] : withMeta(await source.rows(sql, [ids]))
    }
  }
}

/** The columns of the tables of orders by the names that they have as meta values. */
function columnsAsMeta(row: Row): [string, string][] {
  const names = {
    _order_currency: 'currency',
    _order_total: 'total_amount',
    _order_tax: 'tax_amount',
    _order_shipping: 'shipping_total_amount',
    _order_shipping_tax: 'shipping_tax_amount',
    _cart_discount: 'discount_total_amount',
    _cart_discount_tax: 'discount_tax_amount',
    _customer_user: 'customer_id',
    _billing_email: 'billing_email',
    _payment_method: 'payment_method',
    _payment_method_title: 'payment_method_title',
    _transaction_id: 'transaction_id',
    _created_via: 'created_via',
    _date_paid_gmt: 'date_paid_gmt'
  }
  return [
    ...Object.entries(names).map(([name, column]): [string, string] => [name, text(row, column)]),
    ['_prices_include_tax', text(row, 'prices_include_tax') === '1' ? 'yes' : 'no']
  ]
}

const addressColumns = [...addressKeys, 'email', 'phone']

async function readAddresses(source: WordPress, ids: readonly string[]): Promise<(id: string) => [string, string][]> {
  if (ids.length === 0) return () => []
  const rows = await source.rows('SELECT * FROM {wc_order_addresses} WHERE order_id IN (?) ORDER BY id', [ids])
  const byOrder = Map.groupBy(rows, (row) => text(row, 'order_id'))
  return (id) =>
    (byOrder.get(id) ?? []).flatMap((row) =>
      addressColumns.map((column): [string, string] => [`_${text(row, 'address_type')}_${column}`, text(row, column)])
    )
}

async function readItems(source: WordPress, orderIds: readonly string[]): Promise<(id: string) => OrderItem[]> {
  if (orderIds.length === 0) return () => []
  const rows = await source.rows(
    `SELECT order_item_id AS id, order_item_name, order_item_type, order_id FROM {woocommerce_order_items}
     WHERE order_id IN (?) ORDER BY order_item_id`,
    [orderIds]
  )
  const table = { table: 'woocommerce_order_itemmeta', owner: 'order_item_id' }
  const metaOf = await readMeta(source, table, idsOf(rows))
  const byOrder = Map.groupBy(rows, (row) => text(row, 'order_id'))
  return (orderId) =>
    (byOrder.get(orderId) ?? []).map((row) => ({
      id: text(row, 'id'),
      type: text(row, 'order_item_type'),
      name: text(row, 'order_item_name'),
      meta: metaOf(text(row, 'id'))
    }))
}

async function readNotes(source: WordPress, orderIds: readonly string[]): Promise<(id: string) => OrderNote[]> {
  if (orderIds.length === 0) return () => []
  const rows = await source.rows(
    `SELECT c.comment_post_ID AS order_id, c.comment_content, c.comment_date_gmt,
       EXISTS (SELECT 1 FROM {commentmeta} m WHERE m.comment_id = c.comment_ID AND m.meta_key = 'is_customer_note'
         AND m.meta_value = '1') AS to_customer
     FROM {comments} c WHERE c.comment_type = 'order_note' AND c.comment_post_ID IN (?) ORDER BY c.comment_ID`,
    [orderIds]
  )
  const byOrder = Map.groupBy(rows, (row) => text(row, 'order_id'))
  return (orderId) =>
    (byOrder.get(orderId) ?? []).map((row) => ({
      text: text(row, 'comment_content'),
      at: text(row, 'comment_date_gmt'),
      toCustomer: text(row, 'to_customer') === '1'
    }))
}

/** The parcels of WooCommerce 10 (its fulfillments), which were handed over and not deleted. */
async function readParcels(source: WordPress, orderIds: readonly string[]): Promise<(id: string) => SourceParcel[]> {
  if (orderIds.length === 0 || !source.has('wc_order_fulfillments')) return () => []
  const rows = await source.rows(
    `SELECT fulfillment_id AS id, entity_id AS order_id, date_updated FROM {wc_order_fulfillments}
     WHERE is_fulfilled = 1 AND date_deleted IS NULL AND entity_type LIKE '%Order' AND entity_id IN (?) ORDER BY fulfillment_id`,
    [orderIds]
  )
  const table = { table: 'wc_order_fulfillment_meta', owner: 'fulfillment_id' }
  const metaOf = await readMeta(source, table, idsOf(rows))
  const byOrder = Map.groupBy(rows, (row) => text(row, 'order_id'))
  return (orderId) =>
    (byOrder.get(orderId) ?? []).map((row) => {
      const value = (key: string): string => scalar(json(metaOf(text(row, 'id')).get(key) ?? ''))
      const lines = json(metaOf(text(row, 'id')).get('_items') ?? '')
      return {
        carrier: value('_shipment_provider'),
        tracking: value('_tracking_number'),
        url: value('_tracking_url'),
        at: value('_date_fulfilled') || text(row, 'date_updated'),
        lines: (Array.isArray(lines) ? lines : []).filter(isRecord).map((line) => ({
          sourceId: scalar(line['item_id']),
          quantity: Math.trunc(numberOf(scalar(line['qty'])))
        }))
      }
    })
}
