import { createConnection } from 'mysql2/promise'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import { expect, it } from 'vitest'
import { createApp } from '../../../src/app.ts'
import { parseConfig } from '../../../src/platform/config/config.ts'
import { loadDump } from '../../../src/operations/moving-in/wordpress/dump.ts'
import { openWordPress } from '../../../src/operations/moving-in/wordpress/database.ts'
import { importWordPress } from '../../../src/operations/moving-in/wordpress/import-wordpress.ts'
import { productBySlug } from '../../../src/shop/catalog/stored-product.ts'
import { shopstead } from '../../support/command-line.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { oddValues } from '../../operations/moving-in/odd-values.ts'
import { Random } from '../../torture/random.ts'
import { dumpOf } from './old-shop.ts'

const dates = ['0000-00-00 00:00:00', '1970-01-01 00:00:00', '9999-12-31 23:59:59']

type Column = { table: string; column: string; kind: string }

/** The columns that a shop may have rubbish in: not the keys by which rows belong together. */
async function columnsOf(connection: Connection, prefix: string): Promise<Column[]> {
  const [rows] = await connection.query<(RowDataPacket & Column)[]>(
    `SELECT table_name AS \`table\`, column_name AS \`column\`, data_type AS kind FROM information_schema.columns
     WHERE table_schema = DATABASE() AND column_key <> 'PRI' AND table_name LIKE ? ORDER BY table_name, ordinal_position`,
    [`${prefix}%`]
  )
  return rows.filter(({ table }) => !/options|actionscheduler|lookup|stats/.test(table))
}

async function soil(url: string, prefix: string, seed: number): Promise<void> {
  const connection = await createConnection({ uri: url, multipleStatements: false })
  const random = new Random(seed)
  await connection.query("SET SESSION sql_mode = '', foreign_key_checks = 0")
  const columns = await columnsOf(connection, prefix)
  for (let change = 0; change < 600; change += 1) {
    const { table, column, kind } = random.pick(columns)
    const value = /date|time/.test(kind) ? random.pick(dates) : random.pick(oddValues)
    const wanted = `UPDATE IGNORE \`${table}\` SET \`${column}\` = ? ORDER BY rand(${random.between(0, 999_999)}) LIMIT ${random.between(1, 3)}`
    // A column may refuse some of it.
    await connection.query(wanted, [value]).catch(() => undefined)
  }
  // Orphans: rows whose owner is gone.
  for (const table of [
    'posts',
    'postmeta',
    'users',
    'usermeta',
    'terms',
    'woocommerce_order_items',
    'woocommerce_order_itemmeta'
  ])
    await connection.query(`DELETE FROM \`${prefix}${table}\` ORDER BY rand(${seed}) LIMIT 12`)
  await connection.end()
}

it.each([
  ['a1', 'wp_', 1],
  ['a2', 'shop7_', 2],
  ['a1', 'wp_', 3],
  ['a2', 'shop7_', 4],
  ['a2', 'shop7_', 18],
  ['a1', 'wp_', 11],
  ['a2', 'shop7_', 12],
  ['a1', 'wp_', 51],
  ['a1', 'wp_', 29]
] as const)(
  'a dirty database moves in, as far as it can be read (%s, %s, %d)',
  { timeout: 300_000 },
  async (name, prefix, seed) => {
    await using dump = await loadDump(dumpOf(name))
    await soil(dump.url, prefix, seed)
    const dataDir = temporaryFolder()
    await shopstead(dataDir, ['init'])
    const env = { SHOPSTEAD_ENV: 'test', SHOPSTEAD_LOG: 'silent', SHOPSTEAD_DATA_DIR: dataDir }
    const app = createApp(parseConfig(env), { database: 'migrated' })
    const run = async () => {
      const source = await openWordPress(dump.url, prefix)
      const report = await importWordPress(app, source, { isDryRun: false, onStep: () => undefined })
      await source.close()
      return report.subjects
    }
    for (const { found, arrived, already, left } of await run()) expect(found).toBe(arrived + already + left)
    for (const { subject, arrived } of await run()) expect([subject, arrived]).toEqual([subject, 0])
    expect(app.db.sqlite.pragma('integrity_check', { simple: true })).toBe('ok')
    expect(app.db.sqlite.pragma('foreign_key_check')).toEqual([])
    app.close()
  }
)

it('a product with a broken price or without a name does not stop the others', async () => {
  await using dump = await loadDump(dumpOf('a1'))
  const connection = await createConnection({ uri: dump.url })
  const [rows] = await connection.query<(RowDataPacket & { id: number; slug: string })[]>(
    `SELECT p.ID AS id, p.post_name AS slug FROM wp_posts p JOIN wp_postmeta m ON m.post_id = p.ID
     WHERE p.post_type = 'product' AND p.post_status = 'publish' AND m.meta_key = '_regular_price' ORDER BY p.ID LIMIT 3`
  )
  const [exact, broken, nameless] = rows
  const setPrice = "UPDATE wp_postmeta SET meta_value = ? WHERE post_id = ? AND meta_key = '_regular_price'"
  await connection.query(setPrice, ['16.806723', exact?.id])
  await connection.query(setPrice, ['1.2.3', broken?.id])
  await connection.query("UPDATE wp_posts SET post_title = '' WHERE ID = ?", [nameless?.id])
  await connection.end()
  const dataDir = temporaryFolder()
  await shopstead(dataDir, ['init'])
  const env = { SHOPSTEAD_ENV: 'test', SHOPSTEAD_LOG: 'silent', SHOPSTEAD_DATA_DIR: dataDir }
  const app = createApp(parseConfig(env), { database: 'migrated' })
  const source = await openWordPress(dump.url)
  const { subjects } = await importWordPress(app, source, { isDryRun: false, onStep: () => undefined })
  await source.close()
  expect(productBySlug(app.db, exact?.slug ?? '')).toMatchObject({ priceMinor: 1681, published: true })
  expect(productBySlug(app.db, broken?.slug ?? '')).toMatchObject({ published: false })
  expect(productBySlug(app.db, nameless?.slug ?? '')).toBeUndefined()
  expect(subjects.find(({ subject }) => subject === 'products')?.leftOut).toContainEqual({
    count: 1,
    why: 'The shop cannot have such a product: Name: Must not be empty.',
    examples: [nameless?.slug]
  })
  app.close()
})
