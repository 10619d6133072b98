import { afterAll, beforeAll, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { languages } from '../../src/platform/texts/languages.ts'
import type { Text } from '../../src/platform/texts/languages.ts'
import { findOrder } from '../../src/shop/orders/find.ts'
import { payOrder } from '../../src/shop/orders/transition.ts'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { shipOrder } from '../../src/shop/shipments/ship-order.ts'
import { mailsTo, nextMail } from '../support/mail-files.ts'
import { readPdf } from '../support/pdf-text.ts'
import { smallCatalog, startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  const zone = { zone: 'DE', countries: ['DE'], methods: [{ id: 'paket', name: 'Paket', amount: '4.90' }] }
  const tax = [{ country: 'DE', class: 'standard', ratePercent: 19, name: 'VAT' }]
  const seed = { ...smallCatalog, shipping: [zone], tax }
  shop = await startShop({ seed, env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' } })
  setSetting(shop.app.db, 'shop.name', 'Laternenladen', 0)
  setSetting(shop.app.db, 'storefront.enabled', 'true', 0)
  setSetting(shop.app.db, 'shop.languages', 'de', 0)
})
afterAll(() => shop.stop())

const parts = (text: Text): readonly string[] => (typeof text === 'string' ? [text] : Object.values(text))
const plain = (html: string): string =>
  html
    .replaceAll(/<(script|style)[^]*?<\/\1>/g, ' ')
    .replaceAll(/<[^>]+>/g, ' | ')
    .replaceAll('&#39;', "'")
    .replaceAll(/\s+/g, ' ')

/** The English texts of the table that a German page or email contains. */
function englishIn(content: string): string[] {
  const german = new Set(Object.values(languages.de).flatMap(parts))
  const shown = plain(content)
  return Object.values(languages.en)
    .flatMap(parts)
    .filter((text) => !german.has(text) && /[a-z]{4}/i.test(text))
    .filter((text) => {
      const longest = text.split(/\{\w+\}/).toSorted((a, b) => b.length - a.length)[0] ?? ''
      const piece = longest.trim()
      return /[a-z] [a-z]/i.test(piece) ? shown.includes(piece) : shown.split(' | ').includes(piece)
    })
}

it('a German buyer reads German on each page, in each email and in the invoice of a purchase', async () => {
  const visitor = shop.visitor({ accept: 'text/html', 'accept-language': 'de-DE,de;q=0.9,en;q=0.5' })
  const send = async (path: string, fields?: Record<string, string>) => {
    const url = `${shop.url}${path}`
    const response = fields === undefined ? await visitor.fetch(url) : await visitor.form(url, fields)
    return { status: response.status, location: response.headers.get('location'), text: await response.text() }
  }
  const seen: Record<string, string> = {}
  expect(englishIn(await (await fetch(`${shop.url}/`)).text()).length).toBeGreaterThan(5)
  const see = async (name: string, path: string, fields?: Record<string, string>) => {
    const page = await send(path, fields)
    if (page.text !== '') seen[name] = page.text
    return page
  }
  await see('front', '/')
  await see('product', '/products/lamp')
  await see('no page', '/nowhere')
  await see('login', '/login')
  await see('register', '/register')
  await see('empty cart', '/cart')
  await send('/cart', { slug: 'lamp', quantity: '2' })
  await see('cart', '/cart')
  const { location } = await send('/cart', { 'quantity-2': '2', pay: '1' })
  const payPath = new URL(location ?? '').pathname
  await see('payment', payPath)
  await see('payment with errors', payPath, { payment_method: 'manual', email: 'x', country: 'DE', address1: '' })
  const address = { country: 'DE', address1: 'Kai 7', postcode: '20457', city: 'Hamburg', shipping_method: 'paket' }
  await see('address', '/cart/address', { ...address, check: '1', postcode: '1' })
  const form = {
    ...address,
    payment_method: 'manual',
    email: 'lena@example.com',
    firstName: 'Lena',
    lastName: 'Brandt'
  }
  const ordered = await see('ordered', payPath, form)
  expect(ordered).toMatchObject({ status: 303 })
  const { db } = shop.app
  const order = findOrder(db, 1)
  const donePath = `/checkout/done/${order?.publicToken}`
  await see('waiting', donePath)
  expect(order).toMatchObject({ status: 'on-hold', language: 'de', totalMinor: 6490 })
  await nextMail(shop.dataDir, 'lena@example.com')
  const now = Date.now()
  write(db, (tx) => payOrder(tx, 1, { by: 'operator', reason: 'paid' }, now))
  shipOrder(db, 1, { carrier: 'DHL', tracking: '0034', url: null, items: null }, 'test', now)
  await see('shipped', donePath)
  const invoicePath = `/checkout/invoice/${order?.publicToken}`
  await see('invoice', invoicePath)
  const pdf = await fetch(`${shop.url}${invoicePath}?format=pdf`)
  const pdfText = readPdf(new Uint8Array(await pdf.arrayBuffer())).map(({ text }) => text)
  await refundOrder(shop.app, 1, {}, 'operator', { byHand: true })
  await see('refunded', donePath)
  await nextMail(shop.dataDir, 'lena@example.com', 4)
  const mails = mailsTo(shop.dataDir, 'lena@example.com')
  expect(mails.map(({ subject }) => subject).toSorted()).toEqual([
    'Erstattung für Ihre Bestellung 1 bei Laternenladen',
    'Ihre Bestellung 1 bei Laternenladen',
    'Ihre Bestellung 1 bei Laternenladen ist unterwegs',
    'Wir haben Ihre Bestellung 1 bei Laternenladen erhalten'
  ])
  for (const { subject, html, text } of mails) {
    seen[subject] = html
    expect(html).toContain('<html lang="de"')
    expect(englishIn(text.replaceAll('\n', ' | '))).toEqual([])
  }
  expect(mails.map(({ text }) => text).join()).toMatch(/64,90\u00a0€[\s\S]*inkl\. 19 % MwSt\.: 10,36\u00a0€/)
  expect(Object.fromEntries(Object.entries(seen).map(([name, html]) => [name, englishIn(html)]))).toEqual(
    Object.fromEntries(Object.keys(seen).map((name) => [name, []]))
  )
  expect(pdfText).toEqual(expect.arrayContaining(['Rechnung', 'Gesamtbetrag', '64,90\u00a0€']))
  expect(englishIn(` | ${pdfText.join(' | ')} | `)).toEqual([])
})
