import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createApp } from '../../src/app.ts'
import { backUp } from '../../src/operations/backup/backups.ts'
import { runCheck } from '../../src/operations/diagnosis/check.ts'
import type { CheckResult } from '../../src/operations/diagnosis/check.ts'
import { databaseChecks } from '../../src/operations/diagnosis/database-checks.ts'
import { openDatabase, write } from '../../src/platform/db/database.ts'
import { emit } from '../../src/shop/webhooks/emit.ts'
import { shopstead } from '../support/command-line.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { checkOf, configOf, quietShop, silent } from './health-support.ts'

describe('shopstead health', () => {
  it('reports no failure for a new shop without a running server', async () => {
    const dataDir = await quietShop()
    const { code, json } = await shopstead<{ status: string; checks: CheckResult[] }>(dataDir, ['health', '--json'])
    expect(json.checks.filter(({ status }) => status === 'failed')).toEqual([])
    expect(code).toBe(0)
    expect(json.checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'data folder',
        'disk',
        'file modes',
        'secret',
        'database',
        'durability',
        'writes',
        'migrations',
        'write-ahead log',
        'modules',
        'invoices',
        'email templates',
        'texts',
        'clock',
        'public url',
        'forwarded requests',
        'client addresses',
        'visitors',
        'smtp',
        'stuck orders',
        'undelivered mail',
        'undelivered events',
        'backups'
      ])
    )
    for (const check of json.checks) {
      expect(check).toEqual({
        name: expect.any(String),
        status: expect.stringMatching(/^(ok|warning|failed)$/),
        message: expect.stringMatching(/./),
        advice: check.status === 'ok' ? '' : expect.stringMatching(/./)
      })
    }
  })

  it('prints one line with advice for a missing, damaged or empty database', async () => {
    const missing = join(temporaryFolder(), 'data')
    const nothing = join(temporaryFolder(), 'data')
    mkdirSync(nothing)
    const garbage = await quietShop()
    writeFileSync(join(garbage, 'shopstead.db'), 'this is no database '.repeat(500))
    const cut = await quietShop()
    truncateSync(join(cut, 'shopstead.db'), 20_000)
    const empty = await quietShop()
    writeFileSync(join(empty, 'shopstead.db'), '')
    const cases: [string, RegExp][] = [
      [missing, /The folder .* does not exist/],
      [nothing, /The database .* does not exist/],
      [garbage, /not a database/],
      [cut, /malformed|damaged|disk image/],
      [empty, /pending/]
    ]
    for (const [dataDir, wanted] of cases) {
      const { code, stdout, stderr } = await shopstead(dataDir, ['health'])
      expect(code).toBe(1)
      expect(stdout.replaceAll(/\n +/g, ' ')).toMatch(wanted)
      expect(stdout).toContain('FAILED')
      expect(stdout + stderr).not.toMatch(/at .*\.ts:\d+/)
      for (const text of stdout.split('\n').filter((text) => !text.includes(dataDir))) {
        expect(text.length).toBeLessThanOrEqual(80)
      }
    }
    expect(() => statSync(missing)).toThrow('ENOENT')
  })
})

describe('a check of the folder fails', () => {
  it('when other users can read the folder, the key or a backup', async () => {
    const dataDir = await quietShop(async (app) => void (await backUp(app, 'manual')))
    expect(await checkOf('file modes', dataDir)).toMatchObject({ status: 'ok' })
    chmodSync(dataDir, 0o755)
    expect(await checkOf('file modes', dataDir)).toMatchObject({
      status: 'warning',
      message: 'Other users can read: ..'
    })
    chmodSync(dataDir, 0o700)
    chmodSync(join(dataDir, 'secret.key'), 0o644)
    expect(await checkOf('file modes', dataDir)).toMatchObject({ message: 'Other users can read: secret.key.' })
    for (const name of readdirSync(join(dataDir, 'backups'))) chmodSync(join(dataDir, 'backups', name), 0o644)
    expect(await checkOf('file modes', dataDir)).toMatchObject({ message: expect.stringContaining('backups/') })
  })

  it('when the secret key is missing or too short', async () => {
    const dataDir = await quietShop()
    writeFileSync(join(dataDir, 'secret.key'), 'short')
    expect(await checkOf('secret', dataDir)).toMatchObject({ status: 'failed' })
    rmSync(join(dataDir, 'secret.key'))
    expect(await checkOf('secret', dataDir)).toMatchObject({
      status: 'failed',
      message: 'The file secret.key is missing.'
    })
    expect(existsSync(join(dataDir, 'secret.key'))).toBe(false)
    expect(await checkOf('secret', dataDir, { SHOPSTEAD_SECRET: 'x'.repeat(40) })).toMatchObject({ status: 'ok' })
  })
})

describe('a check of the database fails', () => {
  it('when one of its pages is damaged', async () => {
    const dataDir = await quietShop((app) => {
      for (let count = 0; count < 400; count += 1)
        write(app.db, (tx) => void emit(tx, 'account.registered', { userId: count }, 0))
    })
    const file = join(dataDir, 'shopstead.db')
    const content = readFileSync(file)
    const at = content.lastIndexOf('{"userId":200}')
    content.fill(0xff, Math.floor(at / 4096) * 4096, Math.floor(at / 4096) * 4096 + 16)
    writeFileSync(file, content)
    expect(await checkOf('database', dataDir)).toMatchObject({ status: 'failed' })
  })

  it('when rows of a large database refer to missing rows, which only --deep reads', async () => {
    const dataDir = await quietShop(({ db }) => {
      db.sqlite.pragma('foreign_keys = OFF')
      db.sqlite.exec(`INSERT INTO coupon_products (coupon_id, product_id) VALUES (7, 8);
        CREATE TABLE filler AS SELECT zeroblob(101 * 1024 * 1024) AS bytes;`)
    })
    const health = async (...options: string[]) => {
      const { json } = await shopstead<{ checks: CheckResult[] }>(dataDir, ['health', '--json', ...options])
      return json.checks.find(({ name }) => name === 'database')
    }
    expect(await health()).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(/^Opens, 10\d\.\d MB\. "shopstead health --deep" reads all of it/)
    })
    expect(await health('--deep')).toMatchObject({ status: 'failed', message: expect.stringMatching(/^2 rows/) })
  })

  it('when rows refer to missing rows', async () => {
    const dataDir = await quietShop(({ db }) => {
      db.sqlite.pragma('foreign_keys = OFF')
      db.sqlite.exec('INSERT INTO coupon_products (coupon_id, product_id) VALUES (7, 8)')
    })
    expect(await checkOf('database', dataDir)).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/^2 rows/)
    })
  })

  it('when commits are not synced to the disk', async () => {
    const dataDir = await quietShop()
    const app = createApp(configOf(dataDir), { database: 'any' }, { log: silent })
    onTestFinished(() => app.close())
    app.db.sqlite.pragma('synchronous = NORMAL')
    const durability = databaseChecks.find(({ name }) => name === 'durability')
    if (durability === undefined) throw new Error('no check')
    expect(await runCheck(app, durability)).toMatchObject({ name: 'durability', status: 'failed' })
  })

  it('when another process has locked the database, and passes after it unlocks it', async () => {
    const dataDir = await quietShop()
    const writer = openDatabase(join(dataDir, 'shopstead.db'))
    onTestFinished(() => void writer.sqlite.close())
    writer.sqlite.exec('BEGIN IMMEDIATE')
    expect(await checkOf('writes', dataDir)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('Another process')
    })
    writer.sqlite.exec('COMMIT')
    expect(await checkOf('writes', dataDir)).toMatchObject({ status: 'ok' })
  })

  it('when the database rejects writes', async () => {
    const app = createApp(configOf(await quietShop()), { database: 'any' }, { log: silent })
    onTestFinished(() => app.close())
    app.db.sqlite.pragma('query_only = ON')
    const writes = databaseChecks.find(({ name }) => name === 'writes')
    if (writes === undefined) throw new Error('no check')
    expect(await runCheck(app, writes)).toMatchObject({ status: 'failed', message: expect.stringMatching(/readonly/) })
  })

  it('when a reader keeps the write-ahead log growing', async () => {
    const dataDir = await quietShop()
    const file = join(dataDir, 'shopstead.db')
    const [reader, writer] = [openDatabase(file), openDatabase(file)]
    onTestFinished(() => [reader, writer].forEach((db) => void db.sqlite.close()))
    reader.sqlite.exec('BEGIN; SELECT count(*) FROM users')
    writer.sqlite.exec('CREATE TABLE filler (content BLOB)')
    // SQLite ignores what follows the last frame; writing as many frames takes seconds.
    truncateSync(`${file}-wal`, 300_000_000)
    expect(await checkOf('write-ahead log', dataDir)).toMatchObject({ status: 'warning' })
  })
})
