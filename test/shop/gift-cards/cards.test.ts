import { asc, eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { giftCardsReport } from '../../../src/operations/reports/gift-cards.ts'
import { cleanUp } from '../../../src/operations/housekeeping.ts'
import { write } from '../../../src/platform/db/database.ts'
import { erasePerson } from '../../../src/shop/customers/erase-person.ts'
import { exportGuest } from '../../../src/shop/customers/export-person.ts'
import {
  addEntry,
  blockCard,
  entriesOf,
  findCard,
  getCard,
  resendCard,
  stateOf
} from '../../../src/shop/gift-cards/cards.ts'
import { issueByOperator } from '../../../src/shop/gift-cards/issue.ts'
import type { CardInput } from '../../../src/shop/gift-cards/issue.ts'
import { giftCardEntries, giftCards } from '../../../src/shop/gift-cards/schema.ts'
import { mails } from '../../../src/shop/mail/schema.ts'
import { composeEmail } from '../../../src/shop/mailer/compose.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { makeUser } from '../../support/people.ts'

const dayMs = 86_400_000
const issue = (shop: TestShop, input: Partial<CardInput> = {}) =>
  issueByOperator(shop.db, { amount: 50, reason: 'late parcel', ...input }, shop.clock.now())

const mailsOf = (shop: TestShop) => shop.db.orm.select().from(mails).orderBy(asc(mails.id)).all()

describe('a gift card', () => {
  it('is found by its code in any spelling, and the database does not contain the code', () => {
    using shop = openTestShop()
    const { card, code } = issue(shop)
    expect(code).toMatch(/^(\w{4}-){2}(\w{5}-){2}\w{4}-\w{4}$/)
    const typed = code.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')
    expect([findCard(shop.db, code)?.id, findCard(shop.db, typed)?.id]).toEqual([card.id, card.id])
    expect(findCard(shop.db, `${code.slice(0, -1)}${code.endsWith('2') ? '3' : '2'}`)).toBeUndefined()
    expect(findCard(shop.db, '')).toBeUndefined()
    const stored = JSON.stringify(shop.db.sqlite.prepare('SELECT * FROM gift_cards').all())
    expect(stored).not.toContain(code.replaceAll('-', ''))
    expect(card.lastFour).toBe(code.slice(-4))
  })

  it('has the sum of its entries as its balance, which the database keeps from falling below zero', () => {
    using shop = openTestShop()
    const { card } = issue(shop)
    const use = (amountMinor: number): void =>
      write(shop.db, (tx) => addEntry(tx, { giftCardId: card.id, kind: 'used', amountMinor, orderId: 1, by: 'x' }, 1))
    use(-3000)
    expect(getCard(shop.db, card.id).balanceMinor).toBe(2000)
    expect(() => use(-2001)).toThrow(/CHECK/)
    expect(() => use(1)).toThrow(/CHECK/)
    expect(() => shop.db.orm.update(giftCardEntries).set({ amountMinor: 1 }).run()).toThrow(/append-only/)
    expect(() => shop.db.orm.delete(giftCardEntries).run()).toThrow(/append-only/)
    expect(entriesOf(shop.db, card.id).map(({ amountMinor }) => amountMinor)).toEqual([5000, -3000])
  })

  it.each([
    [{ amount: 0 }, 'amount'],
    [{ amount: '12.345' }, 'amount'],
    [{ reason: ' ' }, 'reason'],
    [{ to: 'nobody' }, 'to'],
    [{ message: 'Hi' }, 'to'],
    [{ to: 'a@b.example', sendOn: 'tomorrow' }, 'sendOn'],
    [{ expires: '2026-01-14' }, 'expires'],
    [{ to: 'a@b.example', sendOn: '2026-12-24', expires: '2026-12-23' }, 'expires'],
    [{ language: 'xx' }, 'language']
  ])('is not issued with %j, and the error names %s', (input, field) => {
    using shop = openTestShop()
    expect(() => issue(shop, input)).toThrow(
      expect.objectContaining({ details: { fieldErrors: { [field]: [expect.any(String)] } } })
    )
    expect(shop.db.orm.select().from(giftCards).all()).toEqual([])
  })
})

describe('the email of a gift card', () => {
  it('waits for its day, has the code and the message in the language of the card, and is queued once', async () => {
    using shop = openTestShop()
    const { code } = issue(shop, {
      to: 'lena@shop.example',
      message: 'Alles Gute!',
      sendOn: '2026-01-20',
      language: 'de'
    })
    await cleanUp(shop)
    expect(mailsOf(shop)).toEqual([])
    shop.clock.set(Date.UTC(2026, 0, 20, 1))
    await cleanUp(shop)
    await cleanUp(shop)
    const [mail, ...others] = mailsOf(shop)
    expect([mail?.recipient, others]).toEqual(['lena@shop.example', []])
    expect(JSON.stringify(mail)).not.toContain(code)
    const email = composeEmail(shop, mail ?? { template: '', data: {}, recipient: '' }, shop.clock.now())
    expect(email.subject).toContain('Geschenkgutschein')
    expect(email.facts?.[0]).toEqual({ label: 'Code', value: code })
    expect(email.blocks).toEqual([{ title: 'Nachricht', lines: ['Alles Gute!'] }])
  })

  it('is not sent for a blocked card, and goes to another person if the operator says so', () => {
    using shop = openTestShop()
    const { card } = issue(shop, { to: 'lena@shop.example' })
    blockCard(shop.db, card.id, true, shop.clock.now())
    const [first] = mailsOf(shop)
    const compose = (mail = first): unknown =>
      composeEmail(shop, mail ?? { template: '', data: {}, recipient: '' }, shop.clock.now())
    expect(compose).toThrow(/cannot be used/)
    expect(() => resendCard(shop.db, card.id, null, shop.clock.now())).toThrow(/is blocked/)
    blockCard(shop.db, card.id, false, shop.clock.now())
    resendCard(shop.db, card.id, 'mira@shop.example', shop.clock.now())
    expect(compose).toThrow(/another recipient/)
    expect(compose(mailsOf(shop)[1])).toMatchObject({ facts: [{ label: 'Code' }, { label: 'Balance' }] })
  })
})

it('takes what is left on an expired card off the books, and reports what is owed', async () => {
  using shop = openTestShop()
  const { card } = issue(shop, { expires: '2026-01-31' })
  issue(shop, { amount: 20 })
  shop.clock.set(Date.UTC(2026, 1, 1))
  expect(stateOf(getCard(shop.db, card.id), shop.clock.now())).toBe('expired')
  await cleanUp(shop)
  await cleanUp(shop)
  expect(entriesOf(shop.db, card.id).map(({ kind, amountMinor }) => [kind, amountMinor])).toEqual([
    ['issued', 5000],
    ['expired', -5000]
  ])
  const report = await giftCardsReport.make(shop, { from: '2026-02-01', to: '2026-02-28' }, shop.clock.now())
  expect(report.rows).toEqual([
    { currency: 'EUR', opening: 70, issued: 0, sold: 0, used: 0, returned: 0, cancelled: 0, expired: -50, closing: 20 }
  ])
})

it('forgets the recipient and keeps the card usable', async () => {
  using shop = openTestShop()
  const user = await makeUser(shop, { email: 'lena@shop.example' })
  const { card, code } = issue(shop, { to: 'Lena@shop.example', message: 'Hi' })
  const other = issue(shop, { to: 'mira@shop.example', message: 'Hi' })
  expect(exportGuest(shop.db, 'lena@shop.example', shop.clock.now()).giftCards).toMatchObject([
    { id: card.id, message: 'Hi' }
  ])
  erasePerson(shop.db, user.id, shop.clock.now())
  expect(getCard(shop.db, card.id)).toMatchObject({ recipientEmail: null, recipientKey: null, message: null })
  expect(getCard(shop.db, other.card.id)).toMatchObject({ recipientEmail: 'mira@shop.example' })
  expect(stateOf(findCard(shop.db, code) ?? card, shop.clock.now() + dayMs)).toBe('active')
  expect(shop.db.orm.select().from(giftCards).where(eq(giftCards.message, 'Hi')).all()).toHaveLength(1)
})
