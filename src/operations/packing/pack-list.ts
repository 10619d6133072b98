import { assetPath } from '../../platform/package-root.ts'
import { openTemplates } from '../../platform/templates.ts'
import { toCsv, toCsvRows } from '../../platform/csv.ts'
import type { Db } from '../../platform/db/database.ts'
import { textsIn } from '../../platform/texts/languages.ts'
import { sellerOf, senderLines } from '../../shop/settings/seller.ts'
import type { OrderToPack } from '../../shop/shipments/pack-list.ts'

const columns = [
  'order',
  'pack_with',
  'paid_at',
  'line',
  'item',
  'sku',
  'quantity',
  'ship_to',
  'shipping_method',
  'weight_grams',
  'email',
  'phone',
  'notes'
]

/** What to pack as CSV, one row for each line of an order, a part for each order; the weight is that of all its pieces. */
export function* packCsv(orders: Iterable<OrderToPack>): Generator<string, void> {
  yield toCsv(columns, [])
  for (const {
    id,
    packWith,
    paidAt,
    shipTo,
    pickup,
    shippingMethod,
    weightGrams,
    email,
    phone,
    notes,
    lines
  } of orders) {
    const parcel = [
      `${pickup ? 'Pick-up: ' : ''}${shipTo.join(', ')}`,
      shippingMethod,
      weightGrams,
      email,
      phone,
      notes
    ]
    yield toCsvRows(
      lines.map(({ line, name, sku, quantity }) => [id, packWith, paidAt, line, name, sku, quantity, ...parcel])
    )
  }
}

/** One HTML page with a packing slip for each order, which prints each slip on paper of its own. It loads nothing. */
export function packingSlips(shopName: string, orders: readonly OrderToPack[]): string {
  return openTemplates(assetPath('operations', 'packing')).html('packing-slips.eta', { shopName, orders })
}

/** One HTML page with an address label of 100 × 150 mm for each parcel that is sent. It loads nothing. */
export function addressLabels(db: Db, orders: readonly OrderToPack[]): string {
  const known = new Set(orders.map(({ id }) => id))
  const parcels = orders.filter(({ packWith, pickup }) => !pickup && (packWith === null || !known.has(packWith)))
  const from = senderLines(sellerOf(db), textsIn('en'))
  return openTemplates(assetPath('operations', 'packing')).html('address-labels.eta', { from, orders: parcels })
}
