import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'shopstead-seed-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Result = { exitCode: number; json: { [key: string]: unknown; created?: Record<string, number> } }

/** Runs the command line as an operator would, with `--json`. */
function shopstead(args: string[], env: Record<string, string> = {}): Promise<Result> {
  const argv = ['bin/shopstead.js', ...args, '--json', '--data-dir', join(folder, 'data')]
  return new Promise((resolve) => {
    execFile(process.execPath, argv, { env: { ...process.env, ...env } }, (error, stdout) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), json: JSON.parse(stdout) })
    })
  })
}

function fileOf(name: string, content: unknown): string {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify(content))
  return file
}

beforeAll(() => shopstead(['migrate']))

describe('shopstead seed', () => {
  it('wants to be told what', async () => {
    expect(await shopstead(['seed'])).toMatchObject({ exitCode: 2, json: { error: { code: 'USAGE' } } })
    expect(await shopstead(['seed', '--orders', 'many'])).toMatchObject({
      exitCode: 2,
      json: { error: { code: 'USAGE' } }
    })
  })

  it('takes files whole or not at all, and again changes nothing', async () => {
    const mugs = fileOf('mugs.json', [{ slug: 'mug', name: 'Mug', price: '12.00', stock: 3 }])
    const club = fileOf('club.json', {
      plans: [{ slug: 'club', name: 'Club', module: 'A' }],
      affiliates: [{ code: 'nobody', user: 'nobody@shop.example' }]
    })
    expect(await shopstead(['seed', mugs, club])).toMatchObject({
      exitCode: 1,
      json: { error: { code: 'VALIDATION_FAILED' } }
    })
    const created = { products: 1, coupons: 0, plans: 0, campaigns: 0, affiliates: 0 }
    expect(await shopstead(['seed', mugs])).toMatchObject({ exitCode: 0, json: { created } })
    expect(await shopstead(['seed', mugs])).toMatchObject({ exitCode: 0, json: { unchanged: created } })
  })

  it('refuses the demo shop in production', async () => {
    const inProduction = { SHOPSTEAD_ENV: 'production' }
    expect(await shopstead(['seed', '--demo'], inProduction)).toMatchObject({
      exitCode: 1,
      json: { error: { code: 'CONFLICT' } }
    })
  })

  it('makes the demo shop and a shop of a size, each of them once', async () => {
    const first = await shopstead(['seed', '--demo', '--orders', '120'])
    expect(first).toMatchObject({ exitCode: 0, json: { created: { users: 22, affiliates: 3, orders: 120 } } })
    const again = await shopstead(['seed', '--demo', '--orders', '120'])
    expect(again.json).toMatchObject({ unchanged: { users: 22, affiliates: 3, orders: 120 } })
    expect(Object.values(again.json.created ?? {}).every((count) => count === 0)).toBe(true)
  })
})
