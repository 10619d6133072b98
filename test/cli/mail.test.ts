import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { overrideFolder } from '../../src/shop/mailer/render.ts'
import { write } from '../../src/platform/db/database.ts'
import { queueMail } from '../../src/shop/mail/queue.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { person } from '../shop/benefits/support.ts'
import { sendAll } from '../shop/mailer/support.ts'
import { draft, line, makeProduct, move, place } from '../shop/orders/support.ts'
import { shopstead } from '../support/command-line.ts'
import { mailsTo } from '../support/mail-files.ts'
import { openTestShop } from '../support/shop-context.ts'

it('the receipt of a paid order is sent again, and a notice of a shipment only after one', async () => {
  using shop = openTestShop()
  const id = String(place(shop.db, draft([line(makeProduct(shop.db))], { email: 'lena@shop.example' })).id)
  const resend = (...words: string[]) => shopstead(shop.dataDir, ['mail', 'resend', id, ...words, '--json'])
  expect((await resend('--template', 'order_received')).json).toMatchObject({
    error: { code: 'CONFLICT', message: expect.stringContaining('transfer') }
  })
  expect((await resend()).json).toEqual({ sent: { template: 'payment_link', to: 'lena@shop.example' } })
  move(shop.db, Number(id), 'processing')
  expect((await resend()).json).toEqual({ sent: { template: 'order_receipt', to: 'lena@shop.example' } })
  expect((await resend('--template', 'order_shipped')).json).toMatchObject({ error: { code: 'CONFLICT' } })
  await shopstead(shop.dataDir, ['orders', 'ship', id])
  expect((await resend('--template', 'order_shipped')).code).toBe(0)
  setSetting(shop.db, 'emails.off', 'order_receipt', 0)
  expect((await resend()).json).toMatchObject({
    error: { code: 'CONFLICT', message: expect.stringContaining('emails.off') }
  })
  shop.clock.set(Date.now())
  await sendAll(shop)
  const subjects = mailsTo(shop.dataDir, 'lena@shop.example').map(({ subject }) => subject)
  expect(subjects.filter((subject) => subject.includes('on its way'))).toHaveLength(2)
  expect(subjects).toHaveLength(4)
})

it('emails about failures are repeated as they were sent, and those of an account have new links', async () => {
  using shop = openTestShop()
  shop.clock.set(Date.now())
  const id = String(place(shop.db, draft([line(makeProduct(shop.db))], { email: 'lena@shop.example' })).id)
  const resend = (...words: string[]) => shopstead(shop.dataDir, ['mail', 'resend', ...words, '--json'])
  const none = { error: { code: 'CONFLICT', message: expect.stringContaining('last 30 days') } }
  expect((await resend(id, '--template', 'refund_failed')).json).toMatchObject(none)
  write(shop.db, (tx) => {
    const data = { orderId: Number(id), amountMinor: 750 }
    queueMail(tx, { template: 'refund_failed', recipient: 'lena@shop.example', data }, shop.clock.now())
  })
  expect((await resend(id, '--template', 'refund_failed')).json).toMatchObject({ sent: { template: 'refund_failed' } })
  await person(shop, 'jo@shop.example')
  expect((await resend('jo@shop.example')).code).toBe(2)
  expect((await resend(id, '--template', 'reset_password')).code).toBe(2)
  expect((await resend('jo@shop.example', '--template', 'password_changed')).json).toMatchObject(none)
  const reset = await resend('jo@shop.example', '--template', 'reset_password')
  expect(reset.json).toEqual({ sent: { template: 'reset_password', to: 'jo@shop.example' } })
  shop.clock.set(Date.now())
  await sendAll(shop)
  expect(mailsTo(shop.dataDir, 'lena@shop.example').map(({ text }) => text)).toEqual([
    expect.stringContaining('7.50'),
    expect.stringContaining('7.50')
  ])
  expect(mailsTo(shop.dataDir, 'jo@shop.example')).toMatchObject([
    { links: { reset: expect.stringContaining('token=') } }
  ])
})

it('a test email says how it left, or why it did not', async () => {
  using shop = openTestShop()
  const sent = await shopstead(shop.dataDir, ['mail', 'test', 'me@shop.example', '--json'])
  expect(sent.json).toMatchObject({ sent: { to: 'me@shop.example', by: 'file', at: expect.stringContaining('mail') } })
  expect(mailsTo(shop.dataDir, 'me@shop.example')[0]?.text).toContain('This is a test email')
  const env = { SHOPSTEAD_SMTP_URL: 'smtp://127.0.0.1:1' }
  const failed = await shopstead(shop.dataDir, ['mail', 'test', 'me@shop.example', '--json'], { env })
  expect(failed).toMatchObject({ code: 69, json: { error: { code: 'DEPENDENCY_UNAVAILABLE' } } })
  expect((await shopstead(shop.dataDir, ['mail', 'test', 'me'])).code).toBe(1)
})

it('a preview of an order shows every kind of sum, and the total alone in bold', async () => {
  using shop = openTestShop()
  const html = join(shop.dataDir, 'receipt.html')
  const preview = async () =>
    (await shopstead(shop.dataDir, ['mail', 'preview', 'order_receipt', '--html', html])).stdout
  const included = await preview()
  for (const sum of [
    /Subtotal: €32\.50/,
    /Coupon WELCOME10: -€3\.25/,
    /Discount: -€1\.00/,
    /Shipping: Parcel: €4\.90/,
    /Pickup: €0\.00/,
    /Total: €33\.15/,
    /incl\. 19\s?% VAT: €5\.29/
  ])
    expect(included).toMatch(sum)
  const bold = readFileSync(html, 'utf8').match(/<t[dh][^>]*font-weight: ?700[^>]*>[^<]*/g) ?? []
  expect(bold.map((cell) => cell.replace(/.*>/, '').trim())).toEqual(['Total', '€33.15'])
  await shopstead(shop.dataDir, ['settings', 'set', 'tax.pricesIncludeTax', 'false'])
  expect(await preview()).toMatch(/19\s?% VAT: €6\.30\s+Total: €39\.45/)
})

it('a preview shows the file that replaces an email, and the address of the site’s own page', async () => {
  using shop = openTestShop()
  const folder = overrideFolder(shop.dataDir)
  mkdirSync(folder)
  writeFileSync(join(folder, 'reset_password.txt'), 'Ahoy! {{link}}')
  writeFileSync(join(folder, 'verify_email.txt'), 'Ahoy without a link!')
  const page = 'https://www.example.com/new-password?token={token}'
  await shopstead(shop.dataDir, ['settings', 'set', 'emails.resetUrl', page])
  await shopstead(shop.dataDir, ['settings', 'set', 'emails.verifyUrl', page.replace('new-password', 'verify')])
  const html = join(shop.dataDir, 'reset.html')
  const shown = await shopstead(shop.dataDir, ['mail', 'preview', 'reset_password', '--html', html])
  const link = 'https://www.example.com/new-password?token=a-sample-token'
  expect(shown.stdout).toContain(`Ahoy! ${link}\nFrom your file reset_password.txt.`)
  expect(readFileSync(html, 'utf8')).toContain(`href="${link}"`)
  const refused = await shopstead(shop.dataDir, ['mail', 'preview', 'verify_email'])
  expect(refused.stdout).toContain('https://www.example.com/verify?token=a-sample-token')
  expect(refused.stdout).toContain('Your file verify_email.txt is not used: it lacks the link')
  expect((await shopstead(shop.dataDir, ['mail', 'preview', 'recipt'])).code).toBe(1)
})
