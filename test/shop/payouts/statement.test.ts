import { expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { textsIn } from '../../../src/platform/texts/languages.ts'
import { users } from '../../../src/shop/accounts/schema.ts'
import { cleanUp } from '../../../src/operations/housekeeping.ts'
import { erasePerson } from '../../../src/shop/customers/erase-person.ts'
import { exportPerson } from '../../../src/shop/customers/export-person.ts'
import { getUserById } from '../../../src/shop/accounts/find.ts'
import { giveBonus } from '../../../src/shop/payouts/by-hand.ts'
import { failPayout } from '../../../src/shop/payouts/fail.ts'
import { getPayout } from '../../../src/shop/payouts/find.ts'
import { partiesOf, statementCsv, statementPdf, statementText } from '../../../src/shop/payouts/statement.ts'
import { rejectReferral } from '../../../src/shop/referrals/referrals.ts'
import { inLanguage, wordsOf } from '../../../src/shop/settings/language.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { readPdf } from '../../support/pdf-text.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { makeAffiliate } from '../affiliates/support.ts'
import { dayMs, earn, payAfterHold } from './support.ts'

/** A shop that has paid 10.00, and then a bonus and a commission less those 10.00, because the order was refunded. */
async function shopOfMira() {
  const shop = openTestShop()
  const { db } = shop
  setSetting(db, 'shop.name', 'Tin Lantern', 0)
  setSetting(db, 'shop.legal', 'Tin Lantern Ltd, Quay 7\nVAT id DE123456789', 0)
  const mira = await makeAffiliate(shop)
  const address = { address1: 'Kaistraße 3', postcode: '20457', city: 'Hamburg', country: 'DE' }
  db.orm
    .update(users)
    .set({ firstName: 'Mira', lastName: 'Okafor', companyName: 'Okafor Media', address, language: 'de' })
    .run()
  earn(shop, mira.id, 1)
  payAfterHold(shop)
  write(db, (tx) => rejectReferral(tx, 1, 'order_refunded', shop.clock.now()))
  earn(shop, mira.id, 2, 30_000)
  giveBonus(db, 'mira', { amountMinor: 550, reason: 'thank you' }, shop.clock.now())
  payAfterHold(shop, { reference: 'SEPA 7' })
  return { shop, mira }
}

const wordsIn = (shop: TestShop, language: string) => wordsOf(inLanguage(shop, language))
const textOf = (shop: TestShop, id: number, language = 'en') =>
  statementText(shop.db, getPayout(shop.db, id), wordsIn(shop, language))

it('a statement has who paid whom, a line for each order, and what was set off', async () => {
  const { shop } = await shopOfMira()
  expect(textOf(shop, 2)).toMatchObject({
    title: 'Payout statement',
    seller: ['Tin Lantern', 'Tin Lantern Ltd, Quay 7', 'VAT id DE123456789'],
    buyer: ['Mira Okafor', 'Okafor Media', 'Kaistraße 3', '20457 Hamburg', 'Deutschland'],
    facts: [
      { label: 'Payout', value: '2' },
      { label: 'Date of payment', value: '16 March 2026' },
      { label: 'Reference', value: 'SEPA 7' },
      { label: 'Affiliate code', value: 'mira' }
    ],
    table: {
      rows: [
        ['Taken back for order 1', '15 January 2026', '10 %', '-€10.00'],
        ['Commission for order 2', '14 February 2026', '10 %', '€30.00'],
        ['Amounts without an order', '', '', '€5.50']
      ]
    },
    sums: [
      { label: 'Commissions', amount: '€35.50' },
      { label: 'Set off', amount: '-€10.00' },
      { label: 'Paid out', amount: '€25.50', isTotal: true }
    ],
    notes: []
  })
  expect(textOf(shop, 1).table?.rows).toEqual([['Commission for order 1', '15 January 2026', '10 %', '€10.00']])
  expect(statementCsv(shop.db, getPayout(shop.db, 2)).split('\n')).toEqual([
    'payout,paid_on,reference,state,affiliate,referral,order,order_date,rate_percent,amount,currency',
    '2,2026-03-16,SEPA 7,paid,mira,1,1,2026-01-15,10,-10,EUR',
    '2,2026-03-16,SEPA 7,paid,mira,2,2,2026-02-14,10,30.00,EUR',
    '2,2026-03-16,SEPA 7,paid,mira,,,,,5.50,EUR',
    ''
  ])
  shop[Symbol.dispose]()
})

it('a statement is a PDF in the language of the affiliate', async () => {
  const { shop } = await shopOfMira()
  const pdf = await statementPdf(shop.db, getPayout(shop.db, 2), wordsIn(shop, 'de'))
  const texts = readPdf(pdf).map(({ text }) => text)
  const written = texts.join('\n')
  for (const part of [
    'Provisionsabrechnung',
    'Kaistraße 3',
    'Provision für Bestellung 2',
    '25,50\u00a0€',
    'Seite 1 von 1'
  ])
    expect(written).toContain(part)
  expect(written).not.toContain(textsIn('de').t('doc.unreadableCsv'))
  shop[Symbol.dispose]()
})

it('a statement stays as it was, whatever happens to the account, and says when the money came back', async () => {
  const { shop, mira } = await shopOfMira()
  const before = textOf(shop, 2)
  setSetting(shop.db, 'shop.name', 'Other Lantern', 0)
  shop.db.orm.update(users).set({ address: null, companyName: null }).run()
  failPayout(shop.db, 2, { reason: 'account closed', by: 'lena' }, shop.clock.now())
  expect(textOf(shop, 2)).toEqual({
    ...before,
    notes: ['The payment came back on 16 March 2026. The amount is due again.']
  })
  expect(exportPerson(shop.db, getUserById(shop.db, mira.userId), 0).affiliate?.payouts).toMatchObject([
    { id: 1, state: 'paid', payee: { lines: expect.arrayContaining(['Mira Okafor']) }, lines: [{ orderId: 1 }] },
    { id: 2, state: 'failed', failureReason: 'account closed' }
  ])
  erasePerson(shop.db, mira.userId, shop.clock.now())
  expect(textOf(shop, 2).buyer).toEqual(before.buyer)
  expect(() => shop.db.sqlite.exec(`UPDATE payouts SET payee = '{"code":"x","lines":[]}'`)).toThrow('append-only')
  shop[Symbol.dispose]()
})

it('the clean-up removes an erased affiliate from the payouts when the time of the law is over', async () => {
  const { shop, mira } = await shopOfMira()
  const payees = () => [1, 2].map((id) => getPayout(shop.db, id).payee?.code ?? null)
  shop.clock.advance(11 * 366 * dayMs)
  await cleanUp(shop)
  expect(payees()).toEqual(['mira', 'mira'])
  shop.clock.advance(-9 * 366 * dayMs)
  erasePerson(shop.db, mira.userId, shop.clock.now())
  await cleanUp(shop)
  expect(payees()).toEqual(['mira', 'mira'])
  shop.clock.advance(9 * 366 * dayMs)
  await cleanUp(shop)
  expect(payees()).toEqual([null, null])
  expect(textOf(shop, 2).buyer).toEqual([])
  shop[Symbol.dispose]()
})

it('an account without a name and address is named by what it shows', async () => {
  using shop = openTestShop()
  const { id } = await makeAffiliate(shop)
  shop.db.orm.update(users).set({ displayName: 'Mira\nPaid in full' }).run()
  expect(partiesOf(shop.db, id).payee).toEqual({ code: 'mira', lines: ['Mira Paid in full'] })
})
