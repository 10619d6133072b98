import { spawn } from 'node:child_process'
import { chownSync, copyFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { inspectBackup } from '../../../src/operations/backup/inspect.ts'
import { backUp, finished, quietShop, renameProduct } from '../../operations/backup-support.ts'
import type { Created } from '../../operations/backup-support.ts'
import { shopstead } from '../../support/command-line.ts'
import { exitOf, runShopstead, spawnShopstead } from '../../support/command-process.ts'
import { startShop } from '../../support/running-shop.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'

describe('a backup', () => {
  it('holds every order that was acknowledged before it began, while 300 orders a second are written', async () => {
    const dataDir = await quietShop()
    const database = join(dataDir, 'shopstead.db')
    const writer = spawn(process.execPath, ['test/processes/operations/order-writer.ts', database, '1'])
    onTestFinished(() => void writer.kill('SIGKILL'))
    let printed = ''
    writer.stdout.on('data', (chunk: Buffer) => void (printed += chunk.toString()))
    const acknowledged = (): number[] => printed.split('\n').slice(0, -1).map(Number)
    await until('300 orders', () => acknowledged().length >= 300)

    const before = acknowledged()
    const { json } = await runShopstead<Created>(dataDir, ['backup', 'create', '--json'])
    const { file, verified, bytes, createdAt } = json
    expect(acknowledged().length).toBeGreaterThan(before.length)
    expect({ verified, bytes }).toEqual({ verified: true, bytes: statSync(file).size })
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)

    const sqlite = new Database(file, { readonly: true })
    onTestFinished(() => void sqlite.close())
    const kept = new Set(sqlite.prepare('SELECT id FROM orders').pluck().all())
    expect(before.filter((id) => !kept.has(id))).toEqual([])
    expect(sqlite.prepare('SELECT count(*) FROM order_items').pluck().get()).toBe(kept.size)
  })

  it('leaves no finished file when it is killed at any moment, and the next backup removes its remains', async () => {
    const dataDir = await quietShop()
    const sqlite = new Database(join(dataDir, 'shopstead.db'))
    const filler = sqlite.prepare('INSERT INTO events (type, payload, created_at) VALUES (?, ?, 0)')
    sqlite.transaction(() => {
      for (let count = 0; count < 40_000; count += 1)
        filler.run('order.paid', JSON.stringify({ text: 'x'.repeat(200) }))
    })()
    sqlite.close()
    const started = performance.now()
    await runShopstead(dataDir, ['backup', 'create'])
    // A machine that is busy now may be free later: what ended before its kill says how long a backup takes then.
    let wholeMs = performance.now() - started
    let cutShort = 0
    for (let moment = 1; moment <= 10; moment += 1) {
      const before = finished(dataDir)
      const child = spawnShopstead(dataDir, ['backup', 'create'])
      const begun = performance.now()
      const ended = exitOf(child)
      child.once('exit', (code) => {
        if (code !== null) wholeMs = Math.min(wholeMs, performance.now() - begun)
      })
      await pause((wholeMs * moment) / 10.5)
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
})

it('a server makes backups by backup.schedule, also when it is set while the server runs, and keeps backup.keep of them', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  const shop = await startShop({ dataDir })
  onTestFinished(() => shop.stop())
  expect((await shopstead(dataDir, ['settings', 'set', 'backup.schedule', 'each night', '--json'])).code).toBe(1)
  await shopstead(dataDir, ['settings', 'set', 'backup.keep', '2'])
  await shopstead(dataDir, ['settings', 'set', 'backup.schedule', '* * * * * *'])
  const seen = new Set<string>()
  await until('four backups', () => {
    for (const name of finished(dataDir)) seen.add(name)
    return seen.size >= 4
  })
  await shopstead(dataDir, ['settings', 'unset', 'backup.schedule'])
  expect([...seen].every((name) => name.endsWith('-scheduled.db'))).toBe(true)
  expect(finished(dataDir).length).toBeLessThanOrEqual(3)
})

it.skipIf(process.getuid?.() !== 0)('a restore names the backup that it may not read', async () => {
  const dataDir = await quietShop()
  const { file } = await backUp(dataDir)
  const copy = join(temporaryFolder(), 'copy.db')
  copyFileSync(file, copy)
  const folder = temporaryFolder()
  chownSync(folder, 65_534, 65_534)
  const { code, stderr } = await runShopstead(folder, ['backup', 'restore', copy, '--yes'], { uid: 65_534 })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`cannot read ${copy}`) })
})

describe('a restore', () => {
  it('leaves one of the two databases whole when it is killed at any moment', async () => {
    const dataDir = await quietShop()
    const { file } = await backUp(dataDir)
    renameProduct(dataDir, 'later')
    const started = performance.now()
    await runShopstead(dataDir, ['backup', 'verify', file])
    const wholeMs = performance.now() - started
    for (let moment = 1; moment <= 10; moment += 1) {
      const child = spawnShopstead(dataDir, ['backup', 'restore', file, '--yes'])
      const ended = exitOf(child)
      await pause(wholeMs * (0.5 + moment / 12))
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
