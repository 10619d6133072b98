import { spawn } from 'node:child_process'
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { startBackupSchedule } from '../../src/operations/backup/schedule.ts'
import { inspectBackup } from '../../src/operations/backup/inspect.ts'
import { pruneBackups } from '../../src/operations/backup/create.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { exitOf, runShopstead, spawnShopstead } from '../support/command-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startShop } from '../support/running-shop.ts'

type Created = { file: string; bytes: number; createdAt: string; verified: boolean }

/** The data folder of a shop that has one product and no running server. */
async function quietShop(): Promise<{ dataDir: string; productId: number }> {
  const dataDir = join(temporaryFolder(), 'data')
  const shop = await startShop({ dataDir, seed: { products: [{ slug: 'lantern', name: 'Lantern', price: '12.50' }] } })
  await shop.stop()
  return { dataDir, productId: 1 }
}

async function backUp(dataDir: string): Promise<Created> {
  const { json, code } = await runShopstead<Created>(dataDir, ['backup', 'create', '--json'])
  expect(code).toBe(0)
  return json
}

function finished(dataDir: string): string[] {
  const folder = join(dataDir, 'backups')
  return existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('.')) : []
}

function rename(dataDir: string, slug: string): void {
  const sqlite = new Database(join(dataDir, 'shopstead.db'))
  sqlite.prepare('UPDATE products SET slug = ?').run(slug)
  sqlite.close()
}

function slugIn(file: string): unknown {
  const sqlite = new Database(file, { readonly: true })
  try {
    return sqlite.prepare('SELECT slug FROM products').pluck().get()
  } finally {
    sqlite.close()
  }
}

describe('a backup', () => {
  test('contains every order that was acknowledged before it began, while 300 orders a second are written', async () => {
    const { dataDir, productId } = await quietShop()
    const database = join(dataDir, 'shopstead.db')
    const writer = spawn(process.execPath, ['test/operations/order-writer.ts', database, String(productId)])
    onTestFinished(() => void writer.kill('SIGKILL'))
    let printed = ''
    writer.stdout.on('data', (chunk: Buffer) => void (printed += chunk.toString()))
    const acknowledged = (): number[] => printed.split('\n').slice(0, -1).map(Number)
    while (acknowledged().length < 300) await new Promise((resolve) => setTimeout(resolve, 20))

    const before = acknowledged()
    const { file, verified, bytes, createdAt } = await backUp(dataDir)
    expect(acknowledged().length).toBeGreaterThan(before.length)
    expect({ verified, bytes }).toEqual({ verified: true, bytes: statSync(file).size })
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)

    const sqlite = new Database(file, { readonly: true })
    onTestFinished(() => void sqlite.close())
    const kept = new Set(sqlite.prepare('SELECT id FROM orders').pluck().all())
    expect(before.filter((id) => !kept.has(id))).toEqual([])
    expect(sqlite.prepare('SELECT count(*) FROM order_items').pluck().get()).toBe(kept.size)
  })

  test('is one private file with the secret key in it', async () => {
    const { dataDir } = await quietShop()
    const { file } = await backUp(dataDir)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(inspectBackup(file).manifest.secret).toBe(readFileSync(join(dataDir, 'secret.key'), 'utf8'))
    expect(readdirSync(join(dataDir, 'backups'))).toEqual([file.slice(join(dataDir, 'backups').length + 1)])
    const { json } = await runShopstead<{ backups: Created[] }>(dataDir, ['backup', 'list', '--json'])
    expect(json.backups).toMatchObject([{ file, verified: true }])
  })

  test('does not contain deleted data', async () => {
    const { dataDir } = await quietShop()
    const sqlite = new Database(join(dataDir, 'shopstead.db'))
    sqlite.prepare(`INSERT INTO settings (key, value, updated_at) VALUES ('gone', '"lena@shop.example"', 0)`).run()
    sqlite.prepare(`DELETE FROM settings WHERE key = 'gone'`).run()
    sqlite.close()
    const { file } = await backUp(dataDir)
    expect(readFileSync(file).includes('lena@shop.example')).toBe(false)
  })

  test('leaves no unverified file when its process is killed, and the next one deletes its drafts', async () => {
    const { dataDir } = await quietShop()
    const sqlite = new Database(join(dataDir, 'shopstead.db'))
    const filler = sqlite.prepare('INSERT INTO events (type, payload, created_at) VALUES (?, ?, 0)')
    sqlite.transaction(() => {
      for (let count = 0; count < 40_000; count += 1)
        filler.run('order.paid', JSON.stringify({ text: 'x'.repeat(200) }))
    })()
    sqlite.close()
    const started = performance.now()
    await backUp(dataDir)
    const wholeMs = performance.now() - started
    let cutShort = 0
    for (let moment = 1; moment <= 10; moment += 1) {
      const before = finished(dataDir)
      const child = spawnShopstead(dataDir, ['backup', 'create'])
      const ended = exitOf(child)
      await new Promise((resolve) => setTimeout(resolve, (wholeMs * moment) / 10.5))
      child.kill('SIGKILL')
      if ((await ended) === 'SIGKILL') cutShort += 1
      for (const name of finished(dataDir).filter((name) => !before.includes(name))) {
        expect(inspectBackup(join(dataDir, 'backups', name)).verified).toBe(true)
      }
    }
    expect(cutShort).toBeGreaterThan(4)
    await backUp(dataDir)
    expect(readdirSync(join(dataDir, 'backups')).filter((name) => name.startsWith('.'))).toEqual([])
  })

  test('is deleted beyond the limit if it was scheduled, and kept if an operator made it', () => {
    const dataDir = temporaryFolder()
    mkdirSync(join(dataDir, 'backups'))
    const days = ['01', '02', '03', '04'].map((day) => `2026-01-${day}T03-00-00.000Z-scheduled.db`)
    for (const name of [...days, '2025-01-01T03-00-00.000Z.db']) writeFileSync(join(dataDir, 'backups', name), '')
    pruneBackups(dataDir, 2)
    expect(finished(dataDir).toSorted()).toEqual(['2025-01-01T03-00-00.000Z.db', ...days.slice(2)])
  })
})

test('a running server follows a change of backup.schedule and keeps backup.keep backups', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  const shop = await startShop({ dataDir })
  onTestFinished(() => shop.stop())
  expect((await runShopstead(dataDir, ['settings', 'set', 'backup.schedule', 'each night', '--json'])).code).toBe(1)
  await runShopstead(dataDir, ['settings', 'set', 'backup.keep', '2'])
  await runShopstead(dataDir, ['settings', 'set', 'backup.schedule', '* * * * * *'])
  const seen = new Set<string>()
  while (seen.size < 4) {
    for (const name of finished(dataDir)) seen.add(name)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await runShopstead(dataDir, ['settings', 'unset', 'backup.schedule'])
  expect([...seen].every((name) => name.endsWith('-scheduled.db'))).toBe(true)
  expect(finished(dataDir).length).toBeLessThanOrEqual(3)
})

test('a server keeps running and logs one error when it cannot read the schedule', async () => {
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

test('a server keeps running when it cannot start a scheduled backup', async () => {
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

test.skipIf(process.getuid?.() !== 0)("a restore reports that it cannot read another user's backup", async () => {
  const { dataDir } = await quietShop()
  const { file } = await backUp(dataDir)
  const copy = join(temporaryFolder(), 'copy.db')
  copyFileSync(file, copy)
  const folder = temporaryFolder()
  chownSync(folder, 65_534, 65_534)
  const { code, stderr } = await runShopstead(folder, ['backup', 'restore', copy, '--yes'], { uid: 65_534 })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`cannot read ${copy}`) })
})

describe('a damaged backup', () => {
  /** Changes a copy of a good backup and returns the reasons for which verify and restore reject it. */
  async function refusalsOf(spoil: (copy: string, dataDir: string) => void): Promise<string[]> {
    const { dataDir } = await quietShop()
    const { file } = await backUp(dataDir)
    const copy = join(dataDir, 'copy.db')
    copyFileSync(file, copy)
    spoil(copy, dataDir)
    const before = readFileSync(join(dataDir, 'shopstead.db'))
    const said: string[] = []
    for (const args of [
      ['backup', 'verify', copy, '--json'],
      ['backup', 'restore', copy, '--yes', '--json']
    ]) {
      const { json, code } = await runShopstead<{ error: { message: string } }>(dataDir, args)
      expect(code).toBe(1)
      said.push(json.error.message)
    }
    expect(readFileSync(join(dataDir, 'shopstead.db')).equals(before)).toBe(true)
    return said.map((message) => message.replace(/^.* failed verification: /, ''))
  }

  test('is rejected when a byte of a text has changed', async () => {
    const said = await refusalsOf((copy) => {
      const content = readFileSync(copy)
      content.write('Lanterm', content.indexOf('Lantern'))
      writeFileSync(copy, content)
    })
    expect(new Set(said)).toEqual(new Set(['its content has changed since it was made.']))
  })

  test('is rejected when it is truncated', async () => {
    for (const message of await refusalsOf((copy) => truncateSync(copy, statSync(copy).size - 8192))) {
      expect(message).toMatch(/integrity|malformed|disk image/i)
    }
  })

  test('is rejected when rows are missing', async () => {
    const said = await refusalsOf((copy) => {
      const sqlite = new Database(copy)
      sqlite.prepare('DELETE FROM product_tags').run()
      sqlite.prepare('DELETE FROM products').run()
      sqlite.close()
    })
    expect(said[0]).toBe('the table products has 0 rows instead of 1.')
  })

  test('is rejected when it is another database, or not a database', async () => {
    const plain = await refusalsOf((copy, dataDir) => copyFileSync(join(dataDir, 'shopstead.db'), copy))
    expect(plain[0]).toBe('it is not a verified Shopstead backup.')
    const text = await refusalsOf((copy) =>
      writeFileSync(copy, 'not a database, but long enough for its header '.repeat(9))
    )
    expect(text[0]).toMatch(/not a database/)
  })
})

describe('a restore', () => {
  test('restores the database and the secret key and keeps the previous ones', async () => {
    const { dataDir } = await quietShop()
    const secret = readFileSync(join(dataDir, 'secret.key'), 'utf8')
    const { file } = await backUp(dataDir)
    rename(dataDir, 'later')
    writeFileSync(join(dataDir, 'secret.key'), `${'another'.repeat(8)}\n`)
    const { json, code } = await runShopstead<{ kept: string }>(dataDir, ['backup', 'restore', file, '--yes', '--json'])
    expect({ code, json }).toMatchObject({ code: 0, json: { restored: true, secretRestored: true } })
    expect(slugIn(join(dataDir, 'shopstead.db'))).toBe('lantern')
    expect(slugIn(json.kept)).toBe('later')
    expect(readFileSync(join(dataDir, 'secret.key'), 'utf8')).toBe(secret)
    expect(statSync(join(dataDir, 'shopstead.db')).mode & 0o777).toBe(0o600)
    expect((await runShopstead(dataDir, ['offers', 'show', 'lantern', '--json'])).code).toBe(0)
  })

  test('requires --yes without a terminal', async () => {
    const { dataDir } = await quietShop()
    const { file } = await backUp(dataDir)
    expect((await runShopstead(dataDir, ['backup', 'restore', file])).code).toBe(2)
  })

  test('is rejected while a server has the database open', async () => {
    const dataDir = join(temporaryFolder(), 'data')
    const shop = await startShop({ dataDir })
    const { file } = await backUp(dataDir)
    const refused = await runShopstead(dataDir, ['backup', 'restore', file, '--yes', '--json'])
    expect(refused).toMatchObject({ code: 1, json: { error: { code: 'CONFLICT' } } })
    expect(refused.stdout).toContain('stop the server')
    expect(finished(join(dataDir, '..', 'data'))).toHaveLength(1)
    expect((await shop.visitor().get('/health')).status).toBe(200)
    await shop.stop()
    expect((await runShopstead(dataDir, ['backup', 'restore', file, '--yes', '--json'])).code).toBe(0)
  })

  test('works in an empty folder, and over an unreadable database with a stale write-ahead log', async () => {
    const { dataDir } = await quietShop()
    const { file } = await backUp(dataDir)
    const empty = join(temporaryFolder(), 'data')
    expect((await runShopstead(empty, ['backup', 'restore', file, '--yes', '--json'])).code).toBe(0)
    expect(slugIn(join(empty, 'shopstead.db'))).toBe('lantern')

    writeFileSync(join(dataDir, 'shopstead.db'), 'garbage '.repeat(4096))
    writeFileSync(join(dataDir, 'shopstead.db-wal'), 'more garbage '.repeat(4096))
    const damaged = await runShopstead(dataDir, ['orders', 'list', '--json'])
    expect(damaged.stdout).toContain('Restore it with \\"shopstead backup restore\\"')
    expect((await runShopstead(dataDir, ['backup', 'restore', file, '--yes', '--json'])).code).toBe(0)
    expect(slugIn(join(dataDir, 'shopstead.db'))).toBe('lantern')
    expect(readdirSync(dataDir).filter((name) => name.startsWith('shopstead.db.before-restore'))).not.toEqual([])
  })

  test('leaves one of the two databases, whole, when its process is killed', async () => {
    const { dataDir } = await quietShop()
    const { file } = await backUp(dataDir)
    rename(dataDir, 'later')
    const started = performance.now()
    await runShopstead(dataDir, ['backup', 'verify', file])
    const wholeMs = performance.now() - started
    for (let moment = 1; moment <= 10; moment += 1) {
      const child = spawnShopstead(dataDir, ['backup', 'restore', file, '--yes'])
      const ended = exitOf(child)
      await new Promise((resolve) => setTimeout(resolve, wholeMs * (0.5 + moment / 12)))
      child.kill('SIGKILL')
      await ended
      const sqlite = new Database(join(dataDir, 'shopstead.db'))
      expect(sqlite.pragma('integrity_check', { simple: true })).toBe('ok')
      expect(['lantern', 'later']).toContain(sqlite.prepare('SELECT slug FROM products').pluck().get())
      sqlite.prepare('UPDATE products SET slug = ?').run('later')
      sqlite.close()
    }
  })
})
