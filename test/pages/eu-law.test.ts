import { afterAll, beforeAll, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { applyCatalogFile } from '../../src/shop/catalog/apply-catalog.ts'
import { readCatalogFile } from '../../src/shop/catalog/import/read-file.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { addInterval } from '../../src/shop/benefits/period.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  const pass = { kind: 'subscription', interval: 'month' }
  shop = await startShop({
    env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' },
    seed: {
      products: [
        { slug: 'print', name: 'Print', price: '9.99', type: 'digital' },
        { slug: 'lamp', name: 'Lamp', price: '30.00' },
        { slug: 'pass', name: 'Pass', price: '5.00', type: 'digital', grants: [pass] }
      ],
      coupons: [{ code: 'TEN', percent: 10 }],
      shipping: [
        {
          zone: 'home',
          countries: ['DE', 'AT'],
          methods: [
            { id: 'parcel', name: 'Parcel', amount: '4.90', freeFrom: '50.00', perKg: '1.00', maxWeightGrams: 30_000 }
          ]
        },
        { zone: 'world', countries: '*', methods: [{ id: 'air', name: 'Air', amount: '15.00' }] }
      ],
      tax: [{ country: 'DE', class: 'standard', ratePercent: 19, name: 'VAT' }]
    }
  })
  setSetting(shop.app.db, 'shop.languages', 'de', 0)
})
afterAll(() => shop.stop())

/** What stands from the end of the form's fields to its button, and the button. */
async function endOfForm(productId: number, headers: Record<string, string> = {}, body: object = {}): Promise<string> {
  const visitor = shop.visitor(headers)
  const { data } = await visitor.post<{ checkoutUrl: string }>('/store/checkout-session', {
    items: [{ productId, quantity: 1 }],
    ...body
  })
  const page = await visitor.fetch(`${shop.url}${new URL(data.checkoutUrl).pathname}`)
  const html = await page.text()
  return html.slice(html.lastIndexOf('payment_method'), html.indexOf('</form>', html.lastIndexOf('payment_method')))
}

it('a shop outside the EU keeps its button', async () => {
  expect(await endOfForm(1)).toMatch(/>Order for €9\.99</)
  expect(await endOfForm(1)).not.toContain('class="due"')
})

it('in the EU the button says that it obliges to pay, with the amount directly above it', async () => {
  setSetting(shop.app.db, 'shop.country', 'DE', 0)
  expect(await endOfForm(1)).toMatch(/<p class="due">You pay €9\.99 now\.<\/p>\s*<button type="submit">Order and pay</)
  expect(await endOfForm(1, { 'accept-language': 'de' })).toMatch(
    /<p class="due">Sie zahlen jetzt 9,99\u00a0€\.<\/p>\s*<button type="submit">Zahlungspflichtig bestellen</
  )
  setSetting(shop.app.db, 'law.eu', 'off', 0)
  expect(await endOfForm(1)).toContain('>Order for €9.99<')
  setSetting(shop.app.db, 'law.eu', 'on', 0)
})

it('a subscription says what each period costs after the first, and its minimum term', async () => {
  const body = { couponCode: 'TEN', customer: { email: 'ada@example.com' } }
  expect(await endOfForm(3, {}, body)).toMatch(
    /You pay €4\.50 now\.[\s\S]*Then €5\.00 each month from \d+ \S+ \d{4}, until you end it\. The minimum term is one month\.<\/p>\s*<button/
  )
})

it('a month after the last day of January is the last day of February', () => {
  expect(new Date(addInterval(Date.UTC(2027, 0, 31, 12), 'month')).toISOString()).toBe('2027-02-28T12:00:00.000Z')
  expect(new Date(addInterval(Date.UTC(2028, 1, 29), 'year')).toISOString()).toBe('2029-02-28T00:00:00.000Z')
})

it('prices say that they include the tax and not the shipping, with a link to its costs from the zones', async () => {
  setSetting(shop.app.db, 'storefront.enabled', 'true', 0)
  const read = async (path: string, language = 'en') =>
    (await (await shop.visitor({ 'accept-language': language }).fetch(`${shop.url}${path}`)).text())
      .replaceAll(/<\/?span[^>]*>/g, '')
      .replaceAll(/\s+/g, ' ')
  expect(await read('/products/lamp', 'de')).toContain(
    '<p class="hint">inkl. MwSt., <a href="/shipping-costs">zzgl. Versand</a></p>'
  )
  expect(await read('/products/print')).toContain('<p class="hint">incl. VAT</p>')
  expect(await read('/')).toMatch(
    /incl\. VAT, <a href="\/shipping-costs">plus shipping<\/a>[\s\S]*<footer[\s\S]*Shipping costs</
  )
  const costs = (await read('/shipping-costs', 'de')).replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
  expect(costs).toContain(
    'Deutschland, Österreich Parcel : 4,90 €. Zuzüglich 1,00 € je Kilogramm. Kostenlos ab einem Bestellwert von 50,00 €. Bis 30 kg Alle anderen Länder Air : 15,00 €'
  )
  setSetting(shop.app.db, 'law.eu', 'off', 0)
  expect(await read('/products/lamp')).not.toContain('shipping-costs')
})

it('a sale names the lowest price of the 30 days before it, and a price that of a litre', async () => {
  setSetting(shop.app.db, 'law.eu', 'on', 0)
  const lower = { slug: 'lamp', name: 'Lamp', price: '30.00', salePrice: '24.00', unitMeasure: '750 ml' }
  const { file } = readCatalogFile(JSON.stringify({ products: [lower] }), { currency: 'EUR', timeZone: 'UTC' })
  write(shop.app.db, (tx) => applyCatalogFile(tx, file, { keepStock: false }, shop.app.clock.now()))
  const until = shop.app.clock.now() - 60_000
  shop.app.db.sqlite.prepare('UPDATE price_history SET price_minor = 2600, until = ?').run(until)
  shop.app.db.sqlite.prepare('UPDATE products SET created_at = created_at - 9000000').run()
  const read = async (path: string) =>
    (await (await shop.visitor({ 'accept-language': 'de' }).fetch(`${shop.url}${path}`)).text())
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ')
  const prices = 'statt 30,00 € 32,00 €/l Niedrigster Preis der letzten 30 Tage: 26,00 €'
  expect(await read('/products/lamp')).toContain(prices)
  expect(await read('/')).toContain(prices)
  setSetting(shop.app.db, 'law.eu', 'off', 0)
  expect(await read('/')).not.toContain('32,00')
})
