import { keysOf } from '../../../src/platform/typed.ts'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import type { OrderItemRow } from '../../../src/shop/orders/find.ts'
import { payOrder } from '../../../src/shop/orders/transition.ts'
import { paymentAttempts } from '../../../src/shop/payments/schema.ts'
import type { SettingKey } from '../../../src/shop/settings/definitions.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { presetEu, setTaxRate } from '../../../src/shop/tax/rates.ts'
import { draft, line, makeProduct, place } from '../../shop/orders/support.ts'
import { emptyShop } from '../../support/temporary-shop.ts'
import type { TestDb } from '../../support/temporary-shop.ts'

/** The reduced rates of the shop in percent. The standard rates are those of the preset. */
export const reduced = { DE: 7, FR: 5.5, AT: 10 } as const

/** A shop in Germany that sells to consumers in the EU at the rates of their countries, with these settings besides. */
export function germanShop(settings: Partial<Record<SettingKey, string>> = {}): TestDb {
  const db = emptyShop()
  const all: Partial<Record<SettingKey, string>> = {
    'shop.country': 'DE',
    'shop.timeZone': 'Europe/Berlin',
    'shop.legal.vatId': 'DE136695976',
    'accounting.chart': 'skr03',
    ...settings
  }
  for (const key of keysOf(all)) setSetting(db, key, all[key] ?? '', 0)
  presetEu(db, { ownRate: false }, 0)
  for (const [country, percent] of Object.entries(reduced))
    setTaxRate(db, { country, region: '', class: 'reduced', rateMillionths: percent * 10_000, name: 'VAT' })
  return db
}

export type SoldLine = {
  priceMinor: number
  quantity?: number
  taxClass?: 'standard' | 'reduced'
  type?: 'physical' | 'digital'
  grants?: OrderItemRow['grants']
}
export type Sale = {
  /** Epoch milliseconds. */
  paidAt: number
  country: string
  name?: string
  vatId?: string | null
  lines: readonly SoldLine[]
  shippingMinor?: number
  gateway?: 'stripe' | 'manual'
  currency?: string
}

/** Places an order and marks it as paid. Returns its id. */
export function sell(db: Db, sale: Sale): number {
  const { paidAt, country, name = 'Ada', vatId = null, shippingMinor = 0, gateway = 'stripe' } = sale
  const items = sale.lines.map(({ priceMinor, quantity = 1, taxClass = 'standard', type = 'physical', grants = [] }) =>
    line(makeProduct(db, { taxClass, type }), { unitPriceMinor: priceMinor, quantity, taxClass, type, grants })
  )
  const address = { address1: 'Quay 7', postcode: '20457', city: 'Town', country }
  const method = { id: 'parcel', name: 'Parcel', estimate: null, pickup: false }
  const buyer = {
    contact: { firstName: name, lastName: 'Quill' },
    billingAddress: address,
    shippingAddress: address,
    vatId,
    currency: sale.currency ?? 'EUR',
    shipping: shippingMinor === 0 ? null : { method, amountMinor: shippingMinor, renewalMinor: null }
  }
  const order = place(db, draft(items, buyer), paidAt - 60_000)
  const { id, totalMinor, currency } = order
  const keys = { token: `token-${id}`, createKey: '', confirmKey: '' }
  const times = { settledAt: paidAt, createdAt: paidAt, updatedAt: paidAt }
  const attempt = { orderId: id, gateway, kind: gateway === 'manual' ? 'manual' : 'checkout_session', ...keys } as const
  db.orm
    .insert(paymentAttempts)
    .values({
      ...attempt,
      amountMinor: totalMinor,
      currency,
      livemode: false,
      objectId: `cs_${id}`,
      outcome: 'paid',
      ...times
    })
    .run()
  write(db, (tx) => payOrder(tx, id, { by: 'gateway', reason: 'paid' }, paidAt))
  return id
}

/** Noon UTC of a day. */
export const noonOf = (day: string): number => Date.parse(`${day}T12:00:00Z`)
