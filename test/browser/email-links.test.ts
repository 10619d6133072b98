import { expect, test } from 'vitest'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { newVisitor } from './support/chromium.ts'
import { mailTo, openDemoShop } from './support/demo-shop.ts'
import { guidePage, serveGuide } from './support/guide-site.ts'

const { shop, browser } = await openDemoShop({ SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1,::1' })
const site = await serveGuide(shop.url, {
  '/verify': guidePage("'/auth/verify-email'"),
  '/reset': guidePage("'/auth/reset-password'")
})
const ada = { email: 'ada@example.com', password: 'tidal-basalt-93' }

test('the links of emails lead to the site, which verifies an email and sets a new password through its proxy', async () => {
  const settings = {
    'registration.emailVerification': 'true',
    'emails.verifyUrl': `${site}/verify?token={token}`,
    'emails.resetUrl': `${site}/reset?token={token}`
  } as const
  for (const [key, value] of Object.entries(settings))
    setSetting(shop.app.db, key as keyof typeof settings, value, Date.now())
  const logIn = async (password: string) => (await shop.visitor().post('/auth/login', { ...ada, password })).status
  await shop.visitor().register(ada)
  expect(await logIn(ada.password)).toBe(403)

  const { page, complaints } = await newVisitor(browser)
  const verify = (await mailTo(shop, ada.email)).links.verify ?? ''
  expect(verify).toContain(`${site}/verify?token=`)
  await page.goto(verify)
  expect(await logIn(ada.password)).toBe(403)
  await page.getByLabel('Password').fill(ada.password)
  await page.getByRole('button', { name: 'Verify my email' }).click()
  await page.getByText('Your email is verified.').waitFor()
  expect(await logIn(ada.password)).toBe(200)

  await shop.visitor().post('/auth/forgot-password', { email: ada.email })
  await expect.poll(async () => (await mailTo(shop, ada.email)).links.reset ?? '').toContain(site)
  await page.goto((await mailTo(shop, ada.email)).links.reset ?? '')
  const fill = async (password: string): Promise<void> => {
    await page.getByLabel('New password').fill(password)
    await page.getByRole('button', { name: 'Set my password' }).click()
  }
  await fill('password')
  await page.locator('#message', { hasText: /password/i }).waitFor()
  await fill('quiet-heron-lands-7')
  await page.getByText('Your password is changed.').waitFor()
  expect([await logIn(ada.password), await logIn('quiet-heron-lands-7')]).toEqual([401, 200])
  expect(complaints).toEqual([])
})
