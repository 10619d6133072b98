import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  addToCart,
  fillAddress,
  fillHostedAddress,
  launchBrowser,
  look,
  newVisitor
} from '../browser/support/chromium.ts'
import { freePort } from '../support/free-port.ts'
import { install, packSitePackages } from '../support/packed.ts'
import type { Packed } from '../support/packed.ts'

/** How long npm and the build of Next.js may take. */
const slowMs = 600_000

type Environment = Record<string, string | undefined>

/** Walks through the starters as a site developer gets them: from `shopstead create` to a paid order in Chromium. */
export function starterTests(packed: Packed): void {
  const started: ChildProcess[] = []
  let shopUrl = ''
  let browser: Browser
  const environment = { PATH: process.env.PATH, HOME: packed.folder, NEXT_TELEMETRY_DISABLED: '1' }

  beforeAll(async () => {
    browser = await launchBrowser()
    const shop = join(packed.folder, 'shop')
    mkdirSync(shop)
    const args = [packed.program, 'dev', '--no-storefront', '--port', '0', '--json']
    const child = run(process.execPath, args, shop, { ...environment, SHOPSTEAD_LOG: 'warn' })
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
    shopUrl = (JSON.parse(line) as { url: string }).url
  }, slowMs)
  afterAll(async () => {
    // Each runs in a process group of its own, because npm starts the server as a child.
    for (const { pid } of started) if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    await browser.close()
  })

  function run(program: string, args: string[], cwd: string, env: Environment) {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
    started.push(child)
    return child
  }

  /** Creates a site, installs what it needs, and starts it. Returns its address. */
  async function open(framework: string, script: string, args: (port: string) => string[]): Promise<string> {
    const folder = join(packed.folder, framework)
    const create = [packed.program, 'create', folder, '--framework', framework]
    execFileSync(process.execPath, create, { cwd: packed.folder, env: environment })
    install(folder, packed.tarball, ...Object.values(packSitePackages(packed)).map(({ file }) => file))
    const port = String(await freePort())
    const url = `http://localhost:${port}`
    const env = { ...environment, SITE_URL: url, SHOP_URL: shopUrl, SHOP_PUBLIC_URL: shopUrl }
    execFileSync('npm', ['run', script], { cwd: folder, env, stdio: 'pipe' })
    const site = run('npm', ['start', '--', ...args(port)], folder, env)
    for await (const line of createInterface(site.stdout)) if (/listens on|Ready in/.test(line)) break
    site.stdout.resume()
    return url
  }

  it(
    'the plain starter takes a visitor of an affiliate from the product to a paid order and an account',
    { timeout: slowMs },
    async () => {
      const url = await open('plain', 'typecheck', () => [])
      const { page, complaints } = await newVisitor(browser)
      await page.goto(`${url}/?ref=mira&campaign=spring`)
      await page.getByRole('link', { name: 'Enamel kettle' }).waitFor()
      await look(page, 'starter-plain-home')
      await addToCart(page, url, 'enamel-kettle')
      await page.getByLabel('Email').fill('ada@example.com')
      await fillAddress(page)
      await look(page, 'starter-plain-cart')
      await page.getByRole('button', { name: 'Go to payment' }).click()
      await page.getByRole('button', { name: /^Pay/ }).click()
      await page.waitForURL(`${url}/thanks`)
      await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor()
      await look(page, 'starter-plain-thanks')
      await page.goto(`${url}/register?next=/account`)
      await registerAs(page, 'bea@example.com')
      await page.waitForURL(`${url}/account`)
      await page.getByRole('heading', { name: 'Your profile' }).waitFor()
      await look(page, 'starter-plain-account')
      expect(complaints).toEqual([])
      expect(lastOrder()).toMatchObject({ status: 'processing', affiliateRef: 'mira', affiliateCampaign: 'spring' })
    }
  )

  it(
    'the Next.js starter takes a visitor of an affiliate from the product to a paid order and an account',
    { timeout: slowMs },
    async () => {
      const url = await open('next', 'build', (port) => ['--port', port])
      const { page, complaints } = await newVisitor(browser)
      await page.goto(`${url}/?ref=mira&campaign=autumn`)
      await look(page, 'starter-next-home')
      await page.getByRole('link', { name: 'Enamel kettle' }).click()
      await page.getByRole('button', { name: 'Add to cart' }).click()
      await look(page, 'starter-next-product')
      await page.getByRole('link', { name: 'Go to the cart' }).click()
      await page.getByText(/^Total/).waitFor()
      await look(page, 'starter-next-cart')
      await page.getByRole('button', { name: 'Go to payment' }).click()
      await payAsGuest(page)
      await page.waitForURL(`${url}/thanks?**`)
      await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor()
      await look(page, 'starter-next-thanks')
      await page.goto(`${url}/register`)
      await registerAs(page, 'cleo@example.com')
      await page.getByRole('heading', { name: 'Hello Ada Quill' }).waitFor()
      await look(page, 'starter-next-account')
      expect(complaints).toEqual([])
      expect(lastOrder()).toMatchObject({ status: 'processing', affiliateRef: 'mira', affiliateCampaign: 'autumn' })
    }
  )

  /** The newest order in the shop. */
  function lastOrder(): unknown {
    const args = [packed.program, 'orders', 'list', '--limit', '1', '--json']
    const { orders } = JSON.parse(
      execFileSync(process.execPath, args, { cwd: join(packed.folder, 'shop'), env: environment, encoding: 'utf8' })
    ) as { orders: [{ id: number }] }
    const show = [packed.program, 'orders', 'show', String(orders[0].id), '--json']
    const text = execFileSync(process.execPath, show, {
      cwd: join(packed.folder, 'shop'),
      env: environment,
      encoding: 'utf8'
    })
    return (JSON.parse(text) as { order: unknown }).order
  }
}

/** Fills in the payment page of the shop, and pays with its test card. */
async function payAsGuest(page: Page): Promise<void> {
  await page.getByLabel('Email for the receipt').fill('ada@example.com')
  await fillHostedAddress(page)
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.getByRole('button', { name: /^Pay/ }).click()
}

async function registerAs(page: Page, email: string): Promise<void> {
  await page.getByLabel('Your name').fill('Ada Quill')
  await page.getByLabel('Email', { exact: true }).fill(email)
  await page.getByLabel('Password').fill('tidal-basalt-93')
  await page.getByLabel('I accept the terms').check()
  await page.getByRole('button', { name: 'Create my account' }).click()
}
