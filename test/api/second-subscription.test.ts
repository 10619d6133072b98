import { expect, it } from 'vitest'
import type { Browser } from '../support/browser.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { checkOut, fieldErrors, handoff, loggedIn, shopFor } from './checkout-support.ts'

const seed = {
  products: [
    {
      slug: 'club',
      name: 'Club',
      price: '8.00',
      type: 'digital',
      grants: [{ kind: 'subscription', interval: 'month' }]
    },
    {
      slug: 'letter',
      name: 'Letter',
      price: '3.00',
      type: 'digital',
      grants: [{ kind: 'subscription', interval: 'month' }]
    },
    { slug: 'mug', name: 'Mug', price: '12.50' }
  ]
}
const [club, letter, mug] = [1, 2, 3].map((productId) => ({ productId, quantity: 1 }))

async function subscribe(shop: RunningShop, visitor: Browser): Promise<void> {
  const { data } = await checkOut(visitor, { items: [club] })
  const page = (data.checkoutUrl ?? '').replace('//localhost:', '//127.0.0.1:')
  expect((await shop.visitor().form(page, { payment_method: 'pm_card_visa' })).status).toBe(303)
}

it('asks a customer who has the subscription before it sells a second one', async () => {
  const shop = await shopFor({ seed })
  const lena = await loggedIn(shop)
  await subscribe(shop, lena)
  for (const how of [{}, handoff]) {
    const asked = await checkOut(lena, { items: [mug, club], ...how })
    expect([asked.status, fieldErrors(asked)]).toEqual([422, ['items.1.productId']])
    expect(asked.error.details.problems).toMatchObject([{ path: 'items.1', code: 'already_subscribed' }])
  }
  expect((await checkOut(lena, { items: [mug, club], subscribeAgain: true })).status).toBe(200)
  expect((await checkOut(lena, { items: [mug, letter] })).status).toBe(200)
})

it("does not ask about another person's subscription", async () => {
  const shop = await shopFor({ seed })
  await subscribe(shop, await loggedIn(shop))
  expect((await checkOut(await loggedIn(shop, 'uma@shop.example'), { items: [club] })).status).toBe(200)
  const guest = { items: [club], customer: { email: 'lena@shop.example' } }
  expect((await checkOut(shop.visitor(), guest)).status).toBe(200)
})

it('extends a fixed period without asking', async () => {
  const shop = await shopFor({ seed })
  const lena = await loggedIn(shop)
  for (const _period of [1, 2]) expect((await checkOut(lena, { items: [club], ...handoff })).status).toBe(200)
  const renewing = await checkOut(lena, { items: [club] })
  expect([renewing.status, fieldErrors(renewing)]).toEqual([422, ['items.0.productId']])
})
