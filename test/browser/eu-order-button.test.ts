import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { lawFolder, lawPages, writeLawFiles } from '../../src/shop/settings/law-pages.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { look, newVisitor } from './support/chromium.ts'
import { openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop()

setSetting(shop.app.db, 'shop.languages', 'de', 0)
for (const language of ['en', 'de'] as const) {
  writeLawFiles(shop.app, [language])
  for (const page of lawPages) {
    const path = join(lawFolder(shop.dataDir), language, `${page}.md`)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/\[\[[^\]]*\]\]/g, 'here'))
  }
}

const texts = {
  en: {
    goOn: 'Continue',
    order: 'Order and pay',
    due: /^You pay €[\d.]+ now\.$/,
    each: /^Then €[\d.]+ each month from .+, until you end it\. The minimum term is one month\.$/,
    law: ['Terms', 'Right of withdrawal', 'Privacy']
  },
  de: {
    goOn: 'Weiter',
    order: 'Zahlungspflichtig bestellen',
    due: /^Sie zahlen jetzt [\d,]+\s€\.$/,
    each: /^Danach [\d,]+\s€ in jedem Monat ab dem .+, bis Sie kündigen\. Die Mindestlaufzeit ist ein Monat\.$/,
    law: ['AGB', 'Widerrufsrecht', 'Datenschutz']
  }
}

const button = (page: Page, name: string) => page.locator('#do').getByRole('button', { name, exact: true })

async function putIntoCart(page: Page, slug: string): Promise<void> {
  await page.goto(`${shop.url}/products/${slug}`)
  await page.locator('main form button[type=submit]').last().click()
  await page.goto(`${shop.url}/cart`)
  await page.locator('#email').fill('ada@example.com')
}

for (const [locale, { goOn, order, due, law, each }] of Object.entries(texts)) {
  test.each([true, false])(
    `goods: price and law texts stand above the button of the cart (${locale}, script %s)`,
    async (javaScriptEnabled) => {
      const viewport = { width: 390, height: 844 }
      const { page, complaints } = await newVisitor(browser, { locale, viewport, javaScriptEnabled })
      await putIntoCart(page, 'beeswax-pillar')
      await button(page, goOn).waitFor()
      expect(await page.locator('.due').count()).toBe(0)
      await page.locator('#firstName').fill('Ada')
      await page.locator('#lastName').fill('Quill')
      await page.locator('#country').selectOption('DE')
      if (!javaScriptEnabled) await button(page, goOn).click()
      await button(page, order).waitFor()
      await page.locator('#address1').fill('Kai 7')
      await page.locator('#postcode').fill('20457')
      await page.locator('#city').fill('Hamburg')
      expect(await page.locator('.due').innerText()).toMatch(due)
      expect(await page.locator('.read-first a').allInnerTexts()).toEqual(law)
      if (javaScriptEnabled) await look(page, `order-button-${locale}`)
      await button(page, order).click()
      await page.waitForURL('**/sandbox/checkout/**')
      expect(await page.locator('form a').allInnerTexts()).toEqual(law)
      await page.getByRole('button', { name: /^Pay/ }).click()
      await page.waitForURL('**/thanks**')
      expect(complaints).toEqual([])
    }
  )

  test(`a subscription: each further period and the minimum term stand above the button of the cart (${locale})`, async () => {
    const { page } = await newVisitor(browser, { locale })
    await putIntoCart(page, 'tide-letter')
    await button(page, order).waitFor()
    expect(await page.locator('.due').allInnerTexts()).toEqual([
      expect.stringMatching(due),
      expect.stringMatching(each)
    ])
  })
}
