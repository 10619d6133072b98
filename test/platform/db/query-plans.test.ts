import { expect, it, onTestFinished } from 'vitest'
import type { App } from '../../../src/app.ts'
import { startShop } from '../../support/running-shop.ts'
import { quay } from '../../support/addresses.ts'
import { goodPassword, makeUser } from '../../support/people.ts'

/** A scan of a table that grows with every order. The two partial indexes contain open payments only. */
const growing =
  /^SCAN (orders|order_(items|taxes|coupons|history|attributions)|users|invoices|referrals|visits|payment_attempts(?! USING INDEX payment_attempts_(open|by_discount)))\b/

/** The statements that a shop prepares from now on. */
function recordStatements({ db: { sqlite } }: App): Set<string> {
  const sources = new Set<string>()
  const prepare = sqlite.prepare.bind(sqlite)
  const record = (source: string): ReturnType<typeof prepare> => {
    sources.add(source)
    return prepare(source)
  }
  Object.assign(sqlite, { prepare: record })
  return sources
}

it('no statement of a checkout, its payment or the list of orders reads a whole table that grows', async () => {
  const shop = await startShop()
  onTestFinished(() => shop.stop())
  const sources = recordStatements(shop.app)
  const lena = await makeUser(shop.app, { email: 'lena@shop.example' })
  const visitor = shop.visitor()
  await visitor.post('/auth/login', { email: lena.email, password: goodPassword })
  const { data } = await visitor.get('/store/offers')
  const [offer] = (data as { offers: { productId: number }[] }).offers
  const items = [{ productId: offer?.productId, quantity: 1 }]
  const bought = await visitor.post('/store/checkout-session', { items, shippingAddress: quay })
  expect(bought.status).toBe(200)
  for (const path of ['/orders', '/me']) expect((await visitor.get(path)).status).toBe(200)
  const used = [...sources].filter((source) => /^\s*(select|insert|update|delete|with)\b/i.test(source))
  expect(used.length).toBeGreaterThan(30)
  const scans = used.flatMap((source) => {
    const { length } = source.match(/\?/g) ?? []
    const named = Object.fromEntries([...source.matchAll(/@(\w+)/g)].map(([, name = '']) => [name, null]))
    const values = Object.keys(named).length > 0 ? [named] : Array.from({ length }, () => null)
    const plan = shop.app.db.sqlite
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${source}`)
      .all(...values)
    return plan.filter(({ detail }) => growing.test(detail)).map(({ detail }) => `${detail}: ${source}`)
  })
  expect(scans).toEqual([])
})
