import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startBackupSchedule } from '../../src/operations/backup/schedule.ts'
import { inspectBackup } from '../../src/operations/backup/inspect.ts'
import { backupFiles, dropManifest, readManifest, writeManifest } from '../../src/operations/backup/manifest.ts'
import { pruneBackups } from '../../src/operations/backup/create.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { shopstead } from '../support/command-line.ts'
import { startShop } from '../support/running-shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { backUp, finished, quietShop, renameProduct, slugIn } from './backup-support.ts'
import type { Created } from './backup-support.ts'

describe('a backup', () => {
  it('is one private file that holds the secret key', async () => {
    const dataDir = await quietShop()
    const { file } = await backUp(dataDir)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(inspectBackup(file).manifest.secret).toBe(readFileSync(join(dataDir, 'secret.key'), 'utf8'))
    expect(readdirSync(join(dataDir, 'backups'))).toEqual([file.slice(join(dataDir, 'backups').length + 1)])
    const { json } = await shopstead<{ backups: Created[] }>(dataDir, ['backup', 'list', '--json'])
    expect(json.backups).toMatchObject([{ file, verified: true }])
  })

  it("is valid with an operator's own plain index and view, which a warning names", async () => {
    const dataDir = await quietShop()
    const sqlite = new Database(join(dataDir, 'shopstead.db'))
    sqlite.exec(
      'CREATE INDEX mine ON orders (email COLLATE NOCASE, total_minor); CREATE VIEW people AS SELECT email FROM users'
    )
    sqlite.close()
    const additions = ['index mine on orders', 'view people']
    const { file, ...made } = await backUp(dataDir)
    expect(made).toMatchObject({ verified: true, additions })
    const verified = await shopstead(dataDir, ['backup', 'verify', file, '--json'])
    expect(verified).toMatchObject({ code: 0, json: { verified: true, additions } })
    const { stdout } = await shopstead(dataDir, ['backup', 'verify', file])
    expect(stdout).toMatch(/Warning: it has what is not part of Shopstead:\s+index mine on orders,\s+view people/)
    expect(await shopstead(dataDir, ['backup', 'restore', file, '--yes'])).toMatchObject({ code: 0 })
  })

  it('names the folders with files that it does not contain', async () => {
    const dataDir = await quietShop()
    expect(await backUp(dataDir)).toMatchObject({ notIncluded: [] })
    for (const folder of ['downloads', 'media']) {
      mkdirSync(join(dataDir, folder), { recursive: true })
      writeFileSync(join(dataDir, folder, 'file'), '')
    }
    expect(await backUp(dataDir)).toMatchObject({ notIncluded: ['downloads', 'media'] })
    const { stdout } = await shopstead(dataDir, ['backup', 'create'])
    expect(stdout).toContain('It does not contain downloads/ and media/. Copy these files too.')
  })

  it('does not contain deleted rows', async () => {
    const dataDir = await quietShop()
    const sqlite = new Database(join(dataDir, 'shopstead.db'))
    sqlite.prepare(`INSERT INTO settings (key, value, updated_at) VALUES ('gone', '"lena@shop.example"', 0)`).run()
    sqlite.prepare(`INSERT INTO settings (key, value, updated_at) VALUES ('stays', '"mira@shop.example"', 0)`).run()
    sqlite.prepare(`DELETE FROM settings WHERE key = 'gone'`).run()
    sqlite.close()
    const { file } = await backUp(dataDir)
    const bytes = readFileSync(file)
    expect([bytes.includes('lena@shop.example'), bytes.includes('mira@shop.example')]).toEqual([false, true])
  })

  it('is removed when it is scheduled and one too many, and stays when it was made by hand', () => {
    const dataDir = temporaryFolder()
    mkdirSync(join(dataDir, 'backups'))
    const days = ['01', '02', '03', '04'].map((day) => `2026-01-${day}T03-00-00.000Z-scheduled.db`)
    for (const name of [...days, '2025-01-01T03-00-00.000Z.db']) writeFileSync(join(dataDir, 'backups', name), '')
    pruneBackups(dataDir, 2)
    expect(finished(dataDir).toSorted()).toEqual(['2025-01-01T03-00-00.000Z.db', ...days.slice(2)])
  })

  it('is listed newest first, and not while its hidden file is unfinished', () => {
    const folder = temporaryFolder()
    const names = ['2026-01-01T03-00-00.000Z.db', '2026-01-02T03-00-00.000Z.db']
    for (const name of [...names, '.2026-01-03T03-00-00.000Z.db', 'notes.txt']) writeFileSync(join(folder, name), '')
    expect(backupFiles(folder)).toEqual(names.toReversed().map((name) => join(folder, name)))
  })
})

it('a server logs once that it cannot read its schedule, and runs on', async () => {
  const { app, stop } = await startShop()
  onTestFinished(stop)
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const said: string[] = []
  const log = { debug() {}, info() {}, warn() {}, error: (text: string) => void said.push(text) }
  const schedule = startBackupSchedule({ ...app, log })
  onTestFinished(() => schedule.stop())
  const { sqlite } = app.db
  for (let times = 1; times <= 2; times += 1) {
    sqlite.exec('ALTER TABLE revisions RENAME TO away')
    for (let looks = 0; looks < 3; looks += 1) await look()
    sqlite.exec('ALTER TABLE away RENAME TO revisions')
    expect(said).toEqual(Array.from({ length: times }, () => 'backup.schedule could not be read'))
    await look()
  }
})

it('a server logs that a scheduled backup could not be started, and runs on', async () => {
  const { app, stop } = await startShop()
  onTestFinished(stop)
  setSetting(app.db, 'backup.schedule', '* * * * * *', 0)
  const said: string[] = []
  const log = { debug() {}, info() {}, warn() {}, error: (text: string) => void said.push(text) }
  // An argument with a NUL byte makes the spawn fail.
  const schedule = startBackupSchedule({ ...app, log, config: { ...app.config, dataDir: 'a\0b' } })
  onTestFinished(() => schedule.stop())
  await vi.waitFor(() => expect(said).toContain('a scheduled backup could not be started'), 5_000)
})

/** Advances to the next check of the setting, in a new turn of the event loop, because a turn reads each setting once. */
async function look(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  vi.advanceTimersByTime(2_000)
}

describe('a damaged backup', () => {
  async function goodBackup(): Promise<{ dataDir: string; file: string }> {
    const dataDir = await quietShop()
    const { file } = await backUp(dataDir)
    return { dataDir, file }
  }

  /** Changes a copy of a good backup and returns the refusals of verify and restore. */
  async function refusalsOf(spoil: (copy: string, dataDir: string) => void, good = goodBackup()): Promise<string[]> {
    const { dataDir, file } = await good
    const copy = join(dataDir, 'copy.db')
    copyFileSync(file, copy)
    spoil(copy, dataDir)
    const before = readFileSync(join(dataDir, 'shopstead.db'))
    const said: string[] = []
    for (const args of [
      ['backup', 'verify', copy, '--json'],
      ['backup', 'restore', copy, '--yes', '--json']
    ]) {
      const { json, code } = await shopstead<{ error: { message: string } }>(dataDir, args)
      expect(code).toBe(1)
      said.push(json.error.message)
    }
    expect(readFileSync(join(dataDir, 'shopstead.db')).equals(before)).toBe(true)
    return said.map((message) => message.replace(/^.* failed verification: /, ''))
  }

  it('is refused when a byte of its text has changed', async () => {
    const said = await refusalsOf((copy) => {
      const content = readFileSync(copy)
      content.write('Lanterm', content.indexOf('Lantern'))
      writeFileSync(copy, content)
    })
    expect(new Set(said)).toEqual(new Set(['its content has changed since it was made.']))
  })

  it('is rejected when it is truncated', async () => {
    for (const message of await refusalsOf((copy) => truncateSync(copy, statSync(copy).size - 8192))) {
      expect(message).toMatch(/integrity|malformed|disk image/i)
    }
  })

  it('is rejected when rows are missing', async () => {
    const said = await refusalsOf((copy) => {
      const sqlite = new Database(copy)
      sqlite.prepare('DELETE FROM product_tags').run()
      sqlite.prepare('DELETE FROM products').run()
      sqlite.close()
    })
    expect(said[0]).toBe('the table products has 0 rows instead of 1.')
  })

  it('is refused when its schema is not the one of its migrations, however good its rows are', async () => {
    const spoils: [sql: string, refusal: string][] = [
      [
        'CREATE TRIGGER free AFTER INSERT ON orders BEGIN UPDATE orders SET total_minor = 0 WHERE id = NEW.id; END',
        'it has the trigger free on orders, which is not part of Shopstead. If it is yours, drop it.'
      ],
      ...[
        ['CREATE UNIQUE INDEX mine ON orders (email)', 'index mine on orders'],
        ['CREATE INDEX mine ON orders (email) WHERE abs(total_minor) > 0', 'index mine on orders'],
        ['CREATE INDEX mine ON orders (abs(total_minor))', 'index mine on orders'],
        ['CREATE TABLE mine (id INTEGER REFERENCES orders (id) ON DELETE RESTRICT)', 'table mine']
      ].map(([sql = '', name = '']): [string, string] => [
        sql,
        `it has the ${name}, which is not part of Shopstead. If it is yours, drop it.`
      ]),
      ['DROP INDEX users_email_key', 'it lacks the index users_email_key on users.'],
      [
        `INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('', 9000000000000)`,
        'a newer Shopstead made it, and only that version can verify it.'
      ],
      [
        `INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('', 1795176994781)`,
        'a Shopstead from before version 1.0.0 made it, and this version cannot migrate it: begin with a new data folder.'
      ]
    ]
    const good = goodBackup()
    for (const [sql, refusal] of spoils) {
      const said = await refusalsOf((copy) => {
        const sqlite = new Database(copy)
        const { counts: _counts, digest: _digest, ...facts } = readManifest(sqlite) ?? {}
        dropManifest(sqlite)
        sqlite.exec(sql)
        writeManifest(sqlite, facts as Parameters<typeof writeManifest>[1])
        sqlite.close()
      }, good)
      expect(new Set(said)).toEqual(new Set([refusal]))
    }
  })

  it('is refused when it is another database, or not a database', async () => {
    const plain = await refusalsOf((copy, dataDir) => copyFileSync(join(dataDir, 'shopstead.db'), copy))
    expect(plain[0]).toBe('it is not a verified Shopstead backup.')
    const text = await refusalsOf((copy) =>
      writeFileSync(copy, 'not a database, but long enough for its header '.repeat(9))
    )
    expect(text[0]).toMatch(/not a database/)
  })
})

describe('a restore', () => {
  it('brings the database and the secret back and keeps the old ones', async () => {
    const dataDir = await quietShop()
    const secret = readFileSync(join(dataDir, 'secret.key'), 'utf8')
    const { file } = await backUp(dataDir)
    renameProduct(dataDir, 'later')
    writeFileSync(join(dataDir, 'secret.key'), `${'another'.repeat(8)}\n`)
    const { json, code } = await shopstead<{ kept: string }>(dataDir, ['backup', 'restore', file, '--yes', '--json'])
    expect({ code, json }).toMatchObject({ code: 0, json: { restored: true, secretRestored: true } })
    expect(slugIn(join(dataDir, 'shopstead.db'))).toBe('lantern')
    expect(slugIn(json.kept)).toBe('later')
    expect(readFileSync(join(dataDir, 'secret.key'), 'utf8')).toBe(secret)
    expect(statSync(join(dataDir, 'shopstead.db')).mode & 0o777).toBe(0o600)
    expect((await shopstead(dataDir, ['offers', 'show', 'lantern', '--json'])).code).toBe(0)
  })

  it('needs --yes without a terminal', async () => {
    const dataDir = await quietShop()
    const { file } = await backUp(dataDir)
    expect((await shopstead(dataDir, ['backup', 'restore', file])).code).toBe(2)
  })

  it('is rejected while a server has the database open', async () => {
    const dataDir = join(temporaryFolder(), 'data')
    const shop = await startShop({ dataDir })
    const { file } = await backUp(dataDir)
    const refused = await shopstead(dataDir, ['backup', 'restore', file, '--yes', '--json'])
    expect(refused).toMatchObject({ code: 1, json: { error: { code: 'CONFLICT' } } })
    expect(refused.stdout).toContain('stop the server')
    expect(finished(join(dataDir, '..', 'data'))).toHaveLength(1)
    expect((await shop.visitor().get('/health')).status).toBe(200)
    await shop.stop()
    expect((await shopstead(dataDir, ['backup', 'restore', file, '--yes', '--json'])).code).toBe(0)
  })

  it('works in an empty folder, and over a damaged database with its stale log', async () => {
    const dataDir = await quietShop()
    const { file } = await backUp(dataDir)
    const empty = join(temporaryFolder(), 'data')
    expect((await shopstead(empty, ['backup', 'restore', file, '--yes', '--json'])).code).toBe(0)
    expect(slugIn(join(empty, 'shopstead.db'))).toBe('lantern')

    writeFileSync(join(dataDir, 'shopstead.db'), 'garbage '.repeat(4096))
    writeFileSync(join(dataDir, 'shopstead.db-wal'), 'more garbage '.repeat(4096))
    const damaged = await shopstead(dataDir, ['orders', 'list', '--json'])
    expect(damaged.stdout).toContain('Restore it with \\"shopstead backup restore\\"')
    expect((await shopstead(dataDir, ['backup', 'restore', file, '--yes', '--json'])).code).toBe(0)
    expect(slugIn(join(dataDir, 'shopstead.db'))).toBe('lantern')
    expect(readdirSync(dataDir).filter((name) => name.startsWith('shopstead.db.before-restore'))).not.toEqual([])
  })
})
