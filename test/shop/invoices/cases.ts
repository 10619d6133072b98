import { keysOf } from '../../../src/platform/typed.ts'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { documentsOf } from '../../../src/shop/invoices/find.ts'
import type { InvoiceRow } from '../../../src/shop/invoices/find.ts'
import type { NewLine, NewOrder } from '../../../src/shop/orders/create-order.ts'
import { payOrder } from '../../../src/shop/orders/transition.ts'
import type { SettingKey } from '../../../src/shop/settings/definitions.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { presetEu, setTaxRate } from '../../../src/shop/tax/rates.ts'
import { draft, line, makeProduct, place } from '../orders/support.ts'

const seller = {
  'shop.country': 'DE',
  'shop.legal.name': 'Tin Lantern & Sons GmbH',
  'shop.legal.street': 'Quay 7',
  'shop.legal.postcode': '20457',
  'shop.legal.city': 'Hamburg',
  'shop.legal.vatId': 'DE136695976',
  'shop.legal.email': 'bill@lantern.example',
  'shop.legal.phone': '+49 40 555 0100',
  'shop.legal.register': 'HRB 12345, Amtsgericht Hamburg',
  'shop.timeZone': 'Europe/Berlin'
}

/** Makes the shop that of a German company, with the tax rates of the EU. */
export function makeGerman<T extends Db>(db: T, changes: Partial<Record<SettingKey, string>> = {}): T {
  const settings = { ...seller, ...changes }
  for (const key of keysOf(settings)) setSetting(db, key, settings[key] ?? '', 0)
  presetEu(db, { ownRate: false }, 0)
  setTaxRate(db, { region: '', name: null, country: 'DE', class: 'reduced', rateMillionths: 70_000 })
  return db
}

export const companies = {
  DE: { company: 'Hafen & Co', address1: 'Kai 1', postcode: '24103', city: 'Kiel', country: 'DE' },
  FR: { company: 'Le Phare', address1: 'Quai 2', postcode: '35400', city: 'Saint-Malo', country: 'FR' },
  CH: { company: 'Berg AG', address1: 'Gasse 3', postcode: '8001', city: 'Zürich', country: 'CH' }
} as const

export const frenchId = 'FR40303265045'

const parcel = (amountMinor: number) => ({
  method: { id: 'post', name: 'Post', estimate: null, pickup: false },
  amountMinor,
  renewalMinor: null
})

type Bought = Partial<NewOrder> & { to: keyof typeof companies; shippingMinor?: number }

/** Sells lines to a company, and returns the documents. */
export function sell(
  db: Db,
  lines: readonly Partial<NewLine>[],
  { to, shippingMinor = 0, ...changes }: Bought,
  now: number
): InvoiceRow[] {
  const items = lines.map((changed) => {
    const { type = 'physical', taxClass = 'standard' } = changed
    return line(makeProduct(db, { type, taxClass }), changed)
  })
  const contact = { firstName: 'Lena', lastName: 'Kai', companyName: companies[to].company }
  const order = place(
    db,
    draft(items, {
      contact,
      billingAddress: companies[to],
      ...(shippingMinor === 0 ? {} : { shipping: parcel(shippingMinor) }),
      ...changes
    }),
    now
  )
  write(db, (tx) => payOrder(tx, order.id, { by: 'gateway', reason: 'paid' }, now))
  return documentsOf(db, order.id)
}
