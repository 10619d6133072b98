import { accessSync, constants, existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { and, count, isNotNull, isNull } from 'drizzle-orm'
import type { App } from '../../app.ts'
import type { Config } from '../../platform/config/config.ts'
import { rawStatement, statement } from '../../platform/db/database.ts'
import { productImages } from '../../shop/catalog/schema.ts'
import { listFolder } from '../../platform/files.ts'
import { fitsOldestToken } from '../../shop/accounts/email-tokens.ts'
import { findDownloadFile } from '../../shop/benefits/download-file.ts'
import { mediaFileNames } from '../../shop/catalog/images/media-files.ts'
import { failed, megabytes, ok, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

const fewBytesFree = 1024 ** 3
const tooFewBytesFree = 100 * 1024 ** 2

/** The checks that do not need an open shop. */
export const folderChecks: readonly Check<Config>[] = [
  {
    name: 'data folder',
    run({ dataDir }) {
      if (!existsSync(dataDir))
        return failed(
          `The folder ${dataDir} does not exist.`,
          'Pass the data folder with --data-dir, or begin a new shop with "shopstead init".'
        )
      try {
        accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
        return ok(dataDir)
      } catch {
        return failed(
          `The data folder ${dataDir} is not writable.`,
          'Make the user that runs Shopstead its owner (chown), or mount its disk writable.'
        )
      }
    }
  },
  {
    name: 'disk',
    run({ dataDir }) {
      const { bavail, bsize } = statfsSync(dataDir)
      const free = bavail * bsize
      const database = statSync(join(dataDir, 'shopstead.db'), { throwIfNoEntry: false })?.size ?? 0
      const message = `${free < 10 * fewBytesFree ? megabytes(free) : `${Math.round(free / 1024 ** 3)} GB`} free.`
      if (free < tooFewBytesFree)
        return failed(message, 'Free disk space now: the shop cannot take orders when the disk is full.')
      if (free < Math.max(fewBytesFree, 2 * database))
        return warning(message, 'Free disk space: making and verifying a backup needs twice the size of the database.')
      return ok(message)
    }
  },
  {
    name: 'file modes',
    run({ dataDir }) {
      const open = privatePaths(dataDir).filter((path) => (statSync(path).mode & 0o077) !== 0)
      if (open.length === 0) return ok('Only the owner can read the folder, the secret key and the backups.')
      return warning(
        `Other users can read: ${open.map((path) => path.slice(dataDir.length + 1) || '.').join(', ')}.`,
        `Run "chmod -R go= ${dataDir}".`
      )
    }
  },
  {
    name: 'file owners',
    run({ dataDir }) {
      const { uid, gid } = statSync(dataDir)
      const stats = readdirSync(dataDir).map((name) => ({ name, ...ownerOf(join(dataDir, name)) }))
      const foreign = stats.filter((file) => file.uid !== undefined && file.uid !== uid).map(({ name }) => name)
      if (foreign.length > 0)
        return failed(
          `The folder belongs to user ${uid}, but these files do not: ${foreign.join(', ')}.`,
          `Run "chown -R ${uid}:${gid} ${dataDir}" as root, then start the server again.`
        )
      const locked = stats.filter(({ mode }) => mode !== undefined && (mode & 0o600) !== 0o600).map(({ name }) => name)
      if (locked.length > 0)
        return failed(
          `Their owner cannot read and write: ${locked.join(', ')}.`,
          `Run "chmod -R u+rwX ${dataDir}", then start the server again.`
        )
      return ok(`User ${uid} owns the folder and the files in it.`)
    }
  },
  {
    name: 'secret',
    run({ secret, dataDir }) {
      if (secret !== null) return ok('From SHOPSTEAD_SECRET.')
      const file = join(dataDir, 'secret.key')
      if (!existsSync(file))
        return failed(
          'The file secret.key is missing.',
          'Copy it back, or restore a backup, which contains it ("shopstead backup restore FILE"). Otherwise the next start makes a new key: links in sent emails stop working, and the shop no longer knows its payments at Stripe.'
        )
      if (readFileSync(file, 'utf8').trim().length < 32)
        return failed(
          'secret.key has fewer than 32 characters.',
          'Restore it from a backup. If you delete it, Shopstead creates a new key.'
        )
      return ok('In secret.key; each backup contains it.')
    }
  }
]

/** Nothing for a file that has just been deleted, such as a temporary one. */
function ownerOf(path: string): { uid?: number; mode?: number } {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? {} : { uid: stat.uid, mode: stat.mode }
}

/** The paths in the data folder that only the owner may read. */
function privatePaths(dataDir: string): string[] {
  const inside = (folder: string, wanted: RegExp): string[] =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => wanted.test(name))
          .map((name) => join(folder, name))
      : []
  const backups = join(dataDir, 'backups')
  return [dataDir, ...inside(dataDir, /^(secret\.key|backups$|mail$)/), ...inside(backups, /\.db$/)]
}

/** What the data folder holds beside the database. */
export const fileChecks: readonly Check[] = [
  { name: 'secret of the database', run: checkSecret },
  { name: 'downloads', run: checkDownloads },
  { name: 'pictures', run: checkPictures }
]

/** Links in emails are derived from the secret, so a stored link tells whether the database was used with another one. */
function checkSecret({ db, keys, config }: App): Finding {
  if (fitsOldestToken(db, keys) !== false) return ok('The secret fits the links that the shop has sent.')
  return failed(
    'The secret is not the one that the shop had when it sent its earlier emails: links in them do not work, and the shop does not know its payments at Stripe.',
    config.secret === null
      ? `Copy secret.key back to ${config.dataDir}, or run "shopstead backup restore FILE": each backup contains it. If the secret was replaced on purpose, this ends 30 days later.`
      : 'Set SHOPSTEAD_SECRET to its earlier value. If it was replaced on purpose, this ends 30 days later.'
  )
}

const soldFiles = rawStatement<[], { file: string }>(`
  SELECT spec ->> 'file' AS file FROM product_grants g JOIN products p ON p.id = g.product_id
   WHERE p.published = 1 AND spec ->> 'kind' = 'download'
  UNION SELECT file FROM download_permissions WHERE revoked_at IS NULL ORDER BY file`)

async function checkDownloads({ db, config }: App): Promise<Finding> {
  const files = soldFiles(db).all()
  const missing: string[] = []
  for (const { file } of files) if ((await findDownloadFile(config.dataDir, file)) === undefined) missing.push(file)
  if (missing.length === 0) return ok(`${files.length} files that buyers download are there.`)
  return failed(
    `${missing.length} files that buyers download are missing: ${few(missing)}.`,
    `Copy them to ${join(config.dataDir, 'downloads')} from your own copy; backups do not contain them.`
  )
}

const pictures = rawStatement<[], { hash: string; width: number }>(`
  SELECT hash, width FROM media WHERE hash IN (SELECT media_hash FROM product_images)`)

const failedPictures = statement((orm) =>
  orm
    .select({ count: count() })
    .from(productImages)
    .where(and(isNull(productImages.mediaHash), isNotNull(productImages.problem)))
    .prepare()
)

function checkPictures({ db, config }: App): Finding {
  const failures = failedPictures(db).get()?.count ?? 0
  if (failures > 0)
    return warning(
      `${failures} pictures could not be fetched, so products are shown without them.`,
      '"shopstead offers images retry" fetches them again, and says which fail and why.'
    )
  const stored = pictures(db).all()
  const folder = join(config.dataDir, 'media')
  // A full disk can leave a file without content.
  const present = new Set(
    stored.length === 0 ? [] : listFolder(folder).filter((name) => statSync(join(folder, name)).size > 0)
  )
  const missing = stored.filter((picture) => !mediaFileNames(picture).every((name) => present.has(name)))
  if (missing.length === 0) return ok(`The files of ${stored.length} pictures are there.`)
  return warning(
    `The files of ${missing.length} of ${stored.length} pictures are missing.`,
    'Copy the folder media/ from your own copy, or run "shopstead offers images retry", which fetches them again.'
  )
}

function few(names: readonly string[]): string {
  return names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ')
}
