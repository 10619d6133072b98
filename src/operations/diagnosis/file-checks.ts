import { join } from 'node:path'
import type { App } from '../../app.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { listFolder } from '../../platform/files.ts'
import { fitsOldestToken } from '../../shop/accounts/email-tokens.ts'
import { findDownloadFile } from '../../shop/benefits/download-file.ts'
import { mediaFileNames } from '../../shop/catalog/images/media-files.ts'
import { failed, ok, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

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

function checkPictures({ db, config }: App): Finding {
  const stored = pictures(db).all()
  const present = new Set(stored.length === 0 ? [] : listFolder(join(config.dataDir, 'media')))
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
