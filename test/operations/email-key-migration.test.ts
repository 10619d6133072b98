import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { migrateDatabase } from '../../src/platform/db/migrate.ts'
import { findUserByEmail } from '../../src/shop/accounts/find.ts'
import { shopstead } from '../support/command-line.ts'
import { golden } from './migrate-support.ts'

it('gives the oldest account of a mailbox its key, keeps the others and reports them', async () => {
  const { db, dataDir } = golden('0006_reported-tries')
  const { sqlite } = db
  const typed = ['Mira.O@\u017Fhop.example', 'mira.o@shop.example', 'mira.o@\uFF53hop.example']
  const copy = sqlite.prepare(`INSERT INTO users
    (email, email_key, username, username_key, display_name, password_hash, status, created_at, updated_at)
    VALUES (@email, compare_key(@email), @name, @name, 'Mira', '', 'active', 0, 0)`)
  const ids = typed.map((email, index) => Number(copy.run({ email, name: `mira-${index}` }).lastInsertRowid))
  sqlite.prepare(`UPDATE orders SET email = ?, email_key = compare_key(?) WHERE id = 1`).run(typed[2], typed[2])
  sqlite.prepare(`UPDATE order_coupons SET customer_key = 'email:' || compare_key(?)`).run(typed[2])
  sqlite.exec(`UPDATE users SET status = 'erased', email_key = 'erased 1' WHERE id = 1`)

  migrateDatabase(db)
  const keys = sqlite.prepare('SELECT email_key FROM users WHERE id >= ? ORDER BY id').pluck().all(ids[0])
  expect(keys).toEqual(['mira.o@shop.example', `duplicate ${ids[1]}`, `duplicate ${ids[2]}`])
  expect(findUserByEmail(db, 'mira.o@shop.example')?.id).toBe(ids[0])
  expect(sqlite.prepare('SELECT email_key FROM users WHERE id = 1').pluck().get()).toBe('erased 1')
  expect(sqlite.prepare('SELECT email_key FROM orders WHERE id = 1').pluck().get()).toBe('mira.o@shop.example')
  const customers = sqlite.prepare('SELECT DISTINCT customer_key FROM order_coupons').pluck().all()
  expect(customers).toEqual(['email:mira.o@shop.example'])

  writeFileSync(join(dataDir, 'secret.key'), 'k'.repeat(43), { mode: 0o600 })
  const { json } = await shopstead<{ checks: object[] }>(dataDir, ['health', '--json'])
  expect(json.checks).toContainEqual({
    name: 'duplicate accounts',
    status: 'warning',
    message: `Accounts ${ids[0]} and ${ids[1]} have one mailbox. Its email logs in to account ${ids[0]}. 1 more accounts have the same problem.`,
    advice: expect.stringContaining(`username mira-1`)
  })
})
