import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shopstead } from '../support/command-line.ts'
import { demoShop } from '../support/demo-shop.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const production = { SHOPSTEAD_ENV: '', SHOPSTEAD_PORT: '0', SHOPSTEAD_PUBLIC_URL: 'https://shop.example' }

function emptyShop(): string {
  const dataDir = temporaryFolder()
  createMigratedDatabase(join(dataDir, 'shopstead.db'))
  return dataDir
}

describe('shopstead serve without SHOPSTEAD_ENV', () => {
  it('is production: it takes no payments from the sandbox', async () => {
    const dataDir = emptyShop()
    const server = await shopstead(dataDir, ['serve', '--json'], { env: production })
    expect(server).toMatchObject({ code: 0, json: { publicUrl: 'https://shop.example' } })
    const env = { ...production, SHOPSTEAD_PAYMENTS: 'sandbox' }
    expect(await shopstead(dataDir, ['serve', '--json'], { env })).toMatchObject({
      code: 1,
      json: { error: { code: 'CONFIG_INVALID', details: { variable: 'SHOPSTEAD_PAYMENTS' } } }
    })
  })

  it('requires a public URL, which is https unless it is this machine or http is allowed', async () => {
    const dataDir = emptyShop()
    const serve = (env: Record<string, string>) =>
      shopstead(dataDir, ['serve', '--json'], { env: { ...production, ...env } })
    const refused = { code: 1, json: { error: { details: { variable: 'SHOPSTEAD_PUBLIC_URL' } } } }
    expect(await serve({ SHOPSTEAD_PUBLIC_URL: '' })).toMatchObject(refused)
    expect(await serve({ SHOPSTEAD_PUBLIC_URL: 'http://shop.example' })).toMatchObject(refused)
    expect((await serve({ SHOPSTEAD_PUBLIC_URL: 'http://shop.example', SHOPSTEAD_ALLOW_HTTP: 'true' })).code).toBe(0)
    expect((await serve({ SHOPSTEAD_PUBLIC_URL: 'http://localhost:3000' })).code).toBe(0)
  })

  it('refuses the demo shop, because the password of its accounts is public', async () => {
    const dataDir = demoShop()
    const refusal = await shopstead(dataDir, ['serve', '--json'], { env: production })
    expect(refusal).toMatchObject({ code: 1, json: { error: { code: 'CONFLICT' } } })
    expect(refusal.stdout).toContain('whose password is public')
    const env = { SHOPSTEAD_ENV: 'development', SHOPSTEAD_PORT: '0' }
    expect((await shopstead(dataDir, ['serve', '--json'], { env })).code).toBe(0)
  })
})
