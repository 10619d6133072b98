import { existsSync } from 'node:fs'
import { databaseFile } from '../app.ts'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import type { Config } from '../platform/config/config.ts'
import { getShopId, shopIdOfFile } from '../platform/db/database-id.ts'
import { missingDatabase, tracesOfShop } from '../platform/shop-id.ts'
import { migrateShop } from './backup/backups.ts'
import { listGenerations } from './replica/litestream.ts'

/**
 * Creates the database of a new shop in a data folder that never had one. Returns the id of the shop.
 *
 * @throws AppError CONFLICT when there is a database, or a sign that there was one: SHOPSTEAD_SHOP_ID, shop.id, backups or
 *   a replica; DEPENDENCY_UNAVAILABLE when the replica of the configuration cannot be read
 */
export async function initShop(config: Config, open: () => Promise<App>): Promise<string> {
  const file = databaseFile(config)
  if (existsSync(file) && shopIdOfFile(file) !== null)
    throw new AppError('CONFLICT', `There is a shop already: ${file}.`)
  if (tracesOfShop(config).length > 0) throw missingDatabase(config, file)
  const { replica } = config
  if (replica !== null && (await listGenerations(config, replica)).length > 0)
    throw new AppError(
      'CONFLICT',
      `The replica ${replica.address} has a shop: restore it with "shopstead restore --from-replica", or set ` +
        'SHOPSTEAD_REPLICA to another address for a new shop.'
    )
  const app = await open()
  try {
    await migrateShop(app, { begins: true })
    return getShopId(app.db)
  } finally {
    app.close()
  }
}
