import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startCheckpoints } from '../../../src/platform/db/checkpoints.ts'
import { openDatabase } from '../../../src/platform/db/database.ts'

it('copies a grown log to the database file while its own connection never does', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'checkpoints-'))
  const file = join(folder, 'shop.db')
  const { sqlite } = openDatabase(file)
  const warnings: unknown[] = []
  const checkpoints = startCheckpoints({ sqlite }, { warn: (...about: unknown[]) => void warnings.push(about) })
  onTestFinished(async () => {
    await checkpoints.stop()
    sqlite.close()
    rmSync(folder, { recursive: true })
  })
  sqlite.pragma('wal_autocheckpoint = 0')
  sqlite.exec('CREATE TABLE texts (text TEXT)')
  const insert = sqlite.prepare('INSERT INTO texts VALUES (zeroblob(1000000))')
  for (let round = 1; round <= 2; round += 1) {
    for (let count = 0; count < 4; count += 1) insert.run()
    await vi.waitFor(() => expect(statSync(file).size).toBeGreaterThan(round * 4_000_000), { timeout: 20_000 })
  }
  expect(warnings).toEqual([])
})
