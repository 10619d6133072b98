import { afterAll, describe, expect, test } from 'vitest'
import type { MailMessage } from '../../src/platform/mail/message.ts'
import { deliverDueMail } from '../../src/shop/mailer/deliver.ts'
import { queueEveryEmail } from '../shop/mailer/every-email.ts'
import { openTestShop } from '../support/shop-context.ts'
import { launchBrowser, lookAtEmail, newVisitor } from './support/chromium.ts'

const browser = await launchBrowser()
const shop = openTestShop()
afterAll(async () => {
  await browser.close()
  shop[Symbol.dispose]()
})
const names = await queueEveryEmail(shop)
const messages: MailMessage[] = []
await deliverDueMail(shop, { send: async (message) => void messages.push(message) })

test('every email is sent', () => {
  expect(messages).toHaveLength(names.length)
})

describe('in light and dark, at 600 and 320 pixels, an email is readable and loads nothing', () => {
  const emails = names.map((name, index) => ({ name, html: messages[index]?.html ?? '' }))
  test.each(emails)('$name', async ({ name, html }) => {
    const { page, complaints, addresses } = await newVisitor(browser)
    await page.setContent(html)
    await lookAtEmail(page, `email-${name}`)
    expect({ complaints, addresses }).toEqual({ complaints: [], addresses: [] })
    await page.context().close()
  })
})
