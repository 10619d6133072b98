import { afterAll, beforeAll, expect, it } from 'vitest'
import { getUser } from '../../src/shop/accounts/find.ts'
import { erasePerson } from '../../src/shop/customers/erase-person.ts'
import { exportPerson } from '../../src/shop/customers/export-person.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import type { Browser } from '../support/browser.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { mug } from './checkout-support.ts'

let shop: RunningShop
let ada: Browser
beforeAll(async () => {
  shop = await startShop()
  ada = shop.visitor()
  await ada.register({ email: 'ada@shop.example' })
})
afterAll(() => shop.stop())

const store = (address: object | null) => ada.post<{ address: object | null }>('/me/address', { address })
const fieldErrors = ({ error }: Awaited<ReturnType<typeof store>>) =>
  (error.details as { fieldErrors: Record<string, string[]> }).fieldErrors
const stored = async () => (await ada.get<{ address: object | null }>('/me/address')).data.address
const home = { address1: '1 Main St', city: 'Springfield', state: 'IL', postcode: '62701', country: 'US' }

it('an account has no address until one is stored, and null removes it', async () => {
  expect(await stored()).toBeNull()
  expect((await store({ ...home, state: 'illinois', country: 'us', address2: null })).data.address).toEqual(home)
  expect(await stored()).toEqual(home)
  expect((await store(null)).data.address).toBeNull()
  expect(await stored()).toBeNull()
})

it('an address follows the rules of a checkout, and another one replaces it as a whole', async () => {
  await store(home)
  const wrong = await store({ ...home, state: 'Bavaria', postcode: 'x', city: '' })
  expect([wrong.status, Object.keys(fieldErrors(wrong)).toSorted()]).toEqual([
    422,
    ['address.city', 'address.postcode', 'address.state']
  ])
  setSetting(shop.app.db, 'checkout.shipTo', 'DE', 0)
  expect(fieldErrors(await store(home))).toEqual({ 'address.country': ['We do not ship to United States.'] })
  expect((await ada.post('/me/address', {})).status).toBe(422)
  expect(fieldErrors(await store({ ...home, city: 'x'.repeat(201) }))).toHaveProperty(['address.city'])
  expect(await stored()).toEqual(home)
  const quay = { address1: 'Quay 7', city: 'Hamburg', postcode: '20457', country: 'DE' }
  expect((await store({ ...quay, state: 'dropped' })).data.address).toEqual(quay)
})

it('the payment page of an order without an address starts with it, for its customer only', async () => {
  const { data } = await ada.post<{ checkoutUrl: string }>('/store/checkout-session', { items: [mug] })
  const url = data.checkoutUrl.replace('//localhost:', '//127.0.0.1:')
  expect(await (await ada.fetch(url)).text()).toContain('value="Quay 7"')
  expect(await (await shop.visitor().fetch(url)).text()).not.toContain('Quay 7')
})

it('the export of a person has the address, and the erasure removes it', () => {
  const user = getUser(shop.app.db, 'ada@shop.example')
  expect(exportPerson(shop.app.db, user, 0).account.address).toMatchObject({ address1: 'Quay 7' })
  erasePerson(shop.app.db, user.id, 0)
  expect(shop.app.db.sqlite.prepare('SELECT address FROM users WHERE id = ?').pluck().get(user.id)).toBeNull()
})
