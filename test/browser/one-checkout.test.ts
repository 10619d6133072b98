import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { look, newVisitor } from './support/chromium.ts'
import { openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop({ SHOPSTEAD_PAYMENTS: 'sandbox,manual' })
setSetting(shop.app.db, 'shop.languages', 'de', 0)

const texts = {
  en: {
    order: 'Order and pay',
    due: 'You pay €28.00 now.',
    most: 'At most 50 of one product can be ordered at once.',
    summary: 'Your order €28.00',
    company: 'Last name or company'
  },
  de: {
    order: 'Zahlungspflichtig bestellen',
    due: 'Sie zahlen jetzt 28,00 €.',
    most: 'Von einem Artikel können Sie höchstens 50 auf einmal bestellen.',
    summary: 'Ihre Bestellung 28,00 €',
    company: 'Nachname oder Firma'
  }
}
const viewport = { width: 390, height: 844 }
const plain = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** A page of the shop that asks for everything: only the pillar candle is known. */
async function openOrder(page: Page): Promise<void> {
  const productId = shop.app.db.sqlite.prepare("SELECT id FROM products WHERE slug = 'beeswax-pillar'").pluck().get()
  const { data } = await shop.visitor().post<{ checkoutUrl: string }>('/store/checkout-session', {
    items: [{ productId, quantity: 1 }]
  })
  await page.goto(data.checkoutUrl)
}

/** How many pixels are between the end of an element and the begin of another one. */
async function distance(page: Page, above: string, below: string): Promise<number> {
  const [first, second] = await Promise.all([page.locator(above).boundingBox(), page.locator(below).boundingBox()])
  return (second?.y ?? 0) - ((first?.y ?? 0) + (first?.height ?? 0))
}

for (const [locale, { order, due, most, summary, company }] of Object.entries(texts)) {
  test(`country, method and coupon change the total of the hosted page in place (${locale})`, async () => {
    const { page, complaints } = await newVisitor(browser, { locale, viewport })
    await openOrder(page)
    await page.locator('#email').fill('ada@example.com')
    await page.locator('#country').selectOption('DE')
    await page.locator('#address1').waitFor()
    const chosen = page.locator('[name=shipping_method]')
    await chosen.nth(1).check()
    await expect.poll(async () => plain(await page.locator('.total-bar').innerText())).toBe(summary)
    expect(plain(await page.locator('.due').innerText())).toBe(due)
    expect(await page.locator('#email').inputValue()).toBe('ada@example.com')
    expect(await page.locator('#summary .art').count()).toBe(1)
    expect(await distance(page, '#summary', 'form .due + button')).toBeLessThan(120)
    await page.locator('#address1').fill('Kai 7')
    await page.locator('#postcode').fill('2')
    await page.locator('#city').fill('Hamburg')
    await page.getByLabel(company).fill('Leuchtturm GmbH')
    await page.getByRole('button', { name: order }).last().click()
    await page.locator('#postcode-error').waitFor()
    await page.locator('#postcode').pressSequentially('0457')
    expect(await page.locator('#postcode').getAttribute('aria-invalid')).toBeNull()
    expect(await page.locator('#postcode-error').isVisible()).toBe(false)
    await look(page, `one-checkout-${locale}`)
    await page.locator('#postcode').fill('20457')
    await page.locator('#coupon').fill('WELCOME10')
    await page.locator('button[value=coupon]').click()
    await expect.poll(async () => plain(await page.locator('.due').innerText())).not.toBe(due)
    await page.getByRole('button', { name: order }).last().click()
    await page.waitForURL('**/sandbox/checkout/**')
    expect(complaints).toEqual([])
  })

  test(`the cart says that a quantity is over the limit, and its total stays in sight (${locale})`, async () => {
    const { page, complaints } = await newVisitor(browser, { locale, viewport })
    await page.goto(`${shop.url}/products/beeswax-pillar`)
    await page.locator('main form button[type=submit]').last().click()
    await page.goto(`${shop.url}/cart`)
    const quantity = page.locator('[name^=quantity-]')
    await quantity.fill('60')
    await quantity.blur()
    await page.getByText(most).waitFor()
    expect(await quantity.inputValue()).toBe('50')
    await page.locator('#extra-code').scrollIntoViewIfNeeded()
    const bar = await page.locator('.total-bar').boundingBox()
    expect(bar?.y).toBeGreaterThanOrEqual(0)
    expect(bar?.y).toBeLessThan(100)
    await page.locator('.total-bar').click()
    await expect.poll(async () => (await page.locator('#summary').boundingBox())?.y).toBeLessThan(600)
    expect(await distance(page, '#summary', '#do')).toBeLessThan(120)
    await look(page, `one-checkout-cart-${locale}`)
    expect(complaints).toEqual([])
  })
}
