import { expect, it } from 'vitest'
import { verifySmtp, openSmtp } from '../../../src/platform/mail/smtp-transport.ts'
import { deliverDueMail, startMailer } from '../../../src/shop/mailer/mailer.ts'
import { startMailbox } from '../../support/mailbox.ts'
import { startDifficultMailServer } from '../../support/difficult-mail-server.ts'
import { makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import { mailStates, queue, wait } from './support.ts'

it('an email that is cut off when the shop stops does not count as an attempt and is sent once at the next start', async () => {
  const slow = await startDifficultMailServer(() => 'stalls')
  await using mailbox = await startMailbox()
  using shop = openTestShop()
  const user = await makeUser(shop, { passwordHash: 'none' })
  queue(shop, 'password_changed', { userId: user.id })
  const stopping = new AbortController()
  const run = deliverDueMail(shop, openSmtp({ url: slow.url, from: 'shop@shop.example' }), { cut: stopping.signal })
  await expect.poll(() => slow.waiting.size, wait).toBe(1)
  stopping.abort()
  await run
  expect(mailStates(shop)).toEqual([{ state: 'queued', attempts: 0, lastError: null }])
  await deliverDueMail(shop, openSmtp({ url: mailbox.url, from: 'shop@shop.example' }))
  expect(mailbox.received.map(({ to }) => to)).toEqual([['mira@shop.example']])
  expect(mailStates(shop)).toEqual([{ state: 'sent', attempts: 1, lastError: null }])
})

it('an email that is queued while the server lets another one wait is sent before that one ends', async () => {
  const server = await startDifficultMailServer((to) => (to === 'slow@shop.example' ? 'stalls' : 'takes'))
  using shop = openTestShop()
  const user = await makeUser(shop, { passwordHash: 'none' })
  const mailer = startMailer(shop, openSmtp({ url: server.url, from: 'shop@shop.example' }))
  queue(shop, 'password_changed', { userId: user.id }, 'slow@shop.example')
  await expect.poll(() => server.waiting.size, wait).toBe(1)
  for (const to of ['lena@shop.example', 'mira@shop.example']) {
    queue(shop, 'password_changed', { userId: user.id }, to)
    await expect.poll(() => server.taken.at(-1)?.to, wait).toBe(to)
  }
  expect(server.waiting.size).toBe(1)
  await mailer.stop()
  expect(mailStates(shop).map(({ state }) => state)).toEqual(['queued', 'sent', 'sent'])
})

it('a mail server on this machine may have its own certificate', async () => {
  await using mailbox = await startMailbox({ tls: true })
  await expect(verifySmtp(mailbox.url)).resolves.toBeUndefined()
})

it('another mail server needs a certificate that is trusted, and the failure says what is wrong with it', async () => {
  await using mailbox = await startMailbox({ tls: true })
  // The address 0.0.0.0 leads to this machine, and is not one of its loopback addresses.
  const elsewhere = mailbox.url.replace('127.0.0.1', '0.0.0.0')
  await expect(verifySmtp(elsewhere)).rejects.toThrow('ECERTIFICATE CONN: certificate has expired')
  await expect(verifySmtp(`${elsewhere}?tls.rejectUnauthorized=false`)).resolves.toBeUndefined()
})

it('a refusal has the words of the mail server without credentials and addresses', async () => {
  const refusal = { code: 451, message: 'greylisted mira@shop.example, try again in 300 s' }
  await using mailbox = await startMailbox({ answers: [refusal], login: { user: 'shop', password: 'tide-lantern' } })
  using shop = openTestShop()
  const user = await makeUser(shop, { passwordHash: 'none' })
  queue(shop, 'password_changed', { userId: user.id })
  const url = mailbox.urlFor('shop', 'tide-lantern')
  await deliverDueMail(shop, openSmtp({ url, from: 'shop@shop.example' }))
  expect(mailStates(shop)[0]?.lastError).toBe('EENVELOPE RCPT TO 451: greylisted … try again in 300 s')
  await expect(verifySmtp(mailbox.urlFor('shop', 'wrong-pass-word'))).rejects.toThrow(
    'EAUTH AUTH PLAIN 535: Invalid login with …'
  )
})
