import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shopIdOfFile } from '../../src/platform/db/database-id.ts'
import { shopstead } from '../support/command-line.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { backUp } from './backup-support.ts'

const newFolder = () => join(temporaryFolder(), 'data')
const databaseOf = (dataDir: string) => join(dataDir, 'shopstead.db')

/** A new shop. */
async function newShop() {
  const dataDir = newFolder()
  const { code, json } = await shopstead<{ shopId: string }>(dataDir, ['init', '--json'])
  expect(code).toBe(0)
  return { dataDir, shopId: json.shopId }
}

/** What a command answers, as its exit status and its words. */
async function refusal(dataDir: string, args: string[], env: Record<string, string> = {}) {
  const { code, stderr } = await shopstead(dataDir, args, { env })
  return { code, text: stderr.trim() }
}
const refused = (pattern: RegExp) => ({ code: 1, text: expect.stringMatching(pattern) })

describe('shopstead init', () => {
  it('begins a shop with an id of its own, once', async () => {
    const { dataDir, shopId } = await newShop()
    expect(shopId).toMatch(/^[0-9a-f]{16}$/)
    expect(shopIdOfFile(databaseOf(dataDir))).toBe(shopId)
    expect((await newShop()).shopId).not.toBe(shopId)
    expect(await refusal(dataDir, ['init'])).toEqual(refused(/There is a shop already/))
    expect(shopIdOfFile(databaseOf(dataDir))).toBe(shopId)
  })

  it('goes on after it was interrupted', async () => {
    const dataDir = newFolder()
    mkdirSync(dataDir)
    writeFileSync(databaseOf(dataDir), '')
    expect((await shopstead(dataDir, ['init'])).code).toBe(0)
  })

  it.each<[string, (dataDir: string) => Promise<unknown> | void, Record<string, string>]>([
    ['its unit names a shop', () => undefined, { SHOPSTEAD_SHOP_ID: '0123456789abcdef' }],
    [
      'it has backups',
      async (dataDir) => {
        await backUp(dataDir)
        rmSync(join(dataDir, 'shop.id'))
      },
      {}
    ],
    ['it has the id of a shop', () => undefined, {}]
  ])('begins no second shop in a folder that lost its database: %s', async (_what, prepare, env) => {
    const { dataDir } = await newShop()
    await prepare(dataDir)
    rmSync(databaseOf(dataDir))
    const answer = refused(/There was a shop: .*Mount its disk, or restore it/)
    expect(await refusal(dataDir, ['init'], env)).toEqual(answer)
    expect(existsSync(databaseOf(dataDir))).toBe(false)
  })
})

describe('an empty folder in the place of a shop', () => {
  it.each([['migrate'], ['serve', '--port', '0'], ['orders', 'list'], ['backup', 'create']])(
    'stays empty: %s',
    async (...command) => {
      const dataDir = newFolder()
      expect(await refusal(dataDir, command)).toEqual(refused(/does not exist, or is empty.*shopstead init/))
      const env = { SHOPSTEAD_SHOP_ID: '0123456789abcdef' }
      expect(await refusal(dataDir, command, env)).toEqual(
        refused(/There was a shop: SHOPSTEAD_SHOP_ID names the shop/)
      )
      expect(existsSync(databaseOf(dataDir))).toBe(false)
    }
  )

  it('is no shop either when the file of its database is empty', async () => {
    const { dataDir } = await newShop()
    truncateSync(databaseOf(dataDir), 0)
    for (const file of ['-wal', '-shm']) rmSync(`${databaseOf(dataDir)}${file}`, { force: true })
    for (const command of [['migrate'], ['serve', '--port', '0']])
      expect(await refusal(dataDir, command)).toEqual(refused(/is empty|belongs to|There was a shop|pending/))
    const { json } = await shopstead<{ checks: object[] }>(dataDir, ['health', '--json'])
    const found = { name: 'shop', status: 'failed', message: expect.stringContaining('has no shop') }
    expect(json.checks).toContainEqual(expect.objectContaining(found))
  })
})

describe('a database of another shop', () => {
  it('is refused by every command, and named by health', async () => {
    const mine = await newShop()
    const other = await newShop()
    renameSync(databaseOf(mine.dataDir), `${mine.dataDir}/mine.db`)
    copyFileSync(databaseOf(other.dataDir), databaseOf(mine.dataDir))
    const answer = refused(new RegExp(`belongs to the shop ${other.shopId}, but the data folder .* ${mine.shopId}`))
    for (const command of [['migrate'], ['serve', '--port', '0'], ['orders', 'list']])
      expect(await refusal(mine.dataDir, command)).toEqual(answer)
    const { json } = await shopstead<{ checks: object[] }>(mine.dataDir, ['health', '--json'])
    const found = { name: 'shop', status: 'failed', message: expect.stringContaining(other.shopId) }
    expect(json.checks).toContainEqual(expect.objectContaining(found))
  })

  it('is refused when the unit names another shop, and the right one is not', async () => {
    const { dataDir, shopId } = await newShop()
    const env = { SHOPSTEAD_SHOP_ID: '0123456789abcdef' }
    expect(await refusal(dataDir, ['migrate'], env)).toEqual(refused(/but SHOPSTEAD_SHOP_ID is 0123456789abcdef/))
    expect((await shopstead(dataDir, ['migrate'], { env: { SHOPSTEAD_SHOP_ID: shopId } })).code).toBe(0)
    expect(await refusal(dataDir, ['migrate'], { SHOPSTEAD_SHOP_ID: 'mine' })).toEqual({
      code: 1,
      text: expect.stringContaining('SHOPSTEAD_SHOP_ID must be 16 hex digits')
    })
  })

  it('is not restored in the place of the shop, and a backup of the shop is, also into an empty folder', async () => {
    const mine = await newShop()
    const other = await newShop()
    const { file: foreign } = await backUp(other.dataDir)
    const { file: own } = await backUp(mine.dataDir)
    const restore = (dataDir: string, file: string, env = {}) =>
      shopstead(dataDir, ['backup', 'restore', file, '--yes'], { env })
    const wrong = await restore(mine.dataDir, foreign)
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining(`belongs to the shop ${other.shopId}`) })
    expect(shopIdOfFile(databaseOf(mine.dataDir))).toBe(mine.shopId)
    expect((await restore(mine.dataDir, own)).code).toBe(0)
    const empty = newFolder()
    const env = { SHOPSTEAD_SHOP_ID: mine.shopId }
    expect((await restore(empty, foreign, env)).code).toBe(1)
    expect((await restore(empty, own, env)).code).toBe(0)
    expect(readdirSync(empty)).toContain('shop.id')
    expect((await shopstead(empty, ['migrate'], { env })).code).toBe(0)
  })

  it('is kept from the server by the printed unit, which names the shop', async () => {
    const { dataDir, shopId } = await newShop()
    const { stdout } = await shopstead(dataDir, ['systemd', '--user', 'shopstead'])
    expect(stdout).toContain(`Environment=SHOPSTEAD_SHOP_ID=${shopId}\n`)
    expect((await shopstead(newFolder(), ['systemd'])).stdout).not.toContain('SHOP_ID')
  })
})
