import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { findAttribution } from '../../src/shop/orders/find.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { look, newVisitor } from './support/chromium.ts'
import { openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop()
setSetting(shop.app.db, 'shop.languages', 'de', 0)
setSetting(shop.app.db, 'law.consent', 'true', 0)

const texts = {
  en: { yes: 'Yes, store it', no: 'No', withdraw: 'No longer store which partner led me here' },
  de: { yes: 'Ja, speichern', no: 'Nein', withdraw: 'Nicht mehr speichern, welcher Partner mich hergeführt hat' }
}

const asked = (page: Page) => page.locator('[data-consent-asked]')
const stored = (page: Page): Promise<string[]> =>
  page.evaluate(
    `[...document.cookie.split('; ').filter((one) => /shopstead_(ref|campaign)=./.test(one)), ...Object.keys(localStorage)]`
  )
const clicks = (): unknown => shop.app.db.sqlite.prepare('SELECT count(*) FROM affiliate_clicks').pluck().get()

/** Buys a product as a guest, from the list of offers to the payment. Returns the affiliate of the order. */
async function buy(page: Page): Promise<string | undefined> {
  await page.locator('a[href="/products/beeswax-pillar"]').first().click()
  await page.locator('main form button[type=submit]').last().click()
  await page.locator('a[href="/cart"]').last().click()
  await page.locator('#email').fill(`guest${Date.now()}@example.com`)
  await page.locator('#lastName').fill('Quill')
  await page.locator('#country').selectOption('DE')
  await page.locator('#address1').fill('Kai 7')
  await page.locator('#postcode').fill('20457')
  await page.locator('#city').fill('Hamburg')
  await page.locator('[data-pay][name=pay]').click()
  await page.waitForURL('**/sandbox/checkout/**')
  const id = Number(shop.app.db.sqlite.prepare('SELECT max(id) FROM orders').pluck().get())
  return findAttribution(shop.app.db, id)?.affiliateRef
}

for (const [locale, { yes, no, withdraw }] of Object.entries(texts)) {
  test(`without consent nothing is stored, and the order of the same visit is credited (${locale})`, async () => {
    const { page, complaints } = await newVisitor(browser, { locale, viewport: { width: 390, height: 844 } })
    await page.goto(shop.url)
    expect(await asked(page).isVisible()).toBe(false)
    const before = clicks()
    await page.goto(`${shop.url}/?ref=mira&campaign=spring`)
    await asked(page).waitFor()
    await look(page, `tracking-consent-${locale}`)
    await page.getByRole('button', { name: no, exact: true }).click()
    expect(await asked(page).isVisible()).toBe(false)
    expect(await buy(page)).toBe('mira')
    expect([
      clicks(),
      await page
        .context()
        .storageState()
        .then(({ cookies }) => cookies.filter(({ name }) => name === 'shopstead_ref'))
    ]).toEqual([before, []])
    await page.goto(`${shop.url}/products/beeswax-pillar`)
    expect(await stored(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  test(`with consent the link counts for a later visit, until the visitor takes the consent back (${locale})`, async () => {
    const { page } = await newVisitor(browser, { locale })
    await page.goto(`${shop.url}/?ref=mira`)
    await page.getByRole('button', { name: yes }).click()
    await expect.poll(() => stored(page)).toEqual(['shopstead_ref=mira', 'shopstead.tracking'])
    await page.goto(shop.url)
    expect(await asked(page).isVisible()).toBe(false)
    expect(await buy(page)).toBe('mira')
    await page.goto(shop.url)
    await page.getByRole('button', { name: withdraw }).click()
    expect(await stored(page)).toEqual([])
  })
}
