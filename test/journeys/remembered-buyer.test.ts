import { expect, it } from 'vitest'
import { checkOut, lamp, loggedIn, mug, shopFor } from '../api/checkout-support.ts'
import { quay } from '../support/addresses.ts'

const address = (buyer: Awaited<ReturnType<typeof loggedIn>>) =>
  buyer.get<{ address: object | null }>('/me/address').then(({ data }) => data.address)
const names = (buyer: Awaited<ReturnType<typeof loggedIn>>) =>
  buyer
    .get<{ profile: { firstName: string | null; lastName: string | null } }>('/me')
    .then(({ data: { profile } }) => [profile.firstName, profile.lastName])

it('an account keeps the name and the address of its first order, and later ones do not replace them', async () => {
  const shop = await shopFor()
  const buyer = await loggedIn(shop, 'ada@example.com')
  const other = await loggedIn(shop, 'bea@example.com')
  expect([await address(buyer), await names(buyer)]).toEqual([null, [null, null]])
  const customer = { firstName: 'Ada', lastName: 'Quill' }
  expect((await checkOut(buyer, { items: [mug], customer, shippingAddress: quay })).status).toBe(200)
  expect(await address(buyer)).toMatchObject({ address1: quay.address1, city: quay.city, country: quay.country })
  expect(await names(buyer)).toEqual(['Ada', 'Quill'])
  const elsewhere = { ...quay, address1: 'Ring 1' }
  await checkOut(buyer, { items: [lamp], customer: { firstName: 'Gwen', lastName: 'Ash' }, shippingAddress: elsewhere })
  expect(await address(buyer)).toMatchObject({ address1: quay.address1 })
  expect(await names(buyer)).toEqual(['Ada', 'Quill'])
  expect([await address(other), await names(other)]).toEqual([null, [null, null]])
})

it('an account keeps what its buyer types on the page of the order, and nothing that another visitor types there', async () => {
  const shop = await shopFor({ env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' } })
  const typed = { ...quay, firstName: 'Ada', lastName: 'Quill', payment_method: 'card' }
  const pay = async (email: string, isOwn: boolean) => {
    const buyer = await loggedIn(shop, email)
    const { data } = await buyer.post<{ checkoutUrl: string }>('/store/checkout-session', { items: [mug] })
    const url = `${shop.url}${new URL(data.checkoutUrl).pathname}`
    const sent = await (isOwn ? buyer : shop.visitor()).form(url, typed)
    expect(sent.headers.get('location')).toContain('/sandbox/checkout/')
    return [await address(buyer), await names(buyer)]
  }
  expect(await pay('ada@example.com', true)).toMatchObject([{ address1: quay.address1 }, ['Ada', 'Quill']])
  expect(await pay('bea@example.com', false)).toEqual([null, [null, null]])
})
