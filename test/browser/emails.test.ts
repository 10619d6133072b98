import { afterAll, describe, expect, test } from 'vitest'
import type { MailMessage } from '../../src/platform/mail/message.ts'
import { deliverDueMail } from '../../src/shop/mailer/mailer.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { showPicture } from '../shop/orders/support.ts'
import { queueEveryEmail } from '../shop/mailer/every-email.ts'
import { openTestShop } from '../support/shop-context.ts'
import { launchBrowser, lookAtEmail, newVisitor, picture } from './support/chromium.ts'

const browser = await launchBrowser()
const shop = openTestShop()
afterAll(async () => {
  await browser.close()
  shop[Symbol.dispose]()
})
// All go to few people, who get at most ten of some kinds in an hour.
setSetting(shop.db, 'limits.recipient_email', 'off', Date.now())
const names = await queueEveryEmail(shop)
showPicture(shop.db, 1, { width: 1200, height: 900 })
const messages: MailMessage[] = []
await deliverDueMail(
  { ...shop, publicUrl: () => 'https://shop.example' },
  { send: async (message) => void messages.push(message) }
)

test('every email is sent', () => {
  expect(messages).toHaveLength(names.length)
})

describe('in light and dark, at 600 and 320 pixels, an email is readable and loads nothing but pictures of products', () => {
  const emails = names.map((name, index) => ({ name, html: messages[index]?.html ?? '' }))
  test.each(emails)('$name', async ({ name, html }) => {
    const { page, complaints, addresses } = await newVisitor(browser)
    const pictures = 'https://shop.example/media/*.webp'
    await page.route(pictures, (route) => route.fulfill({ path: 'seeds/demo/pictures/anchor-lamp.webp' }))
    await page.setContent(html)
    await lookAtEmail(page, `email-${name}`)
    const others = addresses.filter((address) => !/^https:\/\/shop\.example\/media\/\w+-400\.webp$/.test(address))
    expect({ complaints, others }).toEqual({ complaints: [], others: [] })
    expect(name !== 'order-receipt' || addresses.length > 0).toBe(true)
    await page.context().close()
  })
})

test.each(['de', 'fr'])('every email to a buyer is in their language, and leaves a picture (%s)', async (language) => {
  using other = openTestShop()
  setSetting(other.db, 'limits.recipient_email', 'off', Date.now())
  setSetting(other.db, 'storefront.language', language, Date.now())
  const sent = await queueEveryEmail(other)
  const inLanguage: MailMessage[] = []
  await deliverDueMail(
    { ...other, publicUrl: () => 'https://shop.example' },
    { send: async (message) => void inLanguage.push(message) }
  )
  const { page } = await newVisitor(browser, { viewport: { width: 600, height: 900 } })
  await page.route('https://shop.example/**', (route) => route.abort())
  const languages: (string | undefined)[] = []
  for (const { subject, html = '' } of inLanguage) {
    languages.push(/<html[^>]* lang="(\w+)"/.exec(html)?.[1])
    await page.setContent(html)
    await picture(page, `email-${language}-${subject.replaceAll(/[^\p{L}\d]+/gu, '-').slice(0, 60)}`)
  }
  // The shop's own emails are in English, as its command line is.
  const own = sent.filter((name) => name.startsWith('shop-'))
  expect(languages.filter((each) => each === 'en')).toHaveLength(own.length)
  expect(languages.filter((each) => each === language)).toHaveLength(sent.length - own.length)
})
