import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { eraseGuest } from '../../src/shop/customers/erase-person.ts'
import { showOrder } from '../../src/shop/customers/admin-orders.ts'
import { issueByOperator } from '../../src/shop/gift-cards/issue.ts'
import { documentsOf } from '../../src/shop/invoices/find.ts'
import { journalOf } from '../../src/shop/invoices/journal.ts'
import { getOrderByPublicToken } from '../../src/shop/orders/find.ts'
import { insertRenewal } from '../../src/shop/orders/renewal-order.ts'
import { taxesOfOrder } from '../../src/shop/orders/totals.ts'
import { markPaid } from '../../src/shop/payments/attempts.ts'
import { openWarnings } from '../../src/shop/payments/warnings.ts'
import { presetEu } from '../../src/shop/tax/rates.ts'
import { purgeVatChecks } from '../../src/shop/tax/vat-checks.ts'
import { emailKey } from '../../src/platform/text.ts'
import { set } from '../api/checkout-support.ts'
import { testClock } from '../support/shop-context.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

const registered = 'ATU12345675'
const unregistered = 'ATU10000005'
const elsewhere = 'ATU20000004'
const down = 'ATU30000003'
const busy = 'ATU40000002'
const slow = 'ATU50000001'
const broken = 'ATU60000000'

const vienna = { address1: 'Ring 1', city: 'Wien', postcode: '1010', country: 'AT' }
const clock = testClock()

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({
    env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual', SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1' },
    overrides: { clock },
    seed: { products: [{ slug: 'song', name: 'Song', price: '12.00', type: 'digital' }] }
  })
  presetEu(shop.app.db, { ownRate: false }, 0)
})
afterAll(() => shop.stop())
beforeEach(() => {
  clock.advance(2 * 24 * 60 * 60_000)
  set(shop, {
    'shop.country': 'DE',
    'shop.legal.vatId': 'DE123456788',
    'tax.vies': 'on',
    'tax.viesUnconfirmed': 'charge',
    'tax.viesSeconds': '1',
    'limits.vat_check_ip': '30/3600'
  })
})

const items = [{ productId: 1, quantity: 1 }]
const bodyOf = (vatId: string, companyName = 'Ring Verlag GmbH', email = 'a@b.example') => ({
  items,
  customer: { email, vatId, companyName },
  billingAddress: vienna
})

type Quote = { total: number; vatId: unknown }
const quote = async (vatId: string, companyName?: string) =>
  (await shop.visitor().post<Quote>('/store/quote', bodyOf(vatId, companyName))).data

async function order(vatId: string, { companyName, email }: { companyName?: string; email?: string } = {}) {
  const buyer = shop.visitor()
  const body = bodyOf(vatId, companyName, email)
  const { data } = await buyer.post<{ checkoutUrl: string; orderToken: string }>('/store/checkout-session', body)
  const url = data.checkoutUrl.replace('//localhost:', '//127.0.0.1:')
  const row = () => getOrderByPublicToken(shop.app.db, data.orderToken)
  const pay = () => markPaid(shop.app.db, row().id, 'operator', clock.now())
  const send = async (fields: Record<string, string>) => {
    expect((await buyer.form(url, { payment_method: 'manual', ...fields })).status).toBe(303)
    return (await buyer.get(url)).text
  }
  return { row, pay, send, id: row().id, page: async () => (await buyer.get(url)).text }
}

const eventsOf = (orderId: number) =>
  shop.app.db.sqlite
    .prepare(
      "SELECT payload FROM events WHERE type = 'order.vat_id_checked' AND json_extract(payload, '$.orderId') = ?"
    )
    .pluck()
    .all(orderId)
    .map((payload) => JSON.parse(String(payload)) as Record<string, unknown>)

const warningsOf = (orderId: number) =>
  openWarnings(shop.app.db, 'vat_id').flatMap((warning) => (warning.orderId === orderId ? [warning.message] : []))

describe('a VAT id that VIES confirms', () => {
  it('takes the tax off, and the proof is on the order, the invoice, the journal and the event', async () => {
    expect(await quote(registered)).toMatchObject({ total: 10, vatId: { outcome: 'confirmed', accepted: true } })
    const { row, pay, id } = await order(registered)
    const consultation = `WAPIAAAA${registered}`
    expect(row()).toMatchObject({ totalMinor: 1000, vatCheck: { outcome: 'confirmed', accepted: true, consultation } })
    pay()
    const at = new Date(clock.now()).toISOString()
    expect(showOrder(shop.app.db, id).order.vatCheck).toMatchObject({ consultation, checkedAt: at })
    const proof = { outcome: 'confirmed', consultation, day: at.slice(0, 10) }
    expect(documentsOf(shop.app.db, id)[0]?.buyer?.vatCheck).toEqual(proof)
    const days = { from: '2026-01-01', to: '2027-12-31' }
    expect(journalOf(shop.app.db, days).filter(({ orderId }) => orderId === id)).toMatchObject([
      { vatId: registered, vatCheck: proof, category: 'reverse_charge' }
    ])
    expect(eventsOf(id)).toEqual([{ orderId: id, outcome: 'confirmed', accepted: true, consultation, checkedAt: at }])
    expect(warningsOf(id)).toEqual([])
  })

  it('is asked about once a day', async () => {
    await quote(registered)
    const kept = () =>
      shop.app.db.sqlite.prepare('SELECT checked_at FROM vat_checks WHERE vat_id = ?').pluck().get(registered)
    const first = kept()
    clock.advance(23 * 60 * 60_000)
    await quote(registered)
    expect(kept()).toBe(first)
    clock.advance(2 * 60 * 60_000)
    await quote(registered)
    expect(kept()).toBe(clock.now())
    expect(write(shop.app.db, (tx) => purgeVatChecks(tx, clock.now() + 26 * 60 * 60_000, 100))).toBeGreaterThan(0)
    expect(kept()).toBeUndefined()
  })
})

describe('a VAT id that VIES does not confirm', () => {
  it.each([
    [unregistered, 'not_registered'],
    [elsewhere, 'other_name'],
    [down, 'unavailable'],
    [busy, 'unavailable'],
    [slow, 'unavailable'],
    [broken, 'unavailable']
  ])('leaves the tax on the sale: %s is %s', async (vatId, outcome) => {
    expect(await quote(vatId)).toMatchObject({ total: 12, vatId: { outcome, accepted: false } })
    const { row, pay, page, id } = await order(vatId)
    expect(row()).toMatchObject({ totalMinor: 1200, vatCheck: { outcome, accepted: false } })
    expect(await page()).toContain('so the price includes tax')
    pay()
    expect(warningsOf(id)).toEqual([])
    expect(taxesOfOrder(shop.app.db, id)).toMatchObject([{ category: 'taxed', country: 'AT' }])
    // What is added to a renewal must have the tax, too.
    const charge = { amountMinor: 1200, currency: 'EUR', by: 'webhook' }
    const renewal = write(shop.app.db, (tx) => insertRenewal(tx, row(), charge, clock.now()))
    expect(renewal.vatCheck).toEqual(row().vatCheck)
  })

  it('is flagged in the warnings when the setting says so, but not an id that is not registered', async () => {
    set(shop, { 'tax.viesUnconfirmed': 'flag' })
    expect(await quote(unregistered)).toMatchObject({ total: 12 })
    for (const [vatId, why] of [
      [down, 'VIES did not confirm it'],
      [elsewhere, 'VIES has another name for it']
    ] as const) {
      const { row, pay, id } = await order(vatId)
      expect(row()).toMatchObject({ totalMinor: 1000, vatCheck: { accepted: true } })
      expect(warningsOf(id)).toEqual([])
      pay()
      expect(warningsOf(id)).toEqual([expect.stringContaining(`for the VAT id ${vatId}, but ${why}.`)])
      expect(eventsOf(id)).toMatchObject([{ accepted: true, consultation: vatId === down ? null : expect.any(String) }])
    }
  })

  it('is flagged in the warnings when a gift card pays', async () => {
    set(shop, { 'tax.viesUnconfirmed': 'flag' })
    const { code } = issueByOperator(shop.app.db, { amount: 50, reason: 'test' }, clock.now())
    const body = { ...bodyOf(down), giftCards: [code] }
    const { data } = await shop.visitor().post<{ orderToken: string }>('/store/checkout-session', body)
    const order = getOrderByPublicToken(shop.app.db, data.orderToken)
    expect(order).toMatchObject({ totalMinor: 1000, status: 'completed' })
    expect(warningsOf(order.id)).toEqual([expect.stringContaining('VIES did not confirm it')])
  })

  it('is not asked about by a client that asks for many', async () => {
    const other = { 'x-forwarded-for': '192.0.2.77' }
    const ask = async (vatId: string) => (await shop.visitor(other).post<Quote>('/store/quote', bodyOf(vatId))).data
    set(shop, { 'limits.vat_check_ip': '1/3600' })
    expect(await ask('ATU70000009')).toMatchObject({ total: 10 })
    expect(await ask(registered)).toMatchObject({ total: 12, vatId: { outcome: 'unavailable' } })
    expect(await ask('ATU70000009')).toMatchObject({ total: 10 })
  })
})

describe('the payment page', () => {
  it('asks VIES about a typed VAT id, and refuses a name that is not the registered one', async () => {
    const { send, row } = await order(registered, { companyName: '' })
    expect(row()).toMatchObject({ totalMinor: 1000 })
    expect(await send({ action: 'vatId', vatId: down })).toContain('cannot be confirmed at the moment')
    expect(row()).toMatchObject({ totalMinor: 1200, vatId: down })
    const named = { ...vienna, firstName: 'Hans', lastName: 'Huber' }
    await send({ action: 'vatId', vatId: elsewhere })
    expect(row()).toMatchObject({
      totalMinor: 1000,
      vatCheck: { outcome: 'confirmed', name: 'Registered Elsewhere GmbH' }
    })
    expect(await send({ vatId: elsewhere, total: '1000', ...named })).toContain('registered to another name')
    expect(row().status).toBe('pending')
    await send({ ...vienna, vatId: elsewhere, total: '1000', firstName: 'Registered', lastName: 'Elsewhere' })
    expect(row()).toMatchObject({ status: 'on-hold', totalMinor: 1000, vatCheck: { accepted: true } })
  })
})

it('takes a VAT id as it is while tax.vies is off', async () => {
  set(shop, { 'tax.vies': 'off' })
  expect(await quote(unregistered)).toMatchObject({ total: 10, vatId: null })
  const { row } = await order(unregistered)
  expect(row()).toMatchObject({ totalMinor: 1000, vatCheck: null })
})

it('forgets what VIES said about a person who is erased, except on the invoice', async () => {
  const email = 'erased@b.example'
  const { id, pay } = await order(elsewhere, { companyName: 'Registered Elsewhere', email })
  pay()
  eraseGuest(shop.app.db, emailKey(email))
  expect(showOrder(shop.app.db, id).order).toMatchObject({ vatId: null, vatCheck: null })
  expect(shop.app.db.sqlite.prepare('SELECT count(*) FROM vat_checks WHERE vat_id = ?').pluck().get(elsewhere)).toBe(0)
  expect(documentsOf(shop.app.db, id)[0]?.buyer).toMatchObject({ vatId: elsewhere })
})

describe('the country of the client', () => {
  it.each([
    ['127.0.0.1', 'AT', 'AT'],
    ['127.0.0.1', 'at', 'AT'],
    ['127.0.0.1', 'T1', null],
    ['127.0.0.1', 'AT, DE', null],
    ['192.0.2.1', 'AT', null]
  ])('is evidence if the proxy %s, which is trusted, names it: %s is %s', async (proxies, country, stored) => {
    const own = await startShop({ env: { SHOPSTEAD_TRUSTED_PROXIES: proxies }, overrides: { clock } })
    try {
      const place = async () => {
        const buyer = own.visitor({ 'cf-ipcountry': country })
        const body = { items, customer: { email: 'a@b.example' } }
        const { data } = await buyer.post<{ orderToken: string }>('/store/checkout-session', body)
        return getOrderByPublicToken(own.app.db, data.orderToken)
      }
      expect(await place()).toMatchObject({ ipCountry: null })
      set(own, { 'tax.countryHeader': 'CF-IPCountry' })
      const { id, ipCountry } = await place()
      expect(ipCountry).toBe(stored)
      expect(showOrder(own.app.db, id).order.evidence).toEqual({
        billingCountry: null,
        cardCountry: null,
        ipCountry: stored
      })
    } finally {
      await own.stop()
    }
  })
})
