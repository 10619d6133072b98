import { chownSync, copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { once } from 'node:events'
import { join } from 'node:path'
import type { ChildProcess } from 'node:child_process'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { exitOf, runShopstead, spawnShopstead } from '../../support/command-process.ts'
import { createMigratedDatabase } from '../../support/migrated-database.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'

const serve = ['serve', '--port', '0', '--json']
const env = { SHOPSTEAD_ENV: 'test', SHOPSTEAD_LOG: 'silent' }
const isRoot = process.getuid?.() === 0
const user = 65_534

function migratedFolder(): string {
  const dataDir = join(temporaryFolder(), 'data')
  createMigratedDatabase(join(dataDir, 'shopstead.db'))
  return dataDir
}

/** A server that listens. */
async function startServer(dataDir: string, more: Record<string, string> = {}): Promise<ChildProcess> {
  const child = spawnShopstead(dataDir, serve, { env: { ...env, ...more } })
  onTestFinished(() => void child.kill('SIGKILL'))
  if (child.stdout === null) throw new Error('no standard output')
  await once(createInterface(child.stdout), 'line')
  return child
}

describe('a server', () => {
  it('refuses a data folder on which another one runs, until that one is killed', async () => {
    const dataDir = migratedFolder()
    const first = await startServer(dataDir)
    const second = await runShopstead(dataDir, serve, { env })
    expect(second).toMatchObject({
      code: 1,
      json: {
        error: { code: 'CONFLICT', message: expect.stringMatching(/already uses the data folder .*Stop it first/) }
      }
    })
    const ended = exitOf(first)
    first.kill('SIGKILL')
    await ended
    await startServer(dataDir)
  })

  it('keeps migrate from changing its database, and not the other commands', async () => {
    const dataDir = migratedFolder()
    const server = await startServer(dataDir)
    expect((await runShopstead(dataDir, ['migrate', '--json'], { env })).code).toBe(0)
    const db = openDatabase(join(dataDir, 'shopstead.db'))
    onTestFinished(() => void db.sqlite.close())
    // To the program, the server is an older one now.
    db.sqlite.exec(
      'DELETE FROM __drizzle_migrations WHERE created_at = (SELECT max(created_at) FROM __drizzle_migrations)'
    )
    const refused = await runShopstead(dataDir, ['migrate', '--json'], { env })
    expect(refused).toMatchObject({ code: 1, json: { error: { code: 'CONFLICT' } } })
    expect(refused.stdout).toContain('Stop it first')
    const ended = exitOf(server)
    server.kill('SIGTERM')
    await ended
    expect((await runShopstead(dataDir, ['migrate', '--json'], { env })).stdout).not.toContain('Stop it first')
  })
})

describe('a server whose database is replaced', () => {
  it.each<[string, (file: string) => void]>([
    [
      'by another file',
      (file) => {
        copyFileSync(file, `${file}.copy`)
        renameSync(`${file}.copy`, file)
      }
    ],
    ['by nothing, as an unmounted disk leaves it', (file) => rmSync(file)]
  ])('stops selling %s', async (_how, replace) => {
    const dataDir = migratedFolder()
    const child = spawnShopstead(dataDir, serve, { env })
    onTestFinished(() => void child.kill('SIGKILL'))
    if (child.stdout === null) throw new Error('no standard output')
    const lines = createInterface(child.stdout)
    await once(lines, 'line')
    const last = once(lines, 'line')
    const ended = once(child, 'exit')
    replace(join(dataDir, 'shopstead.db'))
    expect(await ended).toEqual([1, null])
    expect(JSON.parse(String((await last)[0]))).toMatchObject({
      error: { code: 'CONFLICT', message: expect.stringContaining('its disk was unmounted') }
    })
  })
})

describe('a scheduled backup', () => {
  const scheduled = (dataDir: string) =>
    readdirSync(join(dataDir, 'backups')).filter((name) => name.endsWith('-scheduled.db'))

  it('is made once for its time, also when the server starts again and again', async () => {
    const dataDir = migratedFolder()
    const db = openDatabase(join(dataDir, 'shopstead.db'))
    onTestFinished(() => void db.sqlite.close())
    // The first of January has passed since the schedule was set, while no server ran.
    db.sqlite.exec(`INSERT INTO settings (key, value, updated_at) VALUES ('backup.schedule', '"0 0 1 1 *"', 0)`)
    mkdirSync(join(dataDir, 'backups'))
    for (let round = 0; round < 3; round += 1) {
      const server = await startServer(dataDir)
      await until('a backup', () => scheduled(dataDir).length > 0)
      const ended = exitOf(server)
      server.kill('SIGTERM')
      expect(await ended).toBe(0)
    }
    expect(scheduled(dataDir)).toHaveLength(1)
  })

  it('is not made by two processes at the same time', async () => {
    const dataDir = migratedFolder()
    const both = await Promise.all(
      [1, 2].map(() => runShopstead(dataDir, ['backup', 'create', '--scheduled', '--json'], { env }))
    )
    const made = both.filter(({ code }) => code === 0).length
    expect(scheduled(dataDir)).toHaveLength(made)
    for (const { code, stdout } of both) if (code !== 0) expect(stdout).toContain('Another process is making')
  })
})

describe.skipIf(!isRoot)('a command of root on the data folder of another user', () => {
  it('warns, and the files that it makes belong to that user', async () => {
    const dataDir = migratedFolder()
    chownSync(join(dataDir, '..'), user, user)
    chownSync(dataDir, user, user)
    chownSync(join(dataDir, 'shopstead.db'), user, user)
    const { code, stderr } = await runShopstead(dataDir, ['backup', 'create', '--json'], { env })
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(`runs as user ${user}`) })
    const server = await startServer(dataDir)
    const ended = exitOf(server)
    server.kill('SIGTERM')
    await ended
    const made = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    expect(made.length).toBeGreaterThan(4)
    for (const { parentPath, name } of made) expect([name, statSync(join(parentPath, name)).uid]).toEqual([name, user])
  })
})
