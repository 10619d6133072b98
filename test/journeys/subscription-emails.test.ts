import { expect, it } from 'vitest'
import { settlePayments } from '../../src/shop/payments/reconcile.ts'
import { mailsTo, nextMail } from '../support/mail-files.ts'
import { benefitCatalog } from './catalog.ts'
import { buy, me, openShop, registerUser, withLoopback } from './shop.ts'
import type { JourneyShop } from './shop.ts'

const subscriptionAt = (shop: JourneyShop) => shop.app.sandbox?.ledger().subscriptions[0]

async function failRenewal(shop: JourneyShop): Promise<void> {
  shop.app.sandbox?.renewSubscription(subscriptionAt(shop)?.id ?? '', 'failed')
  await shop.app.sandbox?.deliverDue()
}

const failures = (shop: JourneyShop, email: string) =>
  mailsTo(shop.dataDir, email).filter(({ subject }) => subject.includes('did not go through'))

it('each failed try of a renewal sends one email with a link to pay with another card', async () => {
  const shop = await openShop(benefitCatalog)
  const lena = await registerUser(shop, 'lena')
  await buy(shop, lena, 'almanac-pro')
  shop.app.sandbox?.addFault({ target: 'webhook:*', fault: 'twice', times: -1 })
  await failRenewal(shop)
  await settlePayments(shop.app)
  const first = await nextMail(shop.dataDir, 'lena@shop.example', 2)
  expect(first.subject).toBe('A payment for your subscription at Shopstead Demo did not go through')
  expect(first.text).toContain('We could not charge €90.00 for your subscription to Product almanac-pro.')
  expect(first.text).toContain('We try again on 18 January 2026.')
  expect(first.text).toContain('You keep your access until 22 January 2027.')
  await failRenewal(shop)
  await nextMail(shop.dataDir, 'lena@shop.example', 3)
  expect(failures(shop, 'lena@shop.example')).toHaveLength(2)

  const link = /http\S+\/sandbox\/invoice\/\w+/.exec(first.text)?.[0] ?? ''
  const page = await shop.visitor().form(withLoopback(link), { payment_method: 'pm_card_visa' })
  expect(page.status).toBe(303)
  expect((await me(lena)).entitlements.subscriptions).toMatchObject([{ status: 'active' }])
})

it('a guest gets the email of a failed renewal too', async () => {
  const shop = await openShop(benefitCatalog)
  await buy(shop, shop.visitor(), 'almanac', { body: { customer: { email: 'guest@shop.example' } } })
  await failRenewal(shop)
  const mail = await nextMail(shop.dataDir, 'guest@shop.example', 3)
  expect(mail.text).toMatch(/Pay with another card:\nhttp\S+\/sandbox\/invoice\/in_\w+/)
})

it('an email tells that a subscription has ended, once', async () => {
  const shop = await openShop(benefitCatalog)
  await buy(shop, await registerUser(shop, 'lena'), 'almanac-pro')
  const stripe = await shop.app.cards?.client?.()
  shop.app.sandbox?.addFault({ target: 'webhook:*', fault: 'twice', times: -1 })
  await stripe?.subscriptions.cancel(subscriptionAt(shop)?.id ?? '')
  await shop.app.sandbox?.deliverDue()
  const mail = await nextMail(shop.dataDir, 'lena@shop.example', 2)
  expect(mail.subject).toBe('Your subscription at Shopstead Demo has ended')
  expect(mail.text).toContain('You keep your access until 15 January 2027. You will not be charged again.')
  expect(mailsTo(shop.dataDir, 'lena@shop.example')).toHaveLength(2)
})
