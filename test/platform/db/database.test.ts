import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

test('the write-ahead log is checkpointed when it holds 16 MB', () => {
  const database = join(temporaryFolder(), 'shop.db')
  const { sqlite } = openDatabase(database)
  onTestFinished(() => void sqlite.close())
  sqlite.exec('CREATE TABLE files (bytes BLOB) STRICT')
  const file = sqlite.prepare('INSERT INTO files VALUES (zeroblob(8 * 1024 * 1024))')
  file.run()
  expect(statSync(database).size).toBeLessThan(1024 * 1024)
  file.run()
  expect(statSync(database).size).toBeGreaterThan(16 * 1024 * 1024)
})
