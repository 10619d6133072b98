import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { setAdministrator, activateUser, deactivateUser } from '../../../src/shop/accounts/deactivate.ts'
import { createEmailToken } from '../../../src/shop/accounts/email-tokens.ts'
import { findUserByEmail, getUserById } from '../../../src/shop/accounts/find.ts'
import { erasePerson } from '../../../src/shop/customers/erase-person.ts'
import { queueMail } from '../../../src/shop/mail/queue.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import { countOf, eventsOf, logIn, mailsOf, refusal } from '../../support/accounts.ts'
import { makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import { draft, line, makeAffiliate, makeProduct, place } from '../orders/support.ts'

const passwordHash = 'not a hash'

describe('an erased person', () => {
  const everything = {
    email: 'mira.okafor@shop.example',
    displayName: 'Mira Okafor',
    firstName: 'Mira',
    lastName: 'Okafor',
    billingEmail: 'okafor@slowcoast.example',
    billingPhone: '+49 30 5550142',
    companyName: 'Okafor & Co',
    marketingOptIn: true,
    isAdmin: true
  }

  it('leaves no personal data in any table, cannot log in, and keeps the row that orders refer to', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, everything)
    logIn(shop, user)
    write(shop.db, (tx) => createEmailToken(tx, shop.keys, { kind: 'verify', userId: user.id }, shop.clock.now()))
    const mail = { template: 'password_changed', recipient: user.email, data: { userId: user.id } } as const
    write(shop.db, (tx) => queueMail(tx, mail, 0))
    shop.db.sqlite.prepare(`UPDATE mails SET state = 'sent', last_error = '550 <mira.okafor@shop.example>'`).run()
    write(shop.db, (tx) => queueMail(tx, mail, 0))
    const { user: erased } = erasePerson(shop.db, user.id, shop.clock.now())
    expect(erased).toMatchObject({ id: user.id, status: 'erased', email: `erased-${user.id}@erased.invalid` })
    expect(erased).toMatchObject({ isAdmin: false, biography: null, createdAt: user.createdAt })
    const tables = shop.db.sqlite
      .prepare<[], { name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
      .all()
    const kept = tables.map(({ name }) => shop.db.sqlite.prepare(`SELECT * FROM "${name}"`).all())
    expect(JSON.stringify(kept)).not.toMatch(/mira|okafor|5550142|slowcoast/i)
    expect(mailsOf(shop)).toMatchObject([{ state: 'sent', recipient: erased.email }])
    expect([countOf(shop, 'sessions'), countOf(shop, 'email_tokens')]).toEqual([0, 0])
    expect(findUserByEmail(shop.db, user.email)).toBeUndefined()
  })

  it('is erased whatever names others have registered', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop)
    await makeUser(shop, { email: `erased-${user.id}@erased.invalid`, username: `erased-${user.id}` })
    erasePerson(shop.db, user.id, shop.clock.now())
    expect(getUserById(shop.db, user.id).status).toBe('erased')
  })

  it('is erased once, and is neither activated nor made administrator again', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash })
    const erase = () => erasePerson(shop.db, user.id, shop.clock.now())
    const first = erase()
    shop.clock.advance(1000)
    expect(erase()).toEqual(first)
    expect(eventsOf(shop)).toEqual(['account.registered', 'account.deactivated'])
    for (const act of [activateUser, deactivateUser]) {
      expect(() => act(shop.db, user.id, 5)).toThrow(refusal('CONFLICT'))
    }
    expect(() => setAdministrator(shop.db, user.id, true, 5)).toThrow(refusal('CONFLICT'))
  })

  it('stays whole when the affiliate account cannot be erased', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash })
    makeAffiliate(shop.db, user.id)
    const order = place(shop.db, draft([line(makeProduct(shop.db))], { userId: user.id, email: user.email }))
    shop.db.sqlite.exec(
      `CREATE TRIGGER stuck BEFORE UPDATE ON affiliates BEGIN SELECT raise(ABORT, 'affiliates are stuck'); END`
    )
    expect(() => erasePerson(shop.db, user.id, 5)).toThrow('affiliates are stuck')
    expect(getUserById(shop.db, user.id)).toEqual(user)
    expect(getOrder(shop.db, order.id)).toEqual(order)
  })

  it('is erased from the emails to an earlier address, unless it has another account or the email is still queued', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { email: 'new@shop.example' })
    const changed = { template: 'email_changed', data: { userId: user.id, step: 'done' } } as const
    const receipt = { template: 'order_receipt', data: { orderId: 1 } } as const
    const send = (mail: typeof changed | typeof receipt, recipient: string, state = 'sent'): void => {
      write(shop.db, (tx) => queueMail(tx, { ...mail, recipient }, 0))
      shop.db.sqlite.prepare('UPDATE mails SET state = ? WHERE id = (SELECT max(id) FROM mails)').run(state)
    }
    for (const earlier of ['first@shop.example', 'second@shop.example', 'taken@shop.example']) send(changed, earlier)
    send(receipt, 'First@shop.example')
    send(receipt, 'first@shop.example', 'queued')
    send(receipt, 'second@shop.example')
    send(receipt, 'taken@shop.example')
    send(receipt, 'other@shop.example')
    await makeUser(shop, { email: 'taken@shop.example' })
    erasePerson(shop.db, user.id, 5)
    const gone = `erased-${user.id}@erased.invalid`
    expect(mailsOf(shop).map(({ recipient, state }) => [recipient, state])).toEqual([
      [gone, 'sent'],
      [gone, 'sent'],
      [gone, 'sent'],
      [gone, 'sent'],
      ['first@shop.example', 'queued'],
      [gone, 'sent'],
      ['taken@shop.example', 'sent'],
      ['other@shop.example', 'sent']
    ])
  })

  it('frees the email for another account', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash })
    erasePerson(shop.db, user.id, 5)
    await expect(makeUser(shop, { passwordHash })).resolves.toMatchObject({ username: 'mira' })
  })
})
