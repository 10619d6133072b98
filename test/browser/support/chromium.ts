import { mkdirSync, writeFileSync } from 'node:fs'
import { AxeBuilder } from '@axe-core/playwright'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'

const output = 'test/browser/output'

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync'
    ]
  })
}

/** Somebody new at the shop, with what went wrong in his browser. */
export type Visitor = { page: Page; complaints: string[]; addresses: string[] }

export async function newVisitor(browser: Browser, options: BrowserContextOptions = {}): Promise<Visitor> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, locale: 'en', ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const complaints: string[] = []
  const addresses: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // The browser writes an error for each answer that is no success; what the page makes of it is what counts.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) complaints.push(message.text())
  })
  page.on('request', (request) => addresses.push(request.url()))
  return { page, complaints, addresses }
}

type View = { kind: string; colorScheme: 'light' | 'dark'; width: number }

const pageViews: readonly View[] = [
  { kind: 'light', colorScheme: 'light', width: 1200 },
  { kind: 'dark', colorScheme: 'dark', width: 1200 },
  { kind: '320', colorScheme: 'light', width: 320 }
]

const phoneViews: readonly View[] = (['light', 'dark'] as const).map((colorScheme) => ({
  kind: `phone-${colorScheme}`,
  colorScheme,
  width: 390
}))

const emailViews: readonly View[] = ([600, 320] as const).flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ kind: `${colorScheme}-${width}`, colorScheme, width }))
)

/**
 * Checks the page as it is: no violation and nothing wider than the window, in light, in dark and at 320 pixels. Leaves a
 * picture of each in the output folder.
 */
export function look(page: Page, name: string): Promise<void> {
  return lookIn(page, name, pageViews)
}

/** The same on a phone, in light and in dark. */
export function lookOnPhone(page: Page, name: string): Promise<void> {
  return lookIn(page, name, phoneViews)
}

async function lookIn(page: Page, name: string, views: readonly View[]): Promise<void> {
  const before = page.viewportSize() ?? { width: 1200, height: 900 }
  for (const view of views) {
    await takePicture(page, name, view)
    expect(await violations(page, view), `${name}, ${view.kind}`).toEqual([])
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(before)
}

/** The same for an email, in light and dark at 600 and 320 pixels. */
export async function lookAtEmail(page: Page, name: string): Promise<void> {
  for (const view of emailViews) {
    await takePicture(page, name, view)
    expect(await violations(page, view), `${name}, ${view.kind}`).toEqual([])
  }
}

async function takePicture(page: Page, name: string, { kind, colorScheme, width }: View): Promise<void> {
  mkdirSync(output, { recursive: true })
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  await page.setViewportSize({ width, height: 900 })
  await page.screenshot({ path: `${output}/${name}-${kind}.png`, fullPage: true })
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
  expect(wide, `${name}, ${kind}: wider than the window`).toBeLessThanOrEqual(width)
}

async function violations(page: Page, { colorScheme }: View): Promise<string[]> {
  const axe = new AxeBuilder({ page })
  // Only the colours are different in dark.
  const { violations: found } = await (colorScheme === 'dark' ? axe.withRules(['color-contrast']) : axe).analyze()
  return found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' | ')}`)
}

export async function logIn(page: Page, url: string, email: string, password: string): Promise<void> {
  await page.goto(`${url}/login?next=/account`)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(`${url}/account`)
}

export async function addToCart(page: Page, url: string, slug: string): Promise<void> {
  await page.goto(`${url}/products/${slug}`)
  await page.getByRole('button', { name: 'Add to cart' }).click()
  await page.getByRole('link', { name: 'Go to the cart' }).click()
  await page.getByRole('heading', { name: 'How would you like to pay?' }).waitFor()
}

/** Fills in a German address in the cart, and waits for the shipping methods of Germany and the total with them. */
export async function fillAddress(page: Page): Promise<void> {
  await fillStreet(page)
  await page.locator('[data-shipping-methods] input:checked').first().waitFor()
  await page.locator('form:not([data-refreshing]) .totals').waitFor()
}

/** Fills in a German address in the cart. */
export async function fillStreet(page: Page): Promise<void> {
  await page.getByLabel('Country').selectOption('DE')
  await page.getByLabel('Postcode').waitFor()
  await fillHamburg(page)
}

/** Fills in the address on the page of an order: the country decides about the other fields, at once or by a button. */
export async function fillHostedAddress(page: Page, country = 'DE'): Promise<void> {
  await page.getByLabel('Country').selectOption(country)
  await page.locator('form:not([data-refreshing]) .total-bar').waitFor()
  const go = page.getByRole('button', { name: /^(Change country|Continue)$/ }).last()
  if (await go.isVisible()) await go.click()
  await (country === 'DE' ? fillHamburg(page) : fillName(page))
}

/** Fills in a German address in the cart without script. */
export async function fillPlainAddress(page: Page): Promise<void> {
  await page.getByLabel('Country').selectOption('DE')
  await page.getByRole('button', { name: 'Update the cart' }).last().click()
  await fillHamburg(page)
}

/** Fills in the name of the recipient, if the page asks for it and nothing is typed yet. */
async function fillName(page: Page): Promise<void> {
  for (const [label, name] of [
    ['First name', 'Ada'],
    ['Last name', 'Quill']
  ] as const) {
    const field = page.getByLabel(label)
    if ((await field.count()) > 0 && (await field.inputValue()) === '') await field.fill(name)
  }
}

/** Fills in the fields of a German address, and who it is. */
async function fillHamburg(page: Page): Promise<void> {
  await fillName(page)
  await page.getByLabel('Street and number').fill('Quay 7')
  await page.getByLabel('Postcode').fill('20457')
  await page.getByLabel('Town or city').fill('Hamburg')
}

/** Leaves a picture of a page that another test looks at in all colours and widths. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(output, { recursive: true })
  await page.screenshot({ path: `${output}/${name}.png`, fullPage: true })
}

/** How many sheets of A4 a page prints on. */
export async function printedPages(page: Page): Promise<number> {
  const pdf = await page.pdf({ preferCSSPageSize: true })
  return pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0
}

/** Opens the PDF behind a link in the browser's own viewer, and leaves the file and a picture of its first page. */
export async function picturePdf(page: Page, link: string, name: string): Promise<void> {
  const url = (await page.getByRole('link', { name: link }).getAttribute('href')) ?? ''
  writeFileSync(`${output}/${name}.pdf`, Buffer.from(await (await fetch(url)).arrayBuffer()))
  const viewer = await page.context().newPage()
  await viewer.setViewportSize({ width: 850, height: 1200 })
  await viewer.goto(`${url}#toolbar=0&navpanes=0&view=Fit`)
  // The viewer has no event for a page that is drawn. An empty one is a picture of some 10 KB.
  await expect
    .poll(async () => (await viewer.screenshot({ path: `${output}/${name}.png` })).length, { timeout: 20_000 })
    .toBeGreaterThan(30_000)
  await viewer.close()
}
