import type { Browser } from 'playwright-core'
import { afterAll } from 'vitest'
import { seedDemo } from '../../../src/operations/seeding/demo.ts'
import { demoPassword } from '../../../src/operations/seeding/logins.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { mailsTo } from '../../support/mail-files.ts'
import type { MailFile } from '../../support/mail-files.ts'
import { startShop } from '../../support/running-shop.ts'
import type { RunningShop } from '../../support/running-shop.ts'
import { until } from '../../support/until.ts'
import { launchBrowser } from './chromium.ts'

export { demoPassword }

/** The demo shop with its storefront and a browser, for all tests of a file. */
export async function openDemoShop(env: Record<string, string> = {}): Promise<{ shop: RunningShop; browser: Browser }> {
  const [shop, browser] = await Promise.all([startDemoShop(env), launchBrowser()])
  afterAll(async () => {
    await browser.close()
    await shop.stop()
  })
  return { shop, browser }
}

/** The demo shop at the address that its own links have. */
async function startDemoShop(env: Record<string, string>): Promise<RunningShop> {
  const shop = await startShop({ seed: null, env })
  await seedDemo(shop.app, Date.now())
  setSetting(shop.app.db, 'storefront.enabled', 'true', Date.now())
  return { ...shop, url: shop.app.publicUrl() }
}

/** The newest message to an address, once there is one. */
export function mailTo({ dataDir }: RunningShop, email: string): Promise<MailFile> {
  return until(`an email to ${email}`, () => mailsTo(dataDir, email).at(-1))
}
