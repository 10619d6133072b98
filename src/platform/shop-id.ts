import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../errors.ts'
import type { Config } from './config/config.ts'
import { listFolder, syncFolderOf, syncToDisk, unfinishedPath } from './files.ts'

// Each database gets a random id when it is created, and keeps it in its copies, backups and replicas. So a database of
// another shop, or an empty one in the place of a lost one, is recognized.

/** The id in the data folder, data/shop.id; null for a folder that never had a shop. */
export function shopIdOfFolder(dataDir: string): string | null {
  const file = idFile(dataDir)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null
}

/** Writes the id of the folder's shop beside its database, unless the folder has one. */
export function markFolder(dataDir: string, id: string): void {
  if (shopIdOfFolder(dataDir) !== null) return
  const draft = unfinishedPath(dataDir)
  writeFileSync(draft, `${id}\n`, { mode: 0o600 })
  syncToDisk(draft)
  renameSync(draft, idFile(dataDir))
  syncFolderOf(idFile(dataDir))
}

function idFile(dataDir: string): string {
  return join(dataDir, 'shop.id')
}

type Place = Pick<Config, 'dataDir' | 'shopId'>

/** Why a database does not belong here, in words; null if it does, and for a folder that has no shop yet. */
export function findOtherShop({ dataDir, shopId }: Place, id: string | null): string | null {
  if (shopId !== null && id !== shopId) return `SHOPSTEAD_SHOP_ID is ${shopId}`
  const folder = shopIdOfFolder(dataDir)
  return folder !== null && id !== folder ? `the data folder ${dataDir} is the one of the shop ${folder}` : null
}

/**
 * Refuses a database of another shop.
 *
 * @param what the database, for the message, such as `The backup FILE`
 * @throws AppError CONFLICT
 */
export function requireSameShop(place: Place, id: string | null, what: string): void {
  const other = findOtherShop(place, id)
  if (other === null) return
  const whose = id === null ? 'is empty' : `belongs to the shop ${id}`
  throw new AppError(
    'CONFLICT',
    `${what} ${whose}, but ${other}. Mount the right disk, or restore a backup of this shop ("shopstead backup restore ` +
      'FILE"). For another shop, use another data folder and correct SHOPSTEAD_SHOP_ID.'
  )
}

/** What says that a data folder without a database had a shop; empty for a folder in which a new shop may begin. */
export function tracesOfShop({ dataDir, shopId }: Place): string[] {
  const backups = listFolder(join(dataDir, 'backups')).filter((name) => name.endsWith('.db'))
  const folder = shopIdOfFolder(dataDir)
  return [
    ...(shopId === null ? [] : [`SHOPSTEAD_SHOP_ID names the shop ${shopId}`]),
    ...(folder === null ? [] : [`${idFile(dataDir)} names the shop ${folder}`]),
    ...(backups.length === 0 ? [] : [`${join(dataDir, 'backups')} has backups`])
  ]
}

/** What an operator does about a database that is missing. */
export function missingShopAdvice(place: Place): string {
  const traces = tracesOfShop(place)
  return traces.length === 0
    ? 'Mount the disk of the shop, or begin a new shop with "shopstead init".'
    : `There was a shop: ${traces.join(', and ')}. Mount its disk, or restore it with "shopstead backup restore FILE" or ` +
        '"shopstead restore --from-replica".'
}

/** The CONFLICT error for a database that is missing. */
export function missingDatabase(place: Place, file: string): AppError {
  const message = `The database ${file} does not exist, or is empty. ${missingShopAdvice(place)}`
  return new AppError('CONFLICT', message)
}
