import { afterAll, beforeAll, expect, it } from 'vitest'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { languages } from '../../src/platform/texts/languages.ts'
import { findText } from '../../src/shop/settings/known-text.ts'
import { refusals } from '../../src/platform/texts/en/refusals.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop()
  setSetting(shop.app.db, 'shop.languages', 'de,fr', 0)
})
afterAll(() => shop.stop())

/** The error of a request in a language. */
async function refused(language: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  const visitor = shop.visitor({ 'accept-language': language })
  const nonce = (await visitor.get<{ nonce: string }>('/nonce')).data.nonce
  const { error } = await visitor.post(path, body, { 'x-nonce': nonce })
  return { code: error.code, message: error.message, ...error.details }
}

it('the errors of fields are in the language of the buyer, and codes and paths do not change', async () => {
  const body = { email: 'ada', password: 'tidal-basalt-93', acceptTerms: false, displayName: 'A'.repeat(400) }
  expect(await refused('de', '/auth/register', body)).toMatchObject({
    code: 'VALIDATION_FAILED',
    message: 'Einige Angaben fehlen oder sind ungültig.',
    fieldErrors: {
      email: ['Muss eine E-Mail-Adresse sein.'],
      acceptTerms: ['Muss true sein.'],
      displayName: ['Darf höchstens 100 Zeichen haben.']
    }
  })
  expect(await refused('fr', '/auth/register', body)).toMatchObject({
    code: 'VALIDATION_FAILED',
    fieldErrors: { email: ['Doit être une adresse e-mail.'], acceptTerms: ['Doit être true.'] }
  })
  expect(await refused('es', '/auth/register', body)).toMatchObject({
    fieldErrors: { email: ['Must be an email address.'] }
  })
})

it('the problems of a cart are in the language of the buyer, in a checkout and in a quote', async () => {
  const cart = {
    items: [
      { productId: 1, quantity: 1000 },
      { productId: 999, quantity: 1 }
    ],
    couponCode: 'NOPE',
    customer: { vatId: 'no' }
  }
  const german = shop.visitor({ 'accept-language': 'de-DE' })
  expect((await german.post('/store/quote', { ...cart, items: [{ productId: 1, quantity: 0 }] })).error).toMatchObject({
    details: { fieldErrors: { 'items.0.quantity': ['Muss eine ganze Zahl von 1 bis 50 sein.'] } }
  })
  const items = [{ productId: 999, quantity: 1 }]
  const { data } = await german.post('/store/quote', { ...cart, items })
  expect(data).toMatchObject({
    lines: [{ problem: { code: 'unknown_product', message: 'Artikel 1 des Warenkorbs: gibt es nicht.' } }],
    coupons: [{ problem: { code: 'coupon_unknown', message: 'Dieser Code ist nicht gültig.' } }],
    problems: [
      { code: 'unknown_product' },
      { code: 'coupon_unknown' },
      {
        code: 'vat_id_invalid',
        message: 'Geben Sie eine USt-IdNr. mit Länderkürzel ein, zum Beispiel ATU12345675.'
      }
    ]
  })
  expect(await refused('de', '/store/checkout-session', { ...cart, items })).toMatchObject({
    code: 'VALIDATION_FAILED',
    message: 'Einige Artikel können nicht gekauft werden.',
    fieldErrors: { 'items.0.productId': ['Dieses Produkt gibt es nicht.'] },
    problems: [{ code: 'unknown_product', message: 'Artikel 1 des Warenkorbs: gibt es nicht.' }, {}, {}]
  })
})

it('the errors of an address are in the language of the buyer, with the field’s name of the country', async () => {
  const shippingAddress = { address1: 'Quay 7', city: 'Austin', state: 'TX', postcode: 'none', country: 'US' }
  const body = { items: [{ productId: 1, quantity: 1 }], shippingAddress }
  expect((await refused('de', '/store/checkout-session', body))['fieldErrors']).toMatchObject({
    'shippingAddress.postcode': ['Bitte füllen Sie dieses Feld aus: ZIP-Code, zum Beispiel 95014.'],
    'shippingAddress.firstName': ['Bitte geben Sie ein, wer die Sendung bekommt.']
  })
  const buyer = shop.visitor({ 'accept-language': 'fr' })
  await buyer.register({ email: 'lou@example.com' })
  const { error } = await buyer.post('/me/address', { address: { ...shippingAddress, address1: '' } })
  expect(error.details).toMatchObject({ fieldErrors: { 'address.address1': [expect.stringMatching(/^Veuillez /)] } })
})

it('an amount, a country and a day are written as in the language', async () => {
  setSetting(shop.app.db, 'holiday.until', '2999-12-24', 0)
  const german = shop.visitor({ 'accept-language': 'de' })
  const { data } = await german.post<{ problems: { message: string }[] }>('/store/quote', {
    items: [{ productId: 1, quantity: 1 }]
  })
  expect(data.problems.map(({ message }) => message)).toContain(
    'Der Shop macht Ferien. Bis einschließlich 24. Dezember 2999 kann nichts gekauft werden.'
  )
  setSetting(shop.app.db, 'holiday.until', '', 0)
})

it('each text of the refusals is found by its English sentence, also with its values', () => {
  for (const [key, text] of Object.entries(refusals))
    for (const form of typeof text === 'string' ? [text] : Object.values(text)) {
      const sentence = form.replace('{type}', 'a number').replaceAll(/\{(\w+)\}/g, '7')
      if (!key.startsWith('say.type.')) expect([sentence, findText(sentence)?.key]).toEqual([sentence, key])
    }
  expect(Object.keys(languages)).toEqual(['en', 'de', 'fr'])
  expect(findText('Something that the shop never says.')).toBeUndefined()
})
