import { expect, test } from 'vitest'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { logIn, look, newVisitor } from './support/chromium.ts'
import { demoPassword, mailTo, openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop()

test('a new account logs in once its email is verified by the link in the message', async () => {
  setSetting(shop.app.db, 'registration.emailVerification', 'true', Date.now())
  const { page, complaints } = await newVisitor(browser)
  await page.goto(`${shop.url}/register`)
  await page.getByRole('button', { name: 'Create my account' }).click()
  await look(page, 'register-errors')
  await page.getByLabel('Your name').fill('Grace Hooper')
  await page.getByLabel('Email', { exact: true }).fill('grace@example.com')
  await page.getByLabel('Password').fill('password')
  await page.getByLabel('I accept the terms').check()
  await page.getByRole('button', { name: 'Create my account' }).click()
  await page.getByRole('alert').waitFor()
  await look(page, 'register-refused')
  await page.getByLabel('Password').fill('tidal-basalt-93')
  await page.getByRole('button', { name: 'Create my account' }).click()
  await page.getByRole('heading', { name: 'Almost there' }).waitFor()
  await look(page, 'register-sent')

  await page.goto(`${shop.url}/login`)
  await page.getByLabel('Email').fill('grace@example.com')
  await page.getByLabel('Password').fill('tidal-basalt-93')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByText('Please open the link').waitFor()
  await look(page, 'login-unverified')

  const { links } = await mailTo(shop, 'grace@example.com')
  await page.goto(links.verify ?? '')
  await look(page, 'verify')
  await page.getByRole('button', { name: 'Verify my email' }).click()
  await page.getByRole('heading', { name: 'Your email is verified' }).waitFor()
  await look(page, 'verified')
  await page.goto(links.verify ?? '')
  await page.getByRole('heading', { name: 'This link no longer works' }).waitFor()
  await look(page, 'verify-over')
  await logIn(page, shop.url, 'grace@example.com', 'tidal-basalt-93')
  await page.getByRole('heading', { name: 'Hello, Grace Hooper' }).waitFor()
  await look(page, 'account-empty')
  setSetting(shop.app.db, 'registration.emailVerification', 'false', Date.now())
  expect(complaints).toEqual([])
})

test('a login leads on to a page of this site, and to no other', async () => {
  const { page, complaints } = await newVisitor(browser)
  const ledTo = async (next: string): Promise<string> => {
    await page.goto(`${shop.url}/login?next=${encodeURIComponent(next)}`)
    const href = await page.locator('[data-register]').getAttribute('href')
    return new URLSearchParams(href?.split('?')[1]).get('next') ?? ''
  }
  expect(await ledTo('/cart?step=2#address')).toBe('/cart?step=2#address')
  const evil = [
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/\n\\evil.example',
    '/.//evil.example',
    'cart'
  ]
  for (const next of [...evil, 'https://evil.example/', 'javascript:alert(1)', '/:0@evil.example/../..//x.example'])
    expect([next, await ledTo(next)]).toEqual([next, ''])
  expect(complaints).toEqual([])
})

test('a forgotten password is replaced by the link in the message', async () => {
  const { page, complaints } = await newVisitor(browser)
  await page.goto(`${shop.url}/login`)
  await page.getByLabel('Email').fill('new@shop.example')
  await page.getByLabel('Password').fill('what was it again')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('alert').waitFor()
  await look(page, 'login-refused')
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  await look(page, 'forgot')
  await page.getByLabel('Email').fill('new@shop.example')
  await page.getByRole('button', { name: 'Send me the link' }).click()
  await page.getByRole('heading', { name: 'Check your email' }).waitFor()

  const { links } = await mailTo(shop, 'new@shop.example')
  await page.goto(links.reset ?? '')
  await look(page, 'reset')
  await page.getByLabel('New password').fill('password')
  await page.getByRole('button', { name: 'Set my password' }).click()
  await page.getByRole('alert').waitFor()
  await look(page, 'reset-refused')
  await page.getByLabel('New password').fill('quiet-heron-lands-7')
  await page.getByRole('button', { name: 'Set my password' }).click()
  await page.getByRole('heading', { name: 'Your password has been changed' }).waitFor()
  await look(page, 'reset-done')
  await logIn(page, shop.url, 'new@shop.example', 'quiet-heron-lands-7')
  expect(complaints).toEqual([])
})

test('a customer sees what she is entitled to, changes her name, and logs out', async () => {
  const { page, complaints } = await newVisitor(browser)
  await logIn(page, shop.url, 'lena@shop.example', demoPassword)
  await page.getByRole('heading', { name: 'Memberships' }).waitFor()
  await look(page, 'account')
  await page.getByLabel('Display name').fill('Lena Brandt')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Hello, Lena Brandt' }).waitFor()
  await page.goto(`${shop.url}/orders`)
  await page.getByRole('article').first().waitFor()
  await look(page, 'orders-all-states')
  await page.goto(`${shop.url}/account`)
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('link', { name: 'Log in' }).waitFor()
  await page.goto(`${shop.url}/orders`)
  await page.getByRole('heading', { name: 'Please log in' }).waitFor()
  await look(page, 'logged-out')
  expect(complaints).toEqual([])
})

test('a customer changes the password, and the email once its link is used, on the account page', async () => {
  await shop.visitor().register({ email: 'noor@shop.example', password: 'quiet-heron-lands-7' })
  const { page, complaints } = await newVisitor(browser)
  await logIn(page, shop.url, 'noor@shop.example', 'quiet-heron-lands-7')
  await page.getByLabel('Current password').fill('not the password')
  await page.getByLabel('New password').fill('tidal-basalt-93')
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.getByText('This is not your current password.').waitFor()
  await look(page, 'account-password-refused')
  await page.getByLabel('Current password').fill('quiet-heron-lands-7')
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.getByText('Your password is changed.').waitFor()

  await page.getByLabel('New email').fill('noor.new@shop.example')
  await page.getByLabel('Password', { exact: true }).fill('tidal-basalt-93')
  await page.getByRole('button', { name: 'Change the email' }).click()
  await page.getByText('Open the link that we send to').waitFor()
  await look(page, 'account-email-asked')
  const { links } = await mailTo(shop, 'noor.new@shop.example')
  await page.goto(links.email ?? '')
  await look(page, 'new-email')
  await page.getByRole('button', { name: 'Use this email' }).click()
  await page.getByRole('heading', { name: 'Your email has been changed' }).waitFor()
  await look(page, 'new-email-done')
  await page.getByRole('link', { name: 'My account' }).click()
  await page.getByText('noor.new@shop.example').first().waitFor()
  await page.goto(links.email ?? '')
  await page.getByRole('heading', { name: 'This link no longer works' }).waitFor()
  await page.getByRole('link', { name: 'My account' }).click()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('link', { name: 'Log in' }).waitFor()
  await logIn(page, shop.url, 'noor.new@shop.example', 'tidal-basalt-93')
  expect(complaints).toEqual([])
})

test('a customer ends a subscription after a confirmation, and manages the card at the billing portal', async () => {
  const buyer = shop.visitor()
  await buyer.register({ email: 'sub@shop.example', password: 'quiet-heron-lands-7' })
  const { data } = await buyer.get<{ offers: { productId: number; productSlug: string }[] }>(
    '/store/offers?perPage=100'
  )
  const productId = data.offers.find(({ productSlug }) => productSlug === 'tide-letter')?.productId
  const placed = await buyer.post<{ orderId: string }>('/store/checkout-session', {
    items: [{ productId, quantity: 1 }]
  })
  const session = shop.app.sandbox?.findCheckout({ clientReferenceId: placed.data.orderId })
  await shop.app.sandbox?.payCheckout(session?.id ?? '')

  const { page, complaints } = await newVisitor(browser)
  await logIn(page, shop.url, 'sub@shop.example', 'quiet-heron-lands-7')
  await page.getByText('next payment on').waitFor()
  await look(page, 'account-subscription')
  await page.getByRole('link', { name: 'Manage card and invoices' }).click()
  await page.getByRole('heading', { name: 'Manage your subscriptions' }).waitFor()
  await page.getByRole('radio', { name: 'Mastercard' }).check()
  await page.getByRole('button', { name: 'Use this card' }).click()
  await page.getByRole('link', { name: 'Return to the shop' }).click()

  await page.getByRole('button', { name: 'End subscription' }).click()
  await page.getByText('You keep access until').waitFor()
  await look(page, 'account-subscription-confirm')
  await page.getByRole('button', { name: 'Keep it' }).click()
  await page.getByRole('button', { name: 'End subscription' }).click()
  await page.getByRole('button', { name: 'Yes, end it' }).click()
  await page.getByText('Your subscription has been ended.').waitFor()
  await look(page, 'account-subscription-ended')
  await page.reload()
  await page.getByText('ends on').waitFor()
  expect(await page.getByRole('button', { name: 'End subscription' }).count()).toBe(0)
  expect(shop.app.sandbox?.ledger().subscriptions[0]).toMatchObject({ cancel_at_period_end: true })
  expect(complaints).toEqual([])
})
