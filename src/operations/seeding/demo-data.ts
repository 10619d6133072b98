import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { packageRoot } from '../../platform/package-root.ts'
import type { ShopPlace } from '../../shop/settings/shop-days.ts'
import { readCatalogFile } from '../../shop/catalog/import/read-file.ts'
import type { CatalogFile } from '../../shop/catalog/import/format.ts'
import { orderStatuses } from '../../shop/orders/states.ts'

const optionalText = z.string().optional()

const person = z.strictObject({
  email: z.string(),
  displayName: z.string(),
  username: optionalText,
  firstName: optionalText,
  lastName: optionalText,
  roles: z.array(z.literal('administrator')).default([]),
  verified: z.boolean(),
  active: z.boolean(),
  marketingOptIn: z.boolean(),
  billingEmail: optionalText,
  billingPhone: optionalText,
  companyName: optionalText,
  registeredDaysAgo: z.number().nonnegative()
})
export type DemoPerson = z.output<typeof person>

const order = z.strictObject({
  daysAgo: z.number().nonnegative(),
  /** The email of an account; null for a guest, whose email is in `email`. */
  customer: z.string().nullable(),
  email: optionalText,
  items: z.array(z.strictObject({ slug: z.string(), sku: optionalText, quantity: z.int().positive() })).min(1),
  coupon: optionalText,
  ref: optionalText,
  campaign: optionalText,
  utm: z
    .strictObject({ source: optionalText, medium: optionalText, campaign: optionalText, content: optionalText })
    .optional(),
  state: z.enum(orderStatuses),
  /** A partial refund in major units; the order keeps its state. */
  refund: optionalText,
  billing: z.strictObject({
    firstName: z.string(),
    lastName: z.string(),
    company: optionalText,
    address1: z.string(),
    address2: optionalText,
    city: z.string(),
    state: optionalText,
    postcode: z.string(),
    country: z.string(),
    phone: optionalText
  }),
  notes: optionalText
})
export type DemoOrder = z.output<typeof order>

const settings = z.strictObject({
  'checkout.heldOrdersPerAddress': z.string(),
  'checkout.missingAddress': z.string(),
  'shop.country': z.string(),
  'shop.legal.name': z.string(),
  'shop.legal.street': z.string(),
  'shop.legal.postcode': z.string(),
  'shop.legal.city': z.string(),
  'shop.legal.vatId': z.string(),
  'tax.vies': z.string(),
  'storefront.tagline': z.string()
})

export type DemoData = {
  catalog: CatalogFile
  people: DemoPerson[]
  orders: DemoOrder[]
  settings: z.output<typeof settings>
}

/** The demo shop's data from the package's seeds/demo, with prices and days read in the shop's currency and time zone. */
export function readDemoData(place: ShopPlace): DemoData {
  return {
    catalog: {
      ...readCatalogFile(readFileSync(demoPath('catalog.json')), place).file,
      folder: demoPath('.')
    },
    people: z.array(person).parse(readJson('people.json')),
    orders: z.array(order).parse(readJson('orders.json')),
    settings: settings.parse(readJson('settings.json'))
  }
}

/** The path of a file or folder in the package's seeds/demo. */
export function demoPath(name: string): string {
  return join(packageRoot, 'seeds', 'demo', name)
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(demoPath(name), 'utf8'))
}
