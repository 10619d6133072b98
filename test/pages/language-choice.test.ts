import { afterAll, beforeAll, expect, it } from 'vitest'
import { acceptedLanguage } from '../../src/platform/texts/languages.ts'
import { findUserByEmail } from '../../src/shop/accounts/find.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import type { Browser } from '../support/browser.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop()
  setSetting(shop.app.db, 'storefront.enabled', 'true', 0)
  setSetting(shop.app.db, 'shop.languages', 'de-AT', 0)
})
afterAll(() => shop.stop())

const languageAt = async (visitor: Browser, path: string): Promise<string | undefined> =>
  /<html lang="([^"]+)"/.exec(await (await visitor.fetch(`${shop.url}${path}`)).text())?.[1]

it('a page is in the language of the browser, until the visitor chooses another one', async () => {
  const visitor = shop.visitor({ 'accept-language': 'fr,de;q=0.8,en;q=0.7' })
  expect(await languageAt(visitor, '/products/mug')).toBe('de-AT')
  expect(await languageAt(shop.visitor(), '/')).toBe('en')
  const page = await (await visitor.fetch(`${shop.url}/?search=mug`)).text()
  expect(page).toContain('<a href="?search=mug&amp;lang=en" hreflang="en"')
  const chosen = await visitor.fetch(`${shop.url}/?search=mug&lang=en`)
  expect([chosen.status, chosen.headers.get('location')]).toEqual([303, '/?search=mug'])
  expect(await languageAt(visitor, '/')).toBe('en')
  const kept = await visitor.fetch(`${shop.url}/`)
  expect(kept.headers.get('vary')).toBe('accept-encoding, accept-language, cookie')
})

it('a language that the shop does not offer is not chosen', async () => {
  const visitor = shop.visitor()
  const answer = await visitor.fetch(`${shop.url}/?lang=fr`)
  expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []])
  const elsewhere = await visitor.fetch(`${shop.url}//other.example/?lang=en`)
  expect(elsewhere.headers.get('location') ?? '').not.toMatch(/^\/\//)
})

it('an account keeps the language of its registration, and that of a later login', async () => {
  const visitor = shop.visitor({ 'accept-language': 'de' })
  await visitor.register({ email: 'lena@example.com' })
  const languageOf = () => findUserByEmail(shop.app.db, 'lena@example.com')?.language
  expect(languageOf()).toBe('de-AT')
  const login = { email: 'lena@example.com', password: 'tidal-basalt-93' }
  await shop.visitor().post('/auth/login', login)
  expect(languageOf()).toBe('de-AT')
  await shop.visitor({ 'accept-language': 'en-GB' }).post('/auth/login', login)
  expect(languageOf()).toBe('en')
})

it('a message of the API is in the language of the browser, with the same code, and in English without one', async () => {
  const messageOf = async (language?: string) => {
    const visitor = shop.visitor(language === undefined ? {} : { 'accept-language': language })
    const { error } = await visitor.post('/auth/login', { email: 'nobody@example.com', password: 'wrong-basalt' })
    return `${error.code} ${error.message}`
  }
  const english = 'AUTH_INVALID_CREDENTIALS The username, email or password is incorrect.'
  for (const language of [undefined, '*', 'en-US', 'fr']) expect(await messageOf(language)).toBe(english)
  expect(await messageOf('de')).toBe('AUTH_INVALID_CREDENTIALS Benutzername, E-Mail-Adresse oder Passwort ist falsch.')
})

it.each([
  ['de', 'de'],
  ['de-CH,fr;q=0.9', 'de'],
  ['fr,en;q=0.1', 'fr-CA'],
  ['en;q=0.5,de;q=0.9', 'de'],
  ['de;q=0,en', 'en'],
  ['*', null],
  ['es', null],
  ['', null]
])('Accept-Language %j is %s among en, de and fr-CA', (header, language) => {
  expect(acceptedLanguage(header, ['en', 'de', 'fr-CA'])).toBe(language)
})
