import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { golden, newest } from '../../../operations/migrate-support.ts'
import { runShopstead } from '../../../support/command-process.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

/** A copy of the program whose orders have one more text column, with its migration. */
function programWithColumn(): string {
  const copy = temporaryFolder()
  for (const name of ['bin', 'src', '.config', 'package.json', 'tsconfig.json'])
    cpSync(name, join(copy, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  const file = join(copy, 'src/shop/orders/schema.ts')
  const before = readFileSync(file, 'utf8')
  const notes = "notes: personal(text('notes'), null),"
  expect(before).toContain(notes)
  writeFileSync(file, before.replace(notes, `${notes} giftMessage: personal(text('gift_message'), null),`))
  execFileSync('node', ['.config/generate-migration.ts', '--name', 'gift'], { cwd: copy, stdio: 'pipe' })
  return copy
}

it('a text column that is added to orders with a mark is exported and erased without further code', async () => {
  const program = programWithColumn()
  const { db, dataDir } = golden(newest)
  const run = (...args: string[]) =>
    runShopstead(dataDir, [...args, '--json'], { program, env: { SHOPSTEAD_ENV: 'test' } })
  expect(await run('migrate')).toMatchObject({ code: 0 })
  const user = Number(db.sqlite.prepare('SELECT user_id FROM orders WHERE user_id IS NOT NULL LIMIT 1').pluck().get())
  db.sqlite.prepare(`UPDATE orders SET gift_message = 'For Ida, with love' WHERE user_id = ?`).run(user)
  const exported = await run('users', 'export', String(user))
  expect(exported.json).toMatchObject({
    orders: expect.arrayContaining([expect.objectContaining({ giftMessage: 'For Ida, with love' })])
  })
  expect(await run('users', 'erase', String(user), '--yes', '--despite-balance')).toMatchObject({
    code: 0,
    json: { tracesRemoved: true }
  })
  expect(db.sqlite.prepare('SELECT count(gift_message) FROM orders').pluck().get()).toBe(0)
  const condition = db.sqlite.prepare(`SELECT sql FROM sqlite_schema WHERE name = 'orders_unpaid_guests'`).pluck()
  expect(condition.get()).toContain('gift_message IS NOT NULL')
})
