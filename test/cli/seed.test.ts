import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shopstead } from '../support/command-line.ts'

const folder = mkdtempSync(join(tmpdir(), 'shopstead-seed-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Json = { [key: string]: unknown; created?: Record<string, number> }

const seed = (args: string[], env: Record<string, string> = {}) =>
  shopstead<Json>(join(folder, 'data'), ['seed', ...args, '--json'], { env })

function fileOf(name: string, content: unknown): string {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify(content))
  return file
}

beforeAll(() => shopstead(join(folder, 'data'), ['init']))

describe('shopstead seed', () => {
  it('requires a file, --demo or --orders', async () => {
    expect(await seed([])).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } })
    expect(await seed(['--orders', 'many'])).toMatchObject({
      code: 2,
      json: { error: { code: 'USAGE' } }
    })
  })

  it('takes files whole or not at all, and again changes nothing', async () => {
    const mugs = fileOf('mugs.json', [{ slug: 'mug', name: 'Mug', price: '12.00', stock: 3 }])
    const club = fileOf('club.json', {
      plans: [{ slug: 'club', name: 'Club', module: 'A' }],
      affiliates: [{ code: 'nobody', user: 'nobody@shop.example' }]
    })
    expect(await seed([mugs, club])).toMatchObject({
      code: 1,
      json: { error: { code: 'VALIDATION_FAILED' } }
    })
    const created = { products: 1, coupons: 0, plans: 0, campaigns: 0, affiliates: 0 }
    expect(await seed([mugs])).toMatchObject({ code: 0, json: { created } })
    expect(await seed([mugs])).toMatchObject({ code: 0, json: { unchanged: created } })
  })

  it('refuses the demo shop in production', async () => {
    const inProduction = { SHOPSTEAD_ENV: 'production' }
    expect(await seed(['--demo'], inProduction)).toMatchObject({
      code: 1,
      json: { error: { code: 'CONFLICT' } }
    })
  })

  it('makes the demo shop and a shop of a size, each of them once', async () => {
    const first = await seed(['--demo', '--orders', '97'])
    expect(first).toMatchObject({ code: 0, json: { created: { users: 22, affiliates: 3, orders: 97 } } })
    const again = await seed(['--demo', '--orders', '97'])
    expect(again.json).toMatchObject({ unchanged: { users: 22, affiliates: 3, orders: 97 } })
    expect(Object.values(again.json.created ?? {}).every((count) => count === 0)).toBe(true)
  })
})
