import { expect, test } from 'vitest'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { look, newVisitor } from './support/chromium.ts'
import { openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop()
setSetting(shop.app.db, 'shop.languages', 'de,fr', 0)

test.each([
  ['en', 'Product safety', 'Manufacturer', 'Warnings and safety information'],
  ['de', 'Produktsicherheit', 'Hersteller', 'Warnhinweise und Sicherheitsinformationen'],
  ['fr', 'Sécurité du produit', 'Fabricant', 'Avertissements et informations de sécurité']
])(
  'a product says who made it and what to mind, in a section that a visitor opens (%s)',
  async (locale, title, maker, info) => {
    const { page, complaints } = await newVisitor(browser, { locale, viewport: { width: 390, height: 844 } })
    await page.goto(`${shop.url}/products/beeswax-pillar`)
    const section = page.locator('details.safety')
    expect(await section.locator('dl').isVisible()).toBe(false)
    await section.getByText(title).click()
    expect(await section.locator('dt').allInnerTexts()).toEqual([maker, info])
    expect(await section.locator('dd').first().innerText()).toBe(
      'Coast Road Apiaries\nHoney Lane 4, 25813 Husum, Germany\nhello@apiaries.example'
    )
    await look(page, `product-safety-${locale}`)
    await page.goto(`${shop.url}/products/enamel-mug`)
    expect(await section.count()).toBe(0)
    expect(complaints).toEqual([])
  }
)
