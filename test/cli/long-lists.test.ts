import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { shopstead, testTerminal } from '../support/command-line.ts'
import { fillLists, firstId } from '../support/long-lists.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'

const count = 1500
const last = firstId + count - 1
const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-lists-'))
const file = join(dataDir, 'shopstead.db')
createMigratedDatabase(file)
const db = openDatabase(file)

beforeAll(() => {
  fillLists(db.sqlite, count)
  return () => {
    db.sqlite.close()
    rmSync(dataDir, { recursive: true })
  }
})

describe('a list without a limit, or with a high one,', () => {
  it.each([
    ['offers list', `UPDATE products SET name = 'changed' WHERE id = ${last}`],
    ['affiliates list', `UPDATE affiliates SET message = 'changed' WHERE id = ${last}`],
    ['coupons list', `UPDATE coupons SET code = 'changed' WHERE id = ${last}`],
    ['referrals export', `UPDATE affiliates SET code = 'changed' WHERE id = ${last}`],
    ['orders export', `UPDATE orders SET email = 'changed' WHERE id = ${last}`],
    ['orders pack', `UPDATE orders SET notes = 'changed' WHERE id = ${last - 1}`],
    ['orders warnings', `UPDATE payment_warnings SET message = 'changed' WHERE id = ${firstId}`],
    ['events list --limit 99999', `UPDATE events SET type = 'changed' WHERE id = ${firstId}`],
    ['webhooks deliveries --limit 99999', `UPDATE webhook_deliveries SET last_error = 'changed' WHERE id = ${firstId}`]
  ])('of `%s` has printed its first rows before it reads the last one', async (command, change) => {
    const { terminal, stdout } = testTerminal()
    const write = terminal.stdout.write.bind(terminal.stdout)
    let isFirst = true
    terminal.stdout.write = ((text: string, done: () => void) => {
      if (isFirst) db.sqlite.exec(change)
      isFirst = false
      return write(text, done)
    }) as typeof terminal.stdout.write
    expect(await main([...command.split(' '), '--json', '--data-dir', dataDir], terminal)).toBe(0)
    const [rows] = Object.values(JSON.parse(stdout()) as Record<string, object[]>)
    expect(rows?.length).toBeGreaterThanOrEqual(count / 2)
    expect(JSON.stringify(rows?.at(-1))).toContain('"changed"')
    expect(JSON.stringify(rows?.slice(0, -1))).not.toContain('"changed"')
  })
})

describe('a list with a limit', () => {
  it.each(['users list', 'orders list', 'referrals list', 'events list', 'webhooks deliveries'])(
    'of `%s` shows that many of the newest rows',
    async (command) => {
      const { json } = await shopstead(dataDir, [...command.split(' '), '--limit', '1000', '--json'])
      const [rows] = Object.values(json)
      expect(rows).toHaveLength(1000)
    }
  )
})
