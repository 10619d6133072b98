import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { runShopstead } from '../../support/command-process.ts'
import { demoShop } from '../../support/demo-shop.ts'

it('shopstead exits with 69 and the cause when another process holds the lock for 5 s', async () => {
  const dataDir = demoShop()
  const other = openDatabase(join(dataDir, 'shopstead.db'))
  onTestFinished(() => void other.sqlite.close())
  other.sqlite.exec('BEGIN IMMEDIATE')
  expect(await runShopstead(dataDir, ['settings', 'set', 'shop.name', 'Harbour', '--json'])).toMatchObject({
    code: 69,
    json: { error: { code: 'DEPENDENCY_UNAVAILABLE', message: expect.stringMatching(/database is locked/) } }
  })
})
