import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getUserById } from '../../src/shop/accounts/find.ts'
import { eventsOf } from '../support/accounts.ts'
import { shopstead } from '../support/command-line.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { testClock } from '../support/shop-context.ts'

let shop: RunningShop
const clock = testClock()
beforeAll(async () => {
  shop = await startShop({ overrides: { clock } })
  const wanting = { marketingOptIn: true, verified: true }
  await makeUser(shop.app, { ...wanting, email: 'mira@shop.example', displayName: 'Mira', language: 'de' })
  await makeUser(shop.app, { ...wanting, verified: false, email: 'typed@shop.example' })
  await makeUser(shop.app, { verified: true, email: 'quiet@shop.example' })
})
afterAll(() => shop.stop())

const consents = (...words: string[]) =>
  shopstead(shop.dataDir, ['users', 'export', '--consent', 'marketing', ...words], {
    env: { SHOPSTEAD_PUBLIC_URL: shop.url }
  })

/** The link of the only person who wants news. */
async function link(): Promise<string> {
  const { json } = await consents('--json')
  const { people } = json as { people: { unsubscribeUrl: string }[] }
  return people[0]?.unsubscribeUrl ?? ''
}

describe('people who want news by email', () => {
  it('are exported with the proof of it; without a verified email, they are only counted', async () => {
    const { json, stderr } = await consents('--json')
    const at = '2026-01-15T12:00:00.000Z'
    expect(json).toEqual({
      people: [
        {
          email: 'mira@shop.example',
          name: 'Mira',
          language: 'de',
          agreedAt: at,
          agreedIn: 'registration',
          emailVerifiedAt: at,
          unsubscribeUrl: expect.stringMatching(`^${shop.url}/unsubscribe/[\\w.-]+$`)
        }
      ]
    })
    expect(stderr).toContain('1 person asked for news, but did not verify the email')
  })

  it('are written to a CSV file, and printed', async () => {
    const file = join(shop.dataDir, 'news.csv')
    expect((await consents('--csv', file)).code).toBe(0)
    const printed = (await consents()).stdout
    expect(readFileSync(file, 'utf8')).toBe(`\uFEFF${printed}`)
    expect(printed.split('\n').map((row) => row.split(',')[0])).toEqual(['email', 'mira@shop.example', ''])
  })

  it.each([
    [['mira@shop.example', '--consent', 'marketing'], 'Name an account, or pass --consent, not both.'],
    [[], 'Name an account by its email or id, or pass --consent marketing.'],
    [['mira@shop.example', '--csv', 'x.csv'], '--csv needs --consent.'],
    [['--consent', 'terms'], 'Allowed choices are marketing.']
  ])('are not exported by %j', async (words, message) => {
    const { code, stderr } = await shopstead(shop.dataDir, ['users', 'export', ...words])
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })
})

describe('the link of an email with news', () => {
  it('asks first, because mail scanners open links, and then ends the news for good', async () => {
    const url = await link()
    const asked = await fetch(url)
    expect([asked.status, await asked.text()]).toEqual([200, expect.stringContaining('Stop the news')])
    expect(getUserById(shop.app.db, 1).marketingOptIn).toBe('yes')
    // A mailbox sends this by itself (RFC 8058).
    const oneClick = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }
    for (const answer of [await fetch(url, oneClick), await fetch(url, oneClick), await fetch(url)])
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('You get no more news')])
    expect(getUserById(shop.app.db, 1)).toMatchObject({
      marketingOptIn: 'no',
      marketingOptInAt: null,
      marketingOptInFrom: 'link',
      biography: expect.stringContaining('Customer marketing opt-in: no')
    })
    expect(eventsOf(shop.app).filter((type) => type === 'account.marketing_changed')).toHaveLength(1)
    expect((await consents('--json')).json).toEqual({ people: [] })
  })

  it('works years later, and after the person has asked for news again', async () => {
    const visitor = shop.visitor()
    await visitor.post('/auth/login', { email: 'mira@shop.example', password: goodPassword })
    expect((await visitor.send('PATCH', '/me', { marketingOptIn: true })).status).toBe(200)
    const url = await link()
    expect(getUserById(shop.app.db, 1).marketingOptInFrom).toBe('account')
    clock.advance(5 * 365 * 86_400_000)
    expect((await fetch(url, { method: 'POST' })).status).toBe(200)
    expect(getUserById(shop.app.db, 1).marketingOptIn).toBe('no')
  })

  it('is gone if the shop did not make it', async () => {
    const url = (await linkOf('quiet@shop.example')).replace(/unsubscribe\/\d+\./, 'unsubscribe/1.')
    for (const each of [url, `${shop.url}/unsubscribe/x`]) {
      expect((await fetch(each)).status).toBe(410)
      expect((await fetch(each, { method: 'POST' })).status).toBe(410)
    }
  })
})

async function linkOf(email: string): Promise<string> {
  const visitor = shop.visitor()
  await visitor.post('/auth/login', { email, password: goodPassword })
  await visitor.send('PATCH', '/me', { marketingOptIn: true })
  return link()
}
