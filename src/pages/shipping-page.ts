import type { App } from '../app.ts'
import { countryName } from '../platform/postal/countries.ts'
import { languageOf, wordsOf } from '../shop/settings/language.ts'
import type { Words } from '../shop/settings/language.ts'
import { setting } from '../shop/settings/settings.ts'
import { everywhereElse, listZones } from '../shop/shipping/zones.ts'
import type { ShippingMethod, ShippingZone } from '../shop/shipping/input.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { homeLinks, shippingPath, shopPage } from './shop-site.ts'

/** What shipping costs, by country and method, from the zones of the shop. Prices link to it (directive 98/6/EC, PAngV § 6). */
export const shippingPages: readonly PageRoute[] = [
  { method: 'GET', path: /^\/shipping-costs$/, name: shippingPath, handle: ({ app }: PageCall) => show(app) }
]

function show(app: App): PageReply {
  const words = wordsOf(app)
  const zones = listZones(app.db).map((zone) => ({
    countries: countriesOf(zone, words, languageOf(app)),
    methods: zone.methods.map((method) => methodView(method, words, setting(app.db, 'shop.currency')))
  }))
  const data = { zones, links: homeLinks(app) }
  return shopPage(app, { template: 'shipping-costs', title: words.t('shippingCosts'), data })
}

function countriesOf({ countries }: ShippingZone, { t, textLanguage }: Words, language: string): string {
  if (countries === everywhereElse) return t('shipping.elsewhere')
  const names = countries.map((code) => countryName(code, textLanguage))
  return names.toSorted((a, b) => a.localeCompare(b, language)).join(', ')
}

function methodView(
  { name, amountMinor, perKgMinor, freeFromMinor, maxWeightGrams, estimate, pickup }: ShippingMethod,
  { t, lang, money }: Words,
  currency: string
) {
  const kilograms = (grams: number): string =>
    new Intl.NumberFormat(lang, { style: 'unit', unit: 'kilogram', maximumFractionDigits: 3 }).format(grams / 1000)
  return {
    name,
    price: amountMinor === 0 && perKgMinor === null ? t('shipping.free') : money(amountMinor, currency),
    details: [
      ...(perKgMinor === null ? [] : [t('shipping.perKg', { amount: money(perKgMinor, currency) })]),
      ...(freeFromMinor === null ? [] : [t('shipping.freeFrom', { amount: money(freeFromMinor, currency) })]),
      ...(maxWeightGrams === null ? [] : [t('shipping.upTo', { weight: kilograms(maxWeightGrams) })]),
      ...(pickup ? [t('shipping.pickup')] : []),
      ...(estimate === null ? [] : [estimate])
    ]
  }
}
