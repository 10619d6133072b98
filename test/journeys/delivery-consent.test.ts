import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { recordDeliveryConsent } from '../../src/shop/orders/buyer.ts'
import { shopstead } from '../support/command-line.ts'
import { nextMail } from '../support/mail-files.ts'
import { benefitCatalog } from './catalog.ts'
import { applySettings, handOff, openShop, order, pay, productId, withLoopback } from './shop.ts'
import type { Entry, JourneyShop } from './shop.ts'

const ada = 'ada@shop.example'

async function germanShop() {
  const shop = await openShop(benefitCatalog, {
    'shop.country': 'DE',
    'shop.languages': 'de',
    'storefront.enabled': 'true'
  })
  mkdirSync(join(shop.dataDir, 'downloads'))
  writeFileSync(join(shop.dataDir, 'downloads', 'song.txt'), 'la la')
  return { shop, guest: shop.visitor({ 'accept-language': 'de' }) }
}

const stored = (shop: JourneyShop, id: number) =>
  shop.app.db.sqlite
    .prepare('SELECT public_token AS token, delivery_consent_at AS consent FROM orders WHERE id = ?')
    .get(id) as {
    token: string
    consent: number | null
  }
const textOf = (html: string): string => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')

it('the payment page of files asks for the consent, and order, receipt and invoice record it', async () => {
  const { shop, guest } = await germanShop()
  const bought = await order(shop, guest, 'song', { body: { customer: { email: ada } } })
  // The gateway's page is not shown before the consent.
  expect(bought.url).not.toContain('/sandbox/')
  const page = await (await guest.fetch(bought.url)).text()
  expect(page).toMatch(
    /name="immediateDelivery" required> <span>Ich stimme zu[^<]*Widerrufsrecht[\s\S]*Zahlungspflichtig bestellen/
  )
  await guest.form(bought.url, { payment_method: 'card' })
  expect(textOf(await (await guest.fetch(bought.url)).text())).toContain('Bitte stimmen Sie zu')
  expect(stored(shop, bought.orderId).consent).toBeNull()

  const sent = await guest.form(bought.url, { payment_method: 'card', immediateDelivery: 'on' })
  await pay(guest, { ...bought, url: withLoopback(sent.headers.get('location') ?? '') })
  const { token, consent } = stored(shop, bought.orderId)
  expect(consent).toBe(shop.clock.now())
  // The first time counts, for whoever asks again.
  write(shop.app.db, (tx) => recordDeliveryConsent(tx, bought.orderId, shop.clock.now() + 1))
  expect(stored(shop, bought.orderId).consent).toBe(consent)
  const { data } = await guest.get<{ order: Entry; withdrawUrl: string | null }>(`/store/orders/${token}`)
  expect([data.order['deliveryConsentAt'], data.withdrawUrl]).toEqual(['2026-01-15T12:00:00.000Z', null])
  const words = 'zugestimmt, dass die Dateien sofort geliefert werden'
  expect((await nextMail(shop.dataDir, ada, 1)).text).toContain(`Sie haben am 15. Januar 2026 um 12:00 UTC ${words}`)
  const invoice = await (await guest.fetch(`${shop.url}/checkout/invoice/${token}`)).text()
  expect(textOf(invoice)).toContain(`Sie haben am 15. Januar 2026 ${words}`)
  const shown = await shopstead(shop.dataDir, ['orders', 'show', String(bought.orderId)])
  expect(shown.stdout).toContain('agreed to the delivery of files at once')
})

it('the cart asks before it orders files', async () => {
  const { shop, guest } = await germanShop()
  await guest.form(`${shop.url}/cart`, { slug: 'song', quantity: '1' })
  const cart = await (await guest.fetch(`${shop.url}/cart`)).text()
  expect(cart).toMatch(/name="immediateDelivery"[\s\S]*data-pay/)
  const total = /name="total" value="([^"]+)"/.exec(cart)?.[1] ?? ''
  const quantity = { [`quantity-${productId(shop, 'song')}`]: '1' }
  const fields = { strategy: 'redirect_to_store', pay: '1', email: ada, total, ...quantity }
  const refused = await guest.form(`${shop.url}/cart`, fields)
  expect([refused.status, textOf(await refused.text())]).toEqual([422, expect.stringContaining('Bitte stimmen Sie zu')])
  const taken = await guest.form(`${shop.url}/cart`, { ...fields, immediateDelivery: 'on' })
  expect([taken.status, taken.headers.get('location')]).toEqual([303, expect.stringContaining('/sandbox/')])
  expect(stored(shop, 1).consent).toBe(shop.clock.now())
})

it('without the consent the right to withdraw stays, and goods and shops outside of the EU are not asked', async () => {
  const { shop, guest } = await germanShop()
  const { data } = await handOff(shop, guest, 'song', { body: { customer: { email: ada } } })
  const read = async (id: number) =>
    (await guest.get<{ withdrawUrl: string | null }>(`/store/orders/${stored(shop, id).token}`)).data.withdrawUrl
  expect(await read(data.orderId)).toMatch(/\/withdraw\?/)
  const asks = async (slug: string) => {
    const items = [{ productId: productId(shop, slug), quantity: 1 }]
    const body = { items, immediateDelivery: true }
    return (await guest.post<{ asksDeliveryConsent: boolean }>('/store/quote', body)).data.asksDeliveryConsent
  }
  expect([await asks('song'), await asks('mug'), await asks('guild')]).toEqual([true, false, false])
  const agreed = await handOff(shop, guest, 'mug', { body: { customer: { email: ada }, immediateDelivery: true } })
  expect(stored(shop, agreed.data.orderId).consent).toBeNull()
  applySettings(shop, { 'law.eu': 'off' })
  expect(await asks('song')).toBe(false)
})
