import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { applyCatalogFile } from '../../src/shop/catalog/apply-catalog.ts'
import { readCatalogFile } from '../../src/shop/catalog/import/read-file.ts'
import { setSetting, switchModule, unsetSetting } from '../../src/shop/settings/settings.ts'
import { fillPlainAddress, look, newVisitor } from './support/chromium.ts'
import { demoPassword, openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop()

const limitBytes = 45 * 1024

test.each(['/', '/cart', '/account', '/thanks'])(
  'the first load of %s weighs less than 45 KB and asks no other address',
  async (path) => {
    const { page, complaints, addresses } = await newVisitor(browser)
    const network = await page.context().newCDPSession(page)
    let bytes = 0
    await network.send('Network.enable')
    network.on('Network.loadingFinished', ({ encodedDataLength }) => void (bytes += encodedDataLength))
    await page.goto(`${shop.url}${path}`, { waitUntil: 'networkidle' })
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThan(limitBytes)
    expect(addresses.filter((address) => !address.startsWith(`${shop.url}/`))).toEqual([])
    expect(complaints).toEqual([])
  }
)

test('offers are found by category and by what is typed', async () => {
  const { page, complaints } = await newVisitor(browser)
  await page.goto(shop.url)
  await look(page, 'home')
  const categories = page.getByRole('navigation', { name: 'Categories' })
  await categories.getByRole('link', { name: 'Light', exact: true }).click()
  await look(page, 'category')
  await categories.getByRole('link', { name: 'Candles' }).click()
  await page.getByRole('heading', { name: 'Candles' }).waitFor()
  expect(page.url()).toBe(`${shop.url}/?category=candles`)
  await page.getByLabel('Search the shop').fill('beeswax')
  await page.getByRole('heading', { name: 'Found for' }).waitFor()
  await expect.poll(() => page.getByRole('listitem').count()).toBeLessThan(4)
  await page.getByRole('link', { name: 'Beeswax pillar candle' }).waitFor()
  await look(page, 'search')
  await page.getByLabel('Search the shop').fill('submarine')
  await page.getByText('No products match your search.').waitFor()
  await look(page, 'search-empty')
  expect(complaints).toEqual([])
})

test('a buyer reads German, from the list to the cart and the form of an account', async () => {
  setSetting(shop.app.db, 'storefront.language', 'de', Date.now())
  const { page, complaints } = await newVisitor(browser, { locale: 'de-DE' })
  await page.goto(`${shop.url}/?category=light`)
  await page.getByLabel('Sortieren nach').selectOption('price')
  await page.getByRole('button', { name: 'Sortieren' }).click()
  await page.waitForURL('**/?category=light&sort=price')
  await look(page, 'german-list')
  await page.goto(`${shop.url}/products/beeswax-pillar`)
  await page.getByRole('button', { name: 'In den Warenkorb' }).click()
  await page.getByRole('link', { name: 'Zum Warenkorb' }).click()
  await page.getByLabel('Anzahl von Beeswax pillar candle').waitFor()
  await page.getByText('Gesamtbetrag').waitFor()
  expect(await page.locator('[data-sum=total]').innerText()).toMatch(/,\d\d\s€$/)
  await page.getByLabel('E-Mail für die Quittung').fill('mira@shop.example')
  await page.getByLabel('Vorname').fill('Ada')
  await page.getByLabel('Nachname').fill('Quill')
  await page.getByLabel('Land').selectOption('US')
  await page.getByLabel('Straße und Hausnummer').fill('Front 1')
  await page.getByLabel('Bundesstaat').selectOption('CA')
  await page.getByLabel('Ort', { exact: true }).fill('Oakland')
  await page.getByLabel('ZIP-Code').fill('1')
  await page.getByRole('button', { name: 'Zahlungspflichtig bestellen' }).click()
  await page.getByText('Bitte füllen Sie dieses Feld aus: ZIP-Code, zum Beispiel 95014.').waitFor()
  await look(page, 'german-cart')
  await page.goto(`${shop.url}/orders`)
  await page.getByRole('link', { name: 'Konto anlegen' }).click()
  await page.getByRole('heading', { name: 'Konto anlegen' }).waitFor()
  await page.goto(`${shop.url}/?category=unknown`)
  await page.getByRole('heading', { name: 'Diese Kategorie gibt es nicht' }).waitFor()
  await look(page, 'german-missing')
  expect(complaints).toEqual([])
})

test('a member and affiliate reads the account and the referrals in German', async () => {
  setSetting(shop.app.db, 'storefront.language', 'de', Date.now())
  const { page, complaints } = await newVisitor(browser, { locale: 'de-DE' })
  await page.goto(`${shop.url}/login?next=/account`)
  await page.getByLabel('E-Mail').fill('mira@shop.example')
  await page.getByLabel('Passwort').fill(demoPassword)
  await page.getByRole('button', { name: 'Anmelden' }).click()
  await page.getByRole('heading', { name: 'Lieferadresse' }).waitFor()
  await page.getByText('Konto löschen').click()
  const english = /\b(you|your|the|and|is|save|change|day|for|until|every)\b/i
  expect(await page.locator('main').innerText()).not.toMatch(english)
  await look(page, 'german-account')
  await page.goto(`${shop.url}/referrals`)
  await page.getByRole('img', { name: 'Klicks und Bestellungen nach Tagen' }).waitFor()
  await page.getByText('Zahlen nach Tagen').click()
  expect(await page.locator('main').innerText()).not.toMatch(english)
  await look(page, 'german-referrals')
  unsetSetting(shop.app.db, 'storefront.language')
  expect(complaints).toEqual([])
})

test('the list of offers works without script', async () => {
  const { page } = await newVisitor(browser, { javaScriptEnabled: false })
  await page.goto(shop.url)
  await page.getByRole('link', { name: 'Next page' }).click()
  await page.getByRole('link', { name: 'Previous page' }).waitFor()
  await page.getByLabel('Search the shop').fill('kettle')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('link', { name: 'Enamel kettle' }).click()
  await page.getByRole('heading', { name: 'Enamel kettle' }).waitFor()
})

test('a product is chosen and put into the cart by keyboard alone', async () => {
  const { page, complaints } = await newVisitor(browser)
  await page.goto(`${shop.url}/products/hurricane-lamp`)
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
  await page.keyboard.press('Enter')
  for (let step = 0; step < 8; step++) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate('document.activeElement.name')) === 'option-0') break
  }
  await page.keyboard.press('ArrowRight')
  await page.getByText('€69.00').waitFor()
  await look(page, 'product')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByText('Added to your cart.').waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Hurricane lamp - Sea green glass' }).waitFor()
  expect(await page.getByLabel('Quantity of').inputValue()).toBe('2')
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('heading', { name: 'Your cart is empty' }).waitFor()
  expect(complaints).toEqual([])
})

test('what is sold out, gone or closed is said in words', async () => {
  const { page, complaints } = await newVisitor(browser)
  await page.goto(`${shop.url}/products/fog-lamp`)
  await page.getByText('Sold out.').waitFor()
  await look(page, 'product-sold-out')
  await page.goto(`${shop.url}/products/last-lantern`)
  await page.getByText('Only 1 left').waitFor()
  await page.goto(`${shop.url}/products/keel-lantern`)
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await look(page, 'not-found')
  await page.goto(`${shop.url}/thanks?orderId=1&result=cancelled`)
  await page.getByRole('heading', { name: 'We cannot show this order' }).waitFor()
  switchModule(shop.app.db, 'commerce', false, Date.now())
  await page.goto(shop.url)
  await page.getByText('The shop is closed at the moment.').waitFor()
  await look(page, 'closed')
  switchModule(shop.app.db, 'commerce', true, Date.now())
  expect(complaints).toEqual([])
})

test('a product with two options shows the price and stock of the combination', async () => {
  const { page, complaints } = await newVisitor(browser)
  await page.goto(`${shop.url}/products/harbour-gansey`)
  await page.getByLabel('Extra large').check({ force: true })
  await page.getByText('€172.00').waitFor()
  await page.getByLabel('Oatmeal').check({ force: true })
  await page.getByText('This combination does not exist.').waitFor()
  expect(await page.getByRole('button', { name: 'Add to cart' }).isDisabled()).toBe(true)
  await look(page, 'product-options')
  await page.getByLabel('Large', { exact: true }).check({ force: true })
  await page.getByText('Only 5 left').waitFor()
  await page.getByRole('button', { name: 'Add to cart' }).click()
  await page.getByText('Added to your cart.').waitFor()
  await page.goto(`${shop.url}/cart`)
  await page.getByRole('link', { name: 'Harbour gansey - Large / Oatmeal' }).waitFor()
  expect(complaints).toEqual([])
})

test('a cart that is full says so', async () => {
  const { page } = await newVisitor(browser)
  const items = Array.from({ length: 30 }, (_, index) => `${index + 2}x1`).join('.')
  await page.context().addCookies([{ name: 'shopstead_cart', value: items, url: shop.url }])
  await page.goto(`${shop.url}/products/storm-lantern`)
  await page.getByRole('button', { name: 'Add to cart' }).click()
  await page.getByText('This product was not added.').waitFor()
})

test('a buyer without script fills the cart and reaches the payment page', async () => {
  const { page } = await newVisitor(browser, { javaScriptEnabled: false })
  await page.goto(`${shop.url}/products/hurricane-lamp`)
  await page.getByLabel('Sea green').check({ force: true })
  await page.getByRole('button', { name: 'Add to cart' }).click()
  await page.getByText('Hurricane lamp - Sea green glass').first().waitFor()
  await page.getByLabel('Email for the receipt').fill('guest@example.com')
  await fillPlainAddress(page)
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.waitForURL(/\/checkout\//)
})

/** Presses Tab until an element that matches the selector has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let step = 0; step < 40; step++) {
    await page.keyboard.press('Tab')
    if ((await page.locator(`${selector}:focus`).count()) > 0) return
  }
  throw new Error(`Tab does not reach ${selector}`)
}

test('a customer without script, with a name from right to left, orders one of 30 variations by keyboard', async () => {
  const email = 'layla@shop.example'
  await shop.visitor().register({ email, password: demoPassword, displayName: 'ليلى حداد (1)' })
  const variations = Array.from({ length: 30 }, (_, index) => ({
    sku: `CAP-${index}`,
    name: `لون ${index + 1} (صوف)`,
    price: '24.00'
  }))
  const catalog = {
    products: [{ slug: 'wool-cap', name: 'قبعة صوف (30)', price: '24.00', categories: ['قبعات', 'شتاء'], variations }]
  }
  const { file } = readCatalogFile(JSON.stringify(catalog), { currency: 'EUR', timeZone: 'UTC' })
  write(shop.app.db, (tx) => applyCatalogFile(tx, file, { keepStock: false }, Date.now()))
  const { page } = await newVisitor(browser, { javaScriptEnabled: false })
  await page.goto(`${shop.url}/login?next=/products/wool-cap`)
  await tabTo(page, '#email')
  await page.keyboard.type(email)
  await tabTo(page, '#password')
  await page.keyboard.type(demoPassword)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/products/wool-cap')
  await tabTo(page, 'select')
  await page.keyboard.press('End')
  await tabTo(page, '[data-buy]')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/cart')
  await tabTo(page, '[name^=quantity-]')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await page.getByText('€48.00').first().waitFor()
  // The checks of a page need script.
  const { page: plain, complaints } = await newVisitor(browser, { storageState: await page.context().storageState() })
  await plain.goto(`${shop.url}/products/wool-cap`)
  const [first = 0, second = 0] = await plain.evaluate<number[]>(
    `[...document.querySelectorAll('.crumbs [dir]')].map((link) => link.getBoundingClientRect().left)`
  )
  expect(first).toBeLessThan(second)
  await look(plain, 'right-to-left-product')
  await plain.goto(`${shop.url}/cart`)
  await look(plain, 'right-to-left-cart')
  await fillPlainAddress(page)
  await tabTo(page, '[name=pay]')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/checkout\//)
  await plain.goto(`${shop.url}/orders`)
  await plain.getByRole('link', { name: /^Order \d/ }).waitFor()
  const links = plain.getByRole('navigation', { name: 'Your account' }).getByRole('link')
  expect(await links.allInnerTexts()).toEqual(['Cart\n2', 'Orders', 'Referrals', 'Account'])
  await look(plain, 'plain-orders')
  await plain.goto(`${shop.url}/account`)
  await tabTo(plain, '#currentPassword')
  await plain.keyboard.type('what was it again')
  await tabTo(plain, '#newPassword')
  await plain.keyboard.type(demoPassword)
  await plain.keyboard.press('Enter')
  await plain.locator('#currentPassword-error').waitFor()
  await look(plain, 'plain-account-refused')
  expect(complaints).toEqual([])
})

test('a product that was added before the script had loaded is in the cart', async () => {
  const { page, complaints } = await newVisitor(browser)
  await page.context().addCookies([{ name: 'shopstead_cart', value: '1x2', url: shop.url }])
  await page.goto(`${shop.url}/cart`)
  expect(await page.locator('#line-1').getByText('Harbour storm lantern').getAttribute('dir')).toBe('auto')
  expect(await page.getByLabel('Quantity of').inputValue()).toBe('2')
  expect(complaints).toEqual([])
})

test('a changed price is read at once by a site that asks with the client again', async () => {
  const { page } = await newVisitor(browser)
  await page.goto(`${shop.url}/`)
  const client = await page.locator('link[rel=modulepreload][href*=create-client]').first().getAttribute('href')
  // As text, because vite would replace the import.
  const read = `import('${client}').then(async ({ createClient }) =>
    (await createClient({ baseUrl: '/api/v1' }).products.get('storm-lantern')).price.amount)`
  const price = (): Promise<number> => page.evaluate(read)
  const before = await price()
  const dearer = [{ slug: 'storm-lantern', name: 'Harbour storm lantern', price: before + 1 }]
  const { file } = readCatalogFile(JSON.stringify(dearer), { currency: 'EUR', timeZone: 'UTC' })
  write(shop.app.db, (tx) => applyCatalogFile(tx, file, { keepStock: true }, Date.now()))
  expect(await price()).toBe(before + 1)
})
