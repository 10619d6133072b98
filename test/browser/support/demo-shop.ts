import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll } from 'vitest'
import { seedDemo } from '../../../src/operations/seeding/demo.ts'
import { demoPassword } from '../../../src/operations/seeding/logins.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { startShop } from '../../support/running-shop.ts'
import type { RunningShop } from '../../support/running-shop.ts'
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

type Mail = { to: string; subject: string; links: { verify?: string; reset?: string; email?: string } }

/** The newest message to an address, in the folder that stores mail. */
export async function mailTo({ dataDir }: RunningShop, email: string): Promise<Mail> {
  const folder = join(dataDir, 'mail')
  for (let tries = 0; tries < 100; tries++) {
    const files = mailFiles(folder).toSorted().toReversed()
    const mails = files.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Mail)
    const found = mails.find((mail) => mail.to === email)
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`no mail to ${email}`)
}

function mailFiles(folder: string): string[] {
  try {
    return readdirSync(folder).filter((file) => file.endsWith('.json'))
  } catch {
    // The folder comes with the first message.
    return []
  }
}
