import { getTableName } from 'drizzle-orm'
import { openDatabase } from '../platform/db/database.ts'
import type { Db } from '../platform/db/database.ts'
import { campaigns, plans } from '../shop/benefits/schema.ts'
import * as catalog from '../shop/catalog/schema.ts'
import { revisions, settings } from '../shop/settings/schema.ts'
import { shippingCountries, shippingMethods, shippingZones } from '../shop/shipping/schema.ts'
import { taxRates } from '../shop/tax/schema.ts'

/** The tables that an import of a catalog reads and writes. The search index and its words stay empty. */
const copied = [
  catalog.products,
  catalog.variations,
  catalog.categories,
  catalog.productCategories,
  catalog.productTags,
  catalog.productGrants,
  catalog.productImages,
  catalog.coupons,
  catalog.couponProducts,
  catalog.couponCategories,
  plans,
  campaigns,
  shippingZones,
  shippingCountries,
  shippingMethods,
  taxRates,
  settings,
  revisions
].map(getTableName)

/**
 * Opens a copy of the catalog in a private temporary database, for trying changes without a lock on the shop. It has all
 * tables of the shop, but only the catalog's rows and the settings: no orders and no persons. SQLite deletes its file, also after a crash.
 * The caller closes it.
 */
export function copyCatalog({ sqlite }: Db): Db {
  const copy = openDatabase('')
  try {
    copy.sqlite.pragma('foreign_keys = OFF')
    copy.sqlite.prepare('ATTACH ? AS shop').run(sqlite.name)
    copy.sqlite.transaction(() => fill(copy))()
    copy.sqlite.exec('DETACH shop')
    return copy
  } catch (error) {
    copy.sqlite.close()
    throw error
  }
}

/** In one transaction, which sees one state of the shop. Triggers come last, so that copying does not run them. */
function fill({ sqlite }: Db): void {
  const create = (types: string): void => {
    const find = sqlite.prepare<[], string>(`
      SELECT sql FROM shop.sqlite_master WHERE sql IS NOT NULL AND type IN (${types})
      AND name NOT LIKE 'sqlite@_%' ESCAPE '@' AND name NOT LIKE '%@_search@_%' ESCAPE '@'`)
    for (const sql of find.pluck().all()) sqlite.exec(sql)
  }
  create("'table', 'index'")
  for (const table of copied) sqlite.exec(`INSERT INTO main."${table}" SELECT * FROM shop."${table}"`)
  create("'trigger'")
}
