import type { Db } from '../../../platform/db/database.ts'
import { oncePerTurn } from '../../../platform/db/once-per-turn.ts'
import { rawStatement } from '../../../platform/db/statements.ts'
import { BoundedCache } from '../bounded-cache.ts'

type Stamped = { slug: string; limit: number }

const readStamp = rawStatement<Stamped, string>(`
  SELECT coalesce(min(p.stock, @limit), '') || ':' || coalesce((
    SELECT group_concat(coalesce(min(v.stock, @limit), '')) FROM variations v
    WHERE v.product_id = p.id AND v.available = 1
  ), '')
  FROM products p WHERE p.slug = @slug AND p.published = 1`)

const changesByOthers = rawStatement<[], number>('PRAGMA data_version')
const ownChanges = rawStatement<[], number>('SELECT total_changes()')

/**
 * Differs after every commit. `data_version` counts the commits of other connections, also of other processes, and
 * `total_changes` the rows that this connection has changed (https://www.sqlite.org/pragma.html#pragma_data_version).
 */
const databaseVersion = oncePerTurn((db: Db) => `${changesByOthers(db).pluck().get()} ${ownChanges(db).pluck().get()}`)

const caches = new WeakMap<Db['sqlite'], { version: string; stamps: BoundedCache<string> }>()
const stampsLimitBytes = 1024 * 1024

/**
 * The stock of a published product and its available variations, as text that changes whenever buyers see another stock.
 * Stock above `limit` counts as `limit`. It is read again only after a change of the database, because the read costs as
 * much as a fifth of the whole request.
 *
 * @returns undefined for an unknown or unpublished product
 */
export function stockStamp(db: Db, product: Stamped): string | undefined {
  // The state of a transaction may be older than the version, or may be rolled back.
  if (db.sqlite.inTransaction) return readStamp(db).pluck().get(product)
  const stamps = currentStamps(db)
  const key = `${product.limit} ${product.slug}`
  const known = stamps.get(key)
  if (known !== undefined) return known
  const stamp = readStamp(db).pluck().get(product)
  if (stamp !== undefined) stamps.set(key, stamp)
  return stamp
}

function currentStamps(db: Db): BoundedCache<string> {
  const version = databaseVersion(db)
  const known = caches.get(db.sqlite)
  if (known?.version === version) return known.stamps
  const stamps = new BoundedCache<string>(stampsLimitBytes, (stamp) => 2 * stamp.length)
  caches.set(db.sqlite, { version, stamps })
  return stamps
}
