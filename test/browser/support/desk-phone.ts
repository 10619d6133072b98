import type { Browser, Page } from 'playwright-core'
import { invite } from '../../../src/shop/desk/people.ts'
import type { Role } from '../../../src/shop/desk/roles.ts'
import type { RunningShop } from '../../support/running-shop.ts'
import { newVisitor } from './chromium.ts'

/** A person of a role on a phone, with a passkey of a virtual authenticator. */
export async function personOnPhone(
  shop: RunningShop,
  browser: Browser,
  role: Role,
  email: string,
  locale = 'en'
): Promise<{ page: Page; complaints: string[] }> {
  const { page, complaints } = await newVisitor(browser, { viewport: { width: 390, height: 844 }, locale })
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true
    }
  })
  await page.goto(invite(shop.app, { email, role }, Date.now()).url)
  await page.locator('form[data-passkey] button').click()
  await page.waitForURL(`${shop.url}/desk`)
  return { page, complaints }
}
