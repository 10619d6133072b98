import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { purgeEvents } from '../../src/shop/events/list-events.ts'
import { write } from '../../src/platform/db/database.ts'
import { shopstead } from '../support/command-line.ts'
import { makeUser } from '../support/people.ts'
import { openTestShop } from '../support/shop-context.ts'
import type { TestShop } from '../support/shop-context.ts'

type Json = {
  error?: { code: string; message: string }
  affiliate: { rate: number; status: string }
  events: { type: string; by: string | null; data: object }[]
}

const run = (shop: TestShop, ...words: string[]) =>
  shopstead<Json>(shop.dataDir, [...words, '--json'], { env: { SUDO_USER: 'lena', USER: 'root' } })

async function withMira(shop: TestShop): Promise<void> {
  await makeUser(shop, { email: 'mira@shop.example', passwordHash: 'none' })
  const create = ['--user', 'mira@shop.example', '--code', 'mira', '--status', 'active', '--rate', '25']
  await run(shop, 'affiliates', 'create', ...create)
}

function seedFile(shop: TestShop, entry: object): string {
  const file = join(shop.dataDir, 'affiliates.json')
  writeFileSync(file, JSON.stringify({ affiliates: [{ code: 'mira', user: 'mira@shop.example', ...entry }] }))
  return file
}

const mira = async (shop: TestShop) => (await run(shop, 'affiliates', 'show', 'mira')).json.affiliate

describe('a change by an operator', () => {
  it('has an event with the name of the operator, which the clean-up keeps', async () => {
    using shop = openTestShop()
    await withMira(shop)
    await run(shop, 'affiliates', 'deactivate', 'mira', '--yes')
    await run(shop, 'settings', 'set', 'affiliates.rate', '12')
    await run(shop, 'settings', 'set', 'affiliates.rate', '12')
    await run(shop, 'settings', 'unset', 'affiliates.rate')
    await run(shop, 'modules', 'disable', 'courses')
    write(shop.db, (tx) => purgeEvents(tx, Number.MAX_SAFE_INTEGER, { after: 0, limit: 100 }))
    const { events } = (await run(shop, 'events', 'list')).json
    expect(events.map(({ type, by, data }) => ({ type, by, data }))).toMatchObject([
      { type: 'module.changed', by: 'lena', data: { name: 'courses', enabled: false } },
      { type: 'setting.changed', by: 'lena', data: { key: 'affiliates.rate', from: '12', to: '10' } },
      { type: 'setting.changed', by: 'lena', data: { key: 'affiliates.rate', from: '10', to: '12' } },
      { type: 'affiliate.changed', by: 'lena', data: { from: { status: 'active' }, to: { status: 'inactive' } } },
      { type: 'affiliate.approved', by: 'lena' },
      { type: 'affiliate.rate_changed', by: 'lena', data: { affiliateId: 1, ratePercent: 25 } },
      { type: 'affiliate.applied', by: 'lena' }
    ])
  })
})

describe('a seed file', () => {
  it('without a rate leaves the rate of an affiliate alone', async () => {
    using shop = openTestShop()
    await withMira(shop)
    expect((await run(shop, 'seed', seedFile(shop, { status: 'active' }))).code).toBe(0)
    expect((await mira(shop)).rate).toBe(25)
    expect((await run(shop, 'seed', seedFile(shop, { status: 'active', rate: null }))).code).toBe(0)
    expect((await mira(shop)).rate).toBe(25)
    expect((await run(shop, 'seed', seedFile(shop, { status: 'active', rate: 20 }))).code).toBe(0)
    expect((await mira(shop)).rate).toBe(20)
  })

  it('with a higher rate or a deactivated affiliate asks first', async () => {
    using shop = openTestShop()
    await withMira(shop)
    await run(shop, 'affiliates', 'deactivate', 'mira', '--yes')
    const file = seedFile(shop, { status: 'active', rate: 30 })
    const refused = await run(shop, 'seed', file)
    expect(refused).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } })
    expect(refused.json.error?.message).toContain('mira gets 30 % instead of 25 %, mira becomes active')
    expect(await mira(shop)).toMatchObject({ rate: 25, status: 'inactive' })
    expect((await run(shop, 'seed', file, '--yes')).code).toBe(0)
    expect(await mira(shop)).toMatchObject({ rate: 30, status: 'active' })
  })
})
