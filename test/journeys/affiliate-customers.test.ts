import { describe, expect, it } from 'vitest'
import { createAffiliate } from '../../src/shop/affiliates/create.ts'
import { decideAffiliate } from '../../src/shop/affiliates/decide.ts'
import { findBinding } from '../../src/shop/affiliates/bindings.ts'
import { getUser } from '../../src/shop/accounts/find.ts'
import { confirmEmail } from '../../src/shop/customers/verify-email.ts'
import { erasePerson } from '../../src/shop/customers/erase-person.ts'
import { exportPerson } from '../../src/shop/customers/export-person.ts'
import { explainOrder } from '../../src/shop/orders/explain.ts'
import { checkOut, handoff, orderOf, set, shopFor } from '../api/checkout-support.ts'
import type { Browser } from '../support/browser.ts'
import { mailsTo, tokenOf } from '../support/mail-files.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { testClock } from '../support/shop-context.ts'

const dayMs = 86_400_000
const password = 'tidal-basalt-93'
const lamp = { productId: 1, quantity: 1 }

/** Mira and Jonas are affiliates; customers stay theirs for `days`. */
async function openShop(days: string, settings: Parameters<typeof set>[1] = {}) {
  const clock = testClock()
  const shop = await shopFor({
    seed: { products: [{ slug: 'lamp', name: 'Lamp', price: '40.00' }] },
    settings: { 'limits.checkout_ip': 'off', 'affiliates.customerDays': days, ...settings },
    overrides: { clock }
  })
  for (const code of ['mira', 'jonas']) {
    const { id: userId } = await makeUser(shop.app, { email: `${code}@shop.example` })
    createAffiliate(shop.app.db, { userId, code, status: 'active', rateBps: null }, clock.now())
  }
  return { shop, clock, db: shop.app.db }
}

async function register(shop: RunningShop, email: string, query: string): Promise<Browser> {
  const visitor = shop.visitor()
  const nonce = { 'x-nonce': await visitor.nonce() }
  const body = { email, password, displayName: 'Ada', acceptTerms: true }
  expect((await visitor.post(`/auth/register${query}`, body, nonce)).status).toBe(201)
  return visitor
}

async function buy(shop: RunningShop, visitor: Browser, query = '', body: object = {}) {
  const answer = await checkOut(visitor, { items: [lamp], ...handoff, ...body }, { query })
  expect(answer.status).toBe(200)
  const { order, attribution } = orderOf(shop, answer)
  const explained = explainOrder(shop.app.db, order.id).attribution.map(({ rule, input, outcome }) =>
    [rule, input, outcome].join(' | ')
  )
  return {
    order,
    explained,
    credited: [attribution?.affiliateRef, attribution?.creditedBy, attribution?.affiliateCampaign]
  }
}

const nobody = ['', null, '']
const byMira = ['mira', 'customer', 'spring']

describe('a customer who registered by the link of an affiliate', () => {
  it('is theirs for the days of the setting, from any browser', async () => {
    const { shop, clock, db } = await openShop('90')
    const ada = await register(shop, 'ada@example.com', '?ref=mira&campaign=spring')
    const first = await buy(shop, ada)
    expect(first.credited).toEqual(byMira)
    expect(first.explained[0]).toBe(
      'customer | affiliate mira | credited: the customer registered by the link of an active affiliate'
    )
    clock.advance(89 * dayMs)
    const again = shop.visitor()
    await again.post('/auth/login', { email: 'ada@example.com', password })
    expect((await buy(shop, again)).credited).toEqual(byMira)
    clock.advance(dayMs)
    await again.post('/auth/login', { email: 'ada@example.com', password })
    const late = await buy(shop, again)
    expect(late.credited).toEqual(nobody)
    expect(late.explained[0]).toContain('ignored: the days of the customer are over')
    set(shop, { 'affiliates.customerDays': 'always' })
    expect((await buy(shop, again)).credited).toEqual(byMira)
    set(shop, { 'affiliates.customerDays': 'off' })
    expect((await buy(shop, again)).credited).toEqual(nobody)
    expect(findBinding(db, getUser(db, 'ada@example.com').id)).toBeUndefined()
  })

  it('and a link of another affiliate follow affiliates.precedence', async () => {
    const { shop } = await openShop('always')
    const ada = await register(shop, 'ada@example.com', '?ref=mira&campaign=spring')
    const bought = await buy(shop, ada, '?ref=jonas')
    expect(bought.credited).toEqual(['jonas', 'link', ''])
    expect(bought.explained[1]).toBe(
      'customer | affiliate mira | not credited: the link comes first (affiliates.precedence)'
    )
    set(shop, { 'affiliates.precedence': 'customer,coupon,link' })
    expect((await buy(shop, ada, '?ref=jonas')).credited).toEqual(byMira)
  })

  it('is the customer of nobody without the setting, or by a link that does not count', async () => {
    const { shop, db } = await openShop('off')
    const bindings = () => db.sqlite.prepare('SELECT count(*) FROM affiliate_customers').pluck().get()
    await register(shop, 'a@example.com', '?ref=mira')
    set(shop, { 'affiliates.customerDays': '30' })
    await register(shop, 'b@example.com', '?ref=nobody')
    await register(shop, 'c@example.com', '?ref=%07')
    await register(shop, 'd@example.com', '')
    decideAffiliate(db, 'mira', 'deactivate', 0)
    await register(shop, 'e@example.com', '?ref=mira')
    expect(bindings()).toBe(0)
    await register(shop, 'f@example.com', '?ref=jonas')
    expect(bindings()).toBe(1)
  })

  it('earns nothing for an affiliate who is not active any more, and is theirs again afterwards', async () => {
    const { shop, db } = await openShop('always')
    const ada = await register(shop, 'ada@example.com', '?ref=mira&campaign=spring')
    decideAffiliate(db, 'mira', 'deactivate', 0)
    const bought = await buy(shop, ada)
    expect([bought.credited, bought.explained[0]]).toEqual([
      nobody,
      'customer | affiliate mira | ignored: the affiliate was not active'
    ])
    decideAffiliate(db, 'mira', 'approve', 0)
    expect((await buy(shop, ada)).credited).toEqual(byMira)
    erasePerson(db, getUser(db, 'mira@shop.example').id, 0)
    expect((await buy(shop, ada)).credited).toEqual(nobody)
  })

  it('is exported, and forgotten with the account', async () => {
    const { shop, db, clock } = await openShop('30')
    await register(shop, 'ada@example.com', '?ref=mira&campaign=spring')
    const user = getUser(db, 'ada@example.com')
    expect(exportPerson(db, user, clock.now()).registeredBy).toMatchObject({
      affiliateCode: 'mira',
      campaign: 'spring'
    })
    erasePerson(db, user.id, clock.now())
    expect(db.sqlite.prepare('SELECT * FROM affiliate_customers').all()).toEqual([])
  })

  it('can have registered with the first order', async () => {
    const { shop, db } = await openShop('always')
    const customer = { email: 'ada@example.com', createAccount: true, password }
    await buy(shop, shop.visitor(), '?ref=mira&campaign=spring', { customer })
    expect(findBinding(db, getUser(db, 'ada@example.com').id)).toMatchObject({
      affiliate: { code: 'mira' },
      campaign: 'spring'
    })
  })

  it('is not theirs when the owner of the mailbox takes over an account that a stranger registered', async () => {
    const { shop, db } = await openShop('always', { 'limits.token_ip': 'off' })
    await register(shop, 'ada@example.com', '?ref=mira')
    const { id } = getUser(db, 'ada@example.com')
    expect(findBinding(db, id)).toBeDefined()
    await shop.visitor().post('/auth/forgot-password', { email: 'ada@example.com' })
    const link = () => mailsTo(shop.dataDir, 'ada@example.com').findLast(({ links }) => links.reset)?.links.reset
    await expect.poll(link, { timeout: 10_000 }).toBeDefined()
    const reset = await shop
      .visitor()
      .post('/auth/reset-password', { token: tokenOf(link()), password: 'granite-willow-71' })
    expect(reset.status).toBe(200)
    expect(findBinding(db, id)).toBeUndefined()
  })

  it('stays theirs after a reset of the password once the email is proven', async () => {
    const { shop, db } = await openShop('always', { 'limits.token_ip': 'off' })
    await register(shop, 'ada@example.com', '?ref=mira')
    const { id } = getUser(db, 'ada@example.com')
    confirmEmail(db, id, shop.app.clock.now())
    await shop.visitor().post('/auth/forgot-password', { email: 'ada@example.com' })
    const link = () => mailsTo(shop.dataDir, 'ada@example.com').findLast(({ links }) => links.reset)?.links.reset
    await expect.poll(link, { timeout: 10_000 }).toBeDefined()
    await shop.visitor().post('/auth/reset-password', { token: tokenOf(link()), password: 'granite-willow-71' })
    expect(findBinding(db, id)).toBeDefined()
  })
})

describe('a visitor who follows the links of two affiliates', () => {
  const click = async (visitor: Browser, body: object) => {
    const answer = await visitor.post<{ trackingDays: number | null }>('/affiliates/clicks', body)
    const cookies = answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
    return [answer.data.trackingDays, ...cookies]
  }

  it('belongs to the last one by default', async () => {
    const { shop } = await openShop('off')
    const visitor = shop.visitor()
    expect(await click(visitor, { ref: 'mira' })).toEqual([30, 'shopstead_ref=mira'])
    expect(await click(visitor, { ref: 'jonas', current: 'mira' })).toEqual([30, 'shopstead_ref=jonas'])
  })

  it('stays with the first one that still counts, by cookie or by what the site says, with affiliates.click first', async () => {
    const { shop, db } = await openShop('off', { 'affiliates.click': 'first' })
    const visitor = shop.visitor()
    expect(await click(visitor, { ref: 'mira' })).toEqual([30, 'shopstead_ref=mira'])
    expect(await click(visitor, { ref: 'jonas' })).toEqual([null])
    expect(await click(shop.visitor(), { ref: 'jonas', current: '1' })).toEqual([null])
    expect(await click(visitor, { ref: 'MIRA' })).toEqual([30, 'shopstead_ref=mira'])
    expect(await click(shop.visitor(), { ref: 'jonas', current: 'unknown' })).toEqual([30, 'shopstead_ref=jonas'])
    decideAffiliate(db, 'mira', 'deactivate', 0)
    expect(await click(visitor, { ref: 'jonas' })).toEqual([30, 'shopstead_ref=jonas'])
    const counted = db.sqlite.prepare('SELECT affiliate_id, clicks FROM affiliate_clicks ORDER BY 1').raw().all()
    expect(counted).toEqual([
      [1, 2],
      [2, 4]
    ])
  })

  it('gives way to another when the first is the visitor', async () => {
    const { shop } = await openShop('off', { 'affiliates.click': 'first' })
    const mira = shop.visitor()
    await click(mira, { ref: 'mira' })
    await mira.post('/auth/login', { email: 'mira@shop.example', password: goodPassword })
    expect(await click(mira, { ref: 'jonas' })).toEqual([30, 'shopstead_ref=jonas'])
  })
})
