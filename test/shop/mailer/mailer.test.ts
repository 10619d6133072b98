import { queueMail, claimNext, purgeMails } from '../../../src/shop/mail/queue.ts'
import { mails } from '../../../src/shop/mail/schema.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { createEmailToken, redeemEmailToken } from '../../../src/shop/accounts/email-tokens.ts'
import type { UserRow } from '../../../src/shop/accounts/rows.ts'
import { users } from '../../../src/shop/accounts/schema.ts'
import type { ShopContext } from '../../../src/shop/context.ts'
import { openSmtp } from '../../../src/platform/mail/smtp-transport.ts'
import type { MailMessage } from '../../../src/platform/mail/message.ts'
import { deliverDueMail, startMailer } from '../../../src/shop/mailer/mailer.ts'
import { moveOrder, recordRefund } from '../../../src/shop/orders/transition.ts'
import { orders } from '../../../src/shop/orders/schema.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { mailFiles } from '../../support/mail-files.ts'
import { startMailbox } from '../../support/mailbox.ts'
import { makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import { couponLine, draft, line, makeCoupon, makeProduct, place, showPicture } from '../orders/support.ts'
import { mailStates, queue, sendAll, wait } from './support.ts'

const minuteMs = 60_000
const cheapHash = { passwordHash: 'none' }

function queueLink(shop: ShopContext, user: UserRow, kind: 'verify' | 'reset'): number {
  return write(shop.db, (tx) => {
    const { id: tokenId } = createEmailToken(tx, shop.keys, { kind, userId: user.id }, shop.clock.now())
    const data = { userId: user.id, tokenId }
    queueMail(
      tx,
      { template: kind === 'verify' ? 'verify_email' : 'reset_password', recipient: user.email, data },
      shop.clock.now()
    )
    return tokenId
  })
}

describe('the mailer', () => {
  it('polls for queued emails and sends each once', async () => {
    using shop = openTestShop()
    const mailer = startMailer(shop)
    onTestFinished(() => mailer.stop())
    const user = await makeUser(shop, cheapHash)
    queueLink(shop, user, 'verify')
    await expect.poll(() => mailStates(shop)[0]?.state, wait).toBe('sent')
    await mailer.stop()
    expect(mailFiles(shop.dataDir)).toHaveLength(1)
    expect(mailStates(shop)).toEqual([{ state: 'sent', attempts: 1, lastError: null }])
  })

  it('puts the link that redeems the token into the text, the HTML and the links', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, cheapHash)
    queueLink(shop, user, 'verify')
    queueLink(shop, user, 'reset')
    await sendAll(shop)
    const [verify, reset] = mailFiles(shop.dataDir)
    const link = new URL(verify?.links.verify ?? '')
    expect(`${link.origin}${link.pathname}`).toBe('http://localhost:3000/account/verify')
    expect(verify).toMatchObject({
      to: user.email,
      text: expect.stringContaining(link.href),
      html: expect.stringContaining(link.href)
    })
    const redeem = (kind: 'verify' | 'reset', url: string | undefined) =>
      write(shop.db, (tx) =>
        redeemEmailToken(tx, kind, new URL(url ?? '').searchParams.get('token') ?? '', shop.clock.now())
      )
    expect(redeem('verify', verify?.links.verify)?.userId).toBe(user.id)
    expect(redeem('reset', reset?.links.reset)?.userId).toBe(user.id)
  })

  it('delivers to the SMTP server, and retries when the server was busy', async () => {
    await using mailbox = await startMailbox({ answers: [{ code: 451, message: 'try later' }] })
    using shop = openTestShop({ SHOPSTEAD_SMTP_URL: mailbox.url, SHOPSTEAD_MAIL_FROM: 'shop@harbour.example' })
    const user = await makeUser(shop, cheapHash)
    queue(shop, 'password_changed', { userId: user.id })
    await sendAll(shop)
    expect(mailbox.received).toHaveLength(0)
    expect(mailStates(shop)).toEqual([{ state: 'queued', attempts: 1, lastError: 'EENVELOPE RCPT TO 451: try later' }])
    shop.clock.advance(2 * minuteMs)
    await sendAll(shop)
    expect(mailbox.received.map(({ to }) => to)).toEqual([['mira@shop.example']])
    expect(mailStates(shop)).toEqual([{ state: 'sent', attempts: 2, lastError: null }])
  })

  it('tries nine times over three days, then gives up', async () => {
    using shop = openTestShop({ SHOPSTEAD_SMTP_URL: 'smtp://127.0.0.1:1' })
    const user = await makeUser(shop, cheapHash)
    queue(shop, 'password_changed', { userId: user.id })
    const queuedAt = shop.clock.now()
    for (let tries = 0; mailStates(shop)[0]?.state === 'queued' && tries < 20; tries += 1) {
      shop.clock.set(shop.db.orm.select().from(mails).get()?.nextAttemptAt ?? 0)
      await sendAll(shop)
    }
    expect(mailStates(shop)[0]).toMatchObject({ state: 'failed', attempts: 9 })
    expect((shop.clock.now() - queuedAt) / (24 * 60 * minuteMs)).toBeGreaterThan(3)
  })

  it('leaves the other emails for the next poll while the mail server is down, but not after a refused recipient', async () => {
    await using mailbox = await startMailbox({ answers: [{ code: 451, message: 'try later' }] })
    using shop = openTestShop()
    const user = await makeUser(shop, cheapHash)
    for (let count = 0; count < 3; count += 1) queue(shop, 'password_changed', { userId: user.id })
    const attempts = () => mailStates(shop).map(({ state, attempts: made }) => `${state} ${made}`)
    await deliverDueMail(shop, openSmtp({ url: 'smtp://127.0.0.1:9', from: 'shop@shop.example' }))
    expect(attempts()).toEqual(['queued 1', 'queued 0', 'queued 0'])
    shop.clock.advance(60 * minuteMs)
    await deliverDueMail(shop, openSmtp({ url: mailbox.url, from: 'shop@shop.example' }))
    expect(attempts().toSorted()).toEqual(['queued 1', 'sent 1', 'sent 2'])
  })

  it('does not retry when the mailbox does not exist', async () => {
    await using mailbox = await startMailbox({ answers: [{ code: 550, message: 'no such mailbox' }] })
    using shop = openTestShop({ SHOPSTEAD_SMTP_URL: mailbox.url })
    const user = await makeUser(shop, cheapHash)
    queue(shop, 'password_changed', { userId: user.id })
    await sendAll(shop)
    expect(mailStates(shop)).toEqual([
      { state: 'failed', attempts: 1, lastError: 'EENVELOPE RCPT TO 550: no such mailbox' }
    ])
  })

  it('deletes an email whose link is superseded, used or expired, and does not count it as failed', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, cheapHash)
    queueLink(shop, user, 'reset')
    queueLink(shop, user, 'reset')
    shop.clock.advance(61 * minuteMs)
    queueLink(shop, user, 'verify')
    await sendAll(shop)
    expect(mailFiles(shop.dataDir).map(({ links }) => Object.keys(links))).toEqual([['verify']])
    expect(mailStates(shop)).toEqual([{ state: 'sent', attempts: 1, lastError: null }])
  })

  it('sends nothing to an erased account', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, cheapHash)
    queueLink(shop, user, 'verify')
    queue(shop, 'password_changed', { userId: user.id })
    shop.db.orm.update(users).set({ status: 'erased' }).run()
    await sendAll(shop)
    expect(mailFiles(shop.dataDir)).toEqual([])
    expect(mailStates(shop)).toEqual([])
  })

  it('deletes a sent email after a month', async () => {
    using shop = openTestShop()
    const user = await makeUser(shop, cheapHash)
    queue(shop, 'password_changed', { userId: user.id })
    await sendAll(shop)
    queue(shop, 'password_changed', { userId: user.id })
    shop.clock.advance(31 * 24 * 60 * minuteMs)
    expect(write(shop.db, (tx) => purgeMails(tx, shop.clock.now(), 9))).toBe(1)
    expect(mailStates(shop).map(({ state }) => state)).toEqual(['queued'])
  })

  it('escapes values in HTML and not in plain text', async () => {
    using shop = openTestShop()
    setSetting(shop.db, 'shop.name', 'Nuts & <b>Bolts</b>', shop.clock.now())
    const user = await makeUser(shop, cheapHash)
    queue(shop, 'password_changed', { userId: user.id })
    await sendAll(shop)
    const [mail] = mailFiles(shop.dataDir)
    expect(mail?.html).toContain('Nuts &amp; &lt;b&gt;Bolts&lt;/b&gt;')
    expect(mail?.html).not.toContain('<b>')
    expect(mail?.text).toContain('Nuts & <b>Bolts</b>')
  })
})

describe('an order email', () => {
  it('lists lines, coupons and total, and reports each refund', async () => {
    using shop = openTestShop()
    const product = makeProduct(shop.db)
    const coupon = makeCoupon(shop.db)
    const lines = [line(product, { quantity: 2, discountMinor: 250 })]
    const order = place(
      shop.db,
      draft(lines, { coupons: [couponLine(coupon, { discountMinor: 250 })] }),
      shop.clock.now()
    )
    write(shop.db, (tx) => {
      moveOrder(tx, order.id, 'processing', { by: 'test', reason: 'paid' }, shop.clock.now())
      recordRefund(tx, order.id, 1000, { by: 'test', reason: 'broken' }, shop.clock.now())
    })
    await sendAll(shop)
    const [receipt, refund] = mailFiles(shop.dataDir)
    expect(receipt?.to).toBe('guest@shop.example')
    expect(receipt?.text).toContain(
      '2 × Storm lantern: €25.00\nSubtotal: €25.00\nCoupon WELCOME10: -€2.50\nTotal: €22.50'
    )
    expect(receipt?.text).toContain(`http://localhost:3000/checkout/done/${order.publicToken}`)
    expect(receipt?.text).toContain(`Order number: ${order.id}\nOrder date: 15 January 2026\n`)
    expect(refund?.text).toContain(`We have refunded €10.00 for your order ${order.id} (partial refund).`)
  })

  it('shows the small picture of each line under a public URL with https', async () => {
    using shop = openTestShop()
    const [wide, plain] = [makeProduct(shop.db), makeProduct(shop.db, { name: 'Wick' })]
    showPicture(shop.db, wide, { width: 1600, height: 400 })
    const order = place(shop.db, draft([line(wide), line(plain)]), shop.clock.now())
    const images: unknown[] = []
    const send = ({ html }: MailMessage) => Promise.resolve(void images.push(html.match(/<img [^>]*>/g)))
    for (const publicUrl of ['http://localhost:3000', 'https://shop.example']) {
      queue(shop, 'order_receipt', { orderId: order.id })
      await deliverDueMail({ ...shop, publicUrl: () => publicUrl }, { send })
    }
    const small =
      'src="https://shop.example/media/11111111111111111111111111111111-400.webp" width="56" height="14" alt=""'
    expect(images).toEqual([null, [expect.stringContaining(small)]])
  })

  const addresses = {
    contact: { firstName: 'Lena', lastName: 'Brandt' },
    shippingAddress: { address1: 'Quay 7', postcode: '20457', city: 'Hamburg', country: 'DE', phone: '+49 40 1' },
    billingAddress: {
      firstName: 'Ada',
      company: 'Brandt &\nDaughters',
      city: 'Springfield',
      state: 'IL',
      country: 'US'
    }
  }

  it('of a paid order contains its addresses, and every email the seller', async () => {
    using shop = openTestShop()
    setSetting(shop.db, 'shop.legal', 'Harbour Ltd\nVAT id DE1', shop.clock.now())
    const order = place(shop.db, draft([line(makeProduct(shop.db))], addresses), shop.clock.now())
    write(shop.db, (tx) => moveOrder(tx, order.id, 'processing', { by: 'test', reason: 'paid' }, shop.clock.now()))
    await sendAll(shop)
    const [receipt] = mailFiles(shop.dataDir)
    expect(receipt?.text).toContain(
      'Shipping address:\nLena Brandt\nQuay 7\n20457 Hamburg\nGermany\n\n' +
        'Billing address:\nAda Brandt\nBrandt & Daughters\nSpringfield IL\nUnited States\n'
    )
    expect(receipt?.text).toMatch(/-- \nHarbour Ltd\nVAT id DE1\n$/)
    expect(receipt?.html).toContain('Harbour Ltd<br>VAT id DE1')
  })

  it('contains no address before money was paid, because anyone can order with any email', async () => {
    using shop = openTestShop()
    const product = makeProduct(shop.db)
    const waiting = place(shop.db, draft([line(product)], addresses), shop.clock.now())
    const free = place(shop.db, draft([line(product, { unitPriceMinor: 0 })], addresses), shop.clock.now())
    write(shop.db, (tx) => {
      moveOrder(tx, waiting.id, 'on-hold', { by: 'test', reason: 'a transfer' }, shop.clock.now())
      moveOrder(tx, free.id, 'processing', { by: 'test', reason: 'free' }, shop.clock.now())
    })
    await sendAll(shop)
    const [received, receipt] = mailFiles(shop.dataDir)
    expect(receipt?.text).toContain('There is nothing to pay.')
    for (const mail of [received, receipt]) expect(`${mail?.text}${mail?.html}`).not.toMatch(/Quay 7|Daughters|Brandt/)
  })

  it('about a failed payment leads to the page on which the order is paid', async () => {
    using shop = openTestShop()
    const { id, publicToken } = place(shop.db, draft([line(makeProduct(shop.db))]), shop.clock.now())
    write(shop.db, (tx) => moveOrder(tx, id, 'failed', { by: 'test', reason: 'declined' }, shop.clock.now()))
    shop.clock.advance(15 * minuteMs)
    await sendAll(shop)
    const [mail] = mailFiles(shop.dataDir)
    expect(mail?.text).toContain(`Try again:\nhttp://localhost:3000/checkout/${publicToken}\n`)
  })

  it('that is to be sent later is not sent early when the clock was set back a little', async () => {
    using shop = openTestShop()
    const { id } = place(shop.db, draft([line(makeProduct(shop.db))]), shop.clock.now())
    write(shop.db, (tx) => moveOrder(tx, id, 'failed', { by: 'test', reason: 'declined' }, shop.clock.now()))
    expect(await claimNext(shop.db, shop.clock.now() - minuteMs)).toBeUndefined()
    expect(await claimNext(shop.db, shop.clock.now() + 15 * minuteMs)).toMatchObject({ template: 'payment_failed' })
  })

  it('about the last failed try of a renewal leads to the account page when the gateway has no page', async () => {
    using shop = openTestShop()
    const order = place(shop.db, draft([line(makeProduct(shop.db))]), shop.clock.now())
    const failure = { amountMinor: 900, currency: 'EUR', payUrl: null, nextTryAt: null }
    queue(shop, 'renewal_failed', { orderId: order.id, ...failure })
    await sendAll(shop)
    const [mail] = mailFiles(shop.dataDir)
    expect(mail?.text).toContain('This was the last try.')
    expect(mail?.text).toContain('Pay with another card:\nhttp://localhost:3000/account\n')
  })

  it('that anyone can cause without paying reaches one mailbox ten times an hour, and no account link is lost', async () => {
    using shop = openTestShop()
    const product = makeProduct(shop.db)
    const user = await makeUser(shop, { ...cheapHash, email: 'lena@example.com' })
    for (let each = 0; each < 60; each += 1) {
      const email = each % 2 === 0 ? 'lena@example.com' : `lena+${each}@example.com`
      const free = place(shop.db, { ...draft([line(product, { unitPriceMinor: 0 })]), email }, shop.clock.now())
      write(shop.db, (tx) => moveOrder(tx, free.id, 'completed', { by: 'test', reason: 'free' }, shop.clock.now()))
    }
    queueLink(shop, user, 'reset')
    await sendAll(shop)
    const subjects = mailFiles(shop.dataDir).map(({ subject }) => subject)
    expect(subjects.filter((subject) => subject.startsWith('Your order'))).toHaveLength(10)
    expect(subjects.filter((subject) => subject.startsWith('Choose'))).toHaveLength(1)
    const paid = place(shop.db, { ...draft([line(product)]), email: 'lena@example.com' }, shop.clock.now())
    write(shop.db, (tx) => moveOrder(tx, paid.id, 'completed', { by: 'test', reason: 'paid' }, shop.clock.now()))
    await sendAll(shop)
    expect(mailFiles(shop.dataDir)).toHaveLength(12)
  })

  it('is not sent after the buyer was erased', async () => {
    using shop = openTestShop()
    const order = place(shop.db, draft([line(makeProduct(shop.db))]), shop.clock.now())
    queue(shop, 'order_receipt', { orderId: order.id })
    shop.db.orm.update(orders).set({ email: null }).run()
    await sendAll(shop)
    expect(mailFiles(shop.dataDir)).toEqual([])
  })
})
