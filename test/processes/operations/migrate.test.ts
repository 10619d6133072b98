import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { journal } from '../../../src/platform/db/migrate.ts'
import {
  another,
  contentOf,
  golden,
  newest,
  programWithAnother,
  withAnother
} from '../../operations/migrate-support.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { exitOf, runShopstead } from '../../support/command-process.ts'
import { until } from '../../support/until.ts'

describe('a migration', () => {
  it('leaves the database as it was when it is killed', async () => {
    const { db, dataDir } = golden(newest)
    const before = contentOf(db.sqlite)
    const folder = withAnother(
      `DELETE FROM coupon_products;
       CREATE TABLE numbers AS WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n LIMIT 1000000000) SELECT x FROM n;`
    )
    const script = `
      const { openDatabase } = await import('./src/platform/db/database.ts')
      const { migrateDatabase } = await import('./src/platform/db/migrate.ts')
      const db = openDatabase(${JSON.stringify(join(dataDir, 'shopstead.db'))})
      migrateDatabase(db, ${JSON.stringify(folder)})`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script])
    const ended = exitOf(child)
    // The table is larger than SQLite's cache, so its first pages are written before its end.
    const log = join(dataDir, 'shopstead.db-wal')
    await until('pages of the migration', () => (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 1_000_000)
    child.kill('SIGKILL')
    expect(await ended).toBe('SIGKILL')
    expect(contentOf(db.sqlite)).toEqual(before)
    expect(db.sqlite.pragma('integrity_check', { simple: true })).toBe('ok')
  })

  it('is applied once when two processes begin a shop at once', async () => {
    const dataDir = temporaryFolder()
    const both = await Promise.all([1, 2].map(() => runShopstead(dataDir, ['init', '--json'])))
    const ids = new Set(both.filter(({ code }) => code === 0).map(({ json }) => json['shopId']))
    expect(ids.size).toBe(1)
    expect((await runShopstead(dataDir, ['migrate', '--json'])).json).toMatchObject({ applied: [], pending: [] })
  })

  it('of a newer version is asked for by serve and applied after a backup by migrate', async () => {
    const { dataDir } = golden(newest)
    const program = programWithAnother('ALTER TABLE users ADD COLUMN nickname text;')
    const run = <Json>(...args: string[]) =>
      runShopstead<Json>(dataDir, [...args, '--json'], { program, env: { SHOPSTEAD_ENV: 'test' } })
    const status = { version: newest, applied: journal().map(({ tag }) => tag), pending: [another] }
    expect((await run('migrate', '--status')).json).toEqual(status)
    expect(await run('serve')).toMatchObject({
      code: 1,
      json: { error: { code: 'CONFLICT', message: expect.stringContaining('shopstead migrate') } }
    })
    const migrated = await run<{ snapshot: string }>('migrate')
    expect(migrated).toMatchObject({ code: 0, json: { version: another, applied: [another], pending: [] } })
    expect(migrated.json.snapshot).toMatch(/before-migration\.db$/)
    const { json, code } = await runShopstead(dataDir, ['backup', 'verify', migrated.json.snapshot, '--json'])
    expect({ code, json }).toMatchObject({ code: 0, json: { verified: true, counts: { settings: 10 } } })
  })
})
