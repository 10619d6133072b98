import { expect, it } from 'vitest'
import { eraseGuest } from '../../src/shop/customers/erase-person.ts'
import { shopstead } from '../support/command-line.ts'
import { mailsTo, nextMail } from '../support/mail-files.ts'
import { benefitCatalog } from './catalog.ts'
import { buy, dayMs, openShop, registerUser } from './shop.ts'
import type { Entry, JourneyShop } from './shop.ts'

const ada = 'ada@shop.example'

async function germanShop() {
  const shop = await openShop(benefitCatalog, {
    'shop.country': 'DE',
    'shop.languages': 'de',
    'storefront.enabled': 'true'
  })
  const guest = shop.visitor({ 'accept-language': 'de' })
  const send = async (path: string, fields: Record<string, string>) => {
    const response = await guest.form(`${shop.url}${path}`, fields)
    return { status: response.status, text: textOf(await response.text()) }
  }
  return { shop, guest, send }
}

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll(/\s+/g, ' ')
const tokenOf = (shop: JourneyShop, orderId: number): string =>
  String(shop.app.db.sqlite.prepare('SELECT public_token FROM orders WHERE id = ?').pluck().get(orderId))
const rows = (shop: JourneyShop) => shop.app.db.sqlite.prepare('SELECT * FROM declarations').all()
const run = async <T>(shop: JourneyShop, ...words: string[]) =>
  (await shopstead<T>(shop.dataDir, [...words, '--json'])).json
const warningsOf = async (shop: JourneyShop) =>
  (await run<{ warnings: { id: number; kind: string; message: string }[] }>(shop, 'orders', 'warnings')).warnings
const eventsOf = (shop: JourneyShop, type: string) =>
  shop.app.db.sqlite
    .prepare('SELECT payload FROM events WHERE type = ?')
    .pluck()
    .all(type)
    .map((each) => JSON.parse(String(each)) as Entry)

it('a guest withdraws by number and email in two steps, and gets the receipt with content and time', async () => {
  const { shop, guest, send } = await germanShop()
  await buy(shop, guest, 'mug', { quantity: 2, body: { customer: { email: ada } } })
  await nextMail(shop.dataDir, ada, 1)
  expect(await (await guest.fetch(`${shop.url}/`)).text()).toContain('<a href="/withdraw">Vertrag widerrufen</a>')
  const form = { contract: 'Nr. 1', name: 'Ada Quill', email: 'Ada@shop.example', message: '' }

  const wrong = await send('/withdraw', {
    ...form,
    name: '',
    email: 'ada',
    contract: 'www.spam.example',
    action: 'review'
  })
  expect(wrong.status).toBe(422)
  expect(wrong.text).toMatch(
    /Bitte lassen Sie Internetadressen weg\..*Bitte geben Sie Ihren Namen ein\..*E-Mail-Adresse wie/
  )

  const review = await send('/withdraw', { ...form, action: 'review' })
  expect(review.text).toMatch(
    /Hiermit widerrufe ich .* Bestellnummer Nr\. 1 Produkte die ganze Bestellung .* Widerruf bestätigen/
  )
  expect(rows(shop)).toEqual([])
  expect((await send('/withdraw', { ...form, action: 'change' })).text).toContain('Vertrag widerrufen')

  for (const _ of ['once', 'a second click']) {
    const done = await send('/withdraw', { ...form, action: 'confirm' })
    expect([done.status, done.text]).toEqual([
      200,
      expect.stringMatching(
        /Ihr Widerruf ist eingegangen .*2 × Mug Eingegangen 15\. Januar 2026 um 12:00 UTC .* an Ada@shop\.example/
      )
    ])
  }
  expect(rows(shop)).toHaveLength(1)
  const { subject, text } = await nextMail(shop.dataDir, 'Ada@shop.example', 1)
  expect(subject).toBe('Eingangsbestätigung: Ihr Widerruf zu Bestellung Nr. 1')
  expect(text).toMatch(/am 15\. Januar 2026 um 12:00 UTC erhalten[\s\S]*Produkte: 2 × Mug/)
  expect(eventsOf(shop, 'withdrawal.received')).toEqual([
    { declarationId: 1, orderId: 1, lines: [{ line: 1, name: 'Mug', quantity: 2 }] }
  ])
  expect(await warningsOf(shop)).toMatchObject([
    { kind: 'withdrawal', message: expect.stringContaining('shopstead orders refund 1"') }
  ])
  expect(await run(shop, 'orders', 'show', '1')).toMatchObject({
    declarations: [{ kind: 'withdrawal', name: 'Ada Quill' }]
  })
  await run(shop, 'orders', 'refund', '1', '--by-hand', '--yes')
  expect(await warningsOf(shop)).toEqual([])
})

it('the page of an order leads to its lines, and the buyer of the order hears of it whoever has the link', async () => {
  const { shop, guest, send } = await germanShop()
  const bought = {
    items: [
      { productId: 1, quantity: 1 },
      { productId: 12, quantity: 1 }
    ],
    customer: { email: ada }
  }
  const { orderId } = await buy(shop, guest, 'mug', { body: bought })
  const path = `/withdraw?order=${tokenOf(shop, orderId)}`
  const page = await (await guest.fetch(`${shop.url}/checkout/done/${tokenOf(shop, orderId)}`)).text()
  expect(page).toContain(`${path}">Vertrag widerrufen</a>`)
  const form = textOf(await (await guest.fetch(`${shop.url}${path}`)).text())
  expect(form).toMatch(/Was möchten Sie widerrufen\? .* Mug Product gift/)
  expect(form).not.toContain(ada)
  const sent = { name: 'Bo', email: 'bo@shop.example', message: 'zu klein', action: 'confirm' }
  expect(await send(path, sent)).toMatchObject({ status: 422, text: expect.stringContaining('mindestens ein Produkt') })
  const { id } = shop.app.db.sqlite.prepare('SELECT id FROM order_items LIMIT 1').get() as { id: number }
  expect((await send(path, { ...sent, [`line-${id}`]: 'on' })).text).toMatch(/1 × Mug .* Anmerkung zu klein/)
  expect((await nextMail(shop.dataDir, 'bo@shop.example', 1)).text).toContain('Anmerkung:\nzu klein')
  await expect
    .poll(() => mailsTo(shop.dataDir, ada).map(({ subject }) => subject))
    .toContainEqual('Eingangsbestätigung: Ihr Widerruf zu Bestellung 1')
  const { declarations } = await run<{ declarations: Entry[] }>(shop, 'orders', 'declarations', '--order', '1')
  expect(declarations).toMatchObject([{ lines: [{ line: 1, name: 'Mug', quantity: 1 }], message: 'zu klein' }])
  expect((await send('/withdraw?order=unknown', sent)).status).toBe(404)
})

it('a declaration that matches no order counts too, and says nothing about the order', async () => {
  const { shop, guest, send } = await germanShop()
  await buy(shop, guest, 'mug', { body: { customer: { email: ada } } })
  const form = { contract: '1', name: 'Eve', email: 'eve@shop.example', message: 'Secret words', action: 'confirm' }
  const done = await send('/withdraw', form)
  expect(done.text).toMatch(/Ihr Widerruf ist eingegangen/)
  expect(done.text).not.toContain('Mug')
  const { text } = await nextMail(shop.dataDir, 'eve@shop.example', 1)
  expect(text).toContain('keinen Vertrag gefunden')
  expect(text).not.toMatch(/Mug|Secret words/)
  expect(eventsOf(shop, 'withdrawal.received')).toEqual([{ declarationId: 1, orderId: null, lines: [] }])
  expect(await warningsOf(shop)).toMatchObject([{ message: expect.stringContaining('no order has this number') }])
  const sentTo = async (name: string) => (await send('/withdraw', { ...form, name })).status
  expect([await sentTo('E1'), await sentTo('E2'), await sentTo('E3'), await sentTo('E4')]).toEqual([200, 200, 200, 200])
  expect(await send('/withdraw', { ...form, name: 'E5' })).toMatchObject({
    status: 429,
    text: expect.stringContaining('Zu viele Erklärungen')
  })
})

it('the period ends some days after the goods left, and for files with the days of the law', async () => {
  const { shop } = await germanShop()
  const lena = await registerUser(shop, 'lena')
  const goods = await buy(shop, lena, 'mug')
  const song = await buy(shop, lena, 'song')
  const urlOf = async (id: number) =>
    (await lena.get<{ withdrawUrl: string | null }>(`/store/orders/${tokenOf(shop, id)}`)).data.withdrawUrl
  expect(await urlOf(goods.orderId)).toMatch(/\/withdraw\?order=/)
  expect(await (await lena.fetch(`${shop.url}/orders/${goods.orderId}`)).text()).toContain('>Withdraw from contract<')
  shop.clock.advance(15 * dayMs)
  expect([await urlOf(goods.orderId), await urlOf(song.orderId)]).toEqual([expect.stringMatching(/withdraw/), null])
  await run(shop, 'orders', 'ship', '1')
  shop.app.db.sqlite.prepare('UPDATE shipments SET shipped_at = ?').run(shop.clock.now())
  shop.clock.advance(27 * dayMs)
  expect(await urlOf(goods.orderId)).toMatch(/withdraw/)
  shop.clock.advance(dayMs)
  expect(await urlOf(goods.orderId)).toBeNull()
})

it('a subscription is cancelled without a login, ends with its period, and the receipt names the end', async () => {
  const { shop, guest, send } = await germanShop()
  await buy(shop, guest, 'almanac', { body: { customer: { email: ada } } })
  expect(await (await guest.fetch(`${shop.url}/`)).text()).toContain(
    '<a href="/cancel-contract">Verträge hier kündigen</a>'
  )
  const page = textOf(await (await guest.fetch(`${shop.url}/cancel-contract`)).text())
  expect(page).toContain('Jetzt kündigen')
  const form = { contract: '1', name: 'Ada', email: ada, wantedEnd: '', message: '', action: 'confirm' }
  expect(await send('/cancel-contract', { ...form, isForCause: 'on' })).toMatchObject({
    status: 422,
    text: expect.stringContaining('Bitte nennen Sie den wichtigen Grund.')
  })
  for (const _ of ['once', 'a second click'])
    expect(await send('/cancel-contract', form)).toMatchObject({
      status: 200,
      text: expect.stringMatching(/Ihre Kündigung ist eingegangen .* ordentlich .* Der Vertrag endet 15\. Februar 2026/)
    })
  expect(shop.app.sandbox?.ledger().subscriptions).toMatchObject([{ cancel_at_period_end: true }])
  await expect
    .poll(() => mailsTo(shop.dataDir, ada).find(({ subject }) => subject.startsWith('Eingangsbestätigung'))?.text)
    .toMatch(/am 15\. Januar 2026 um 12:00 UTC erhalten[\s\S]*Der Vertrag endet: 15\. Februar 2026/)
  expect(eventsOf(shop, 'cancellation.received')).toEqual([{ declarationId: 1, orderId: 1, isForCause: false }])
  expect(await warningsOf(shop)).toEqual([])
})

it('the operator is asked when the gateway does not answer, and about a cause, a later day and an unknown contract', async () => {
  const { shop, guest, send } = await germanShop()
  await buy(shop, guest, 'almanac', { body: { customer: { email: ada } } })
  const form = { contract: '1', name: 'Ada', email: ada, wantedEnd: '', message: '', action: 'confirm' }
  const later = await send('/cancel-contract', { ...form, wantedEnd: '2026-05-01' })
  expect(later.text).toMatch(/Gewünschtes Ende 2026-05-01 Eingegangen/)
  expect(shop.app.sandbox?.ledger().subscriptions).toMatchObject([{ cancel_at_period_end: false }])
  shop.app.sandbox?.addFault({ target: 'subscriptions.update', fault: '503', times: -1 })
  expect(await send('/cancel-contract', form)).toMatchObject({ status: 200 })
  await send('/cancel-contract', { ...form, isForCause: 'on', message: 'No almanac came.' })
  await send('/cancel-contract', { ...form, contract: '99' })
  expect((await warningsOf(shop)).map(({ message }) => message).toReversed()).toEqual([
    expect.stringContaining('End it on 2026-05-01'),
    expect.stringContaining('has not ended it yet. End it with the paid period'),
    expect.stringContaining('for cause'),
    expect.stringContaining('no running subscription')
  ])
})

it('an erased buyer is gone from the declarations, also from those that match no order', async () => {
  const { shop, guest, send } = await germanShop()
  await buy(shop, guest, 'mug', { body: { customer: { email: ada } } })
  const form = { contract: '1', name: 'Ada Quill', email: ada, message: 'too small', action: 'confirm' }
  await send('/withdraw', form)
  await send('/withdraw', { ...form, contract: '77' })
  eraseGuest(shop.app.db, ada)
  expect(JSON.stringify(rows(shop))).not.toMatch(/ada|Quill|small/i)
  expect(rows(shop)).toHaveLength(2)
})
