import { and, eq, isNull, sql } from 'drizzle-orm'
import { isFromFuture } from '../../platform/clock.ts'
import { toIso } from '../../platform/iso-time.ts'
import { hmac, sameBytes } from '../../platform/crypto/secrets.ts'
import type { Keys } from '../../platform/crypto/secrets.ts'
import type { Db } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { users } from '../accounts/schema.ts'
import { isModuleOn } from '../settings/settings.ts'
import { downloadsOf } from './records.ts'
import { downloadPermissions } from './schema.ts'

/** Anyone with a link can use it, so it is valid for a day at most and not longer than its permission. */
const linkLifeMs = 24 * 60 * 60 * 1000
const tokenPattern = /^([1-9]\d{0,14})\.([0-9a-z]{1,11})\.([\w-]{43})$/

export type DownloadView = { id: number; productId: number; name: string; url: string; expiresAt: string }

/**
 * The current downloads of a person, each file of a product once, with a new link until `expiresAt`. Empty if the
 * module is off.
 */
export function listDownloads(db: Db, keys: Keys, userId: number, now: number): DownloadView[] {
  if (!isModuleOn(db, 'downloads')) return []
  const longest = new Map<string, ReturnType<typeof downloadsOf>[number]>()
  for (const row of downloadsOf(db, userId)) {
    const known = longest.get(row.key)
    if (isOpen(row, now) && (known === undefined || endOf(row) > endOf(known))) longest.set(row.key, row)
  }
  return [...longest.values()].map((row) => {
    const expiresAt = Math.min(now + linkLifeMs, endOf(row))
    const name = row.file.split('/').at(-1) ?? row.file
    const url = `/downloads/${signToken(keys, { id: row.id, file: row.file, expiresAt })}`
    return { id: row.id, productId: row.productId, name, url, expiresAt: toIso(expiresAt) }
  })
}

function isOpen(row: { startedAt: number; endsAt: number | null }, now: number): boolean {
  return row.startedAt <= now && endOf(row) > now
}

function endOf({ endsAt }: { endsAt: number | null }): number {
  return endsAt ?? Number.MAX_SAFE_INTEGER
}

function signToken(keys: Keys, link: { id: number; file: string; expiresAt: number }): string {
  return `${link.id}.${link.expiresAt.toString(36)}.${signatureOf(keys, link)}`
}

function signatureOf(keys: Keys, { id, file, expiresAt }: { id: number; file: string; expiresAt: number }): string {
  return hmac(keys.download, JSON.stringify(['download', 1, id, expiresAt, file])).toString('base64url')
}

const permissionById = statement((orm) =>
  orm
    .select({
      file: downloadPermissions.file,
      startedAt: downloadPermissions.startedAt,
      endsAt: downloadPermissions.expiresAt
    })
    .from(downloadPermissions)
    .innerJoin(users, eq(users.id, downloadPermissions.userId))
    .where(
      and(
        eq(downloadPermissions.id, sql.placeholder('id')),
        isNull(downloadPermissions.revokedAt),
        eq(users.status, 'active')
      )
    )
    .prepare()
)

/**
 * The file of a link, as a path inside the downloads folder. Undefined if the link is forged or expired, if its
 * permission was revoked or has expired, if its owner is deactivated, or if the module is off.
 */
export function openDownload(db: Db, keys: Keys, token: string, now: number): string | undefined {
  const match = tokenPattern.exec(token)
  if (!match) return undefined
  const [, idText = '', expiryText = '', signature = ''] = match
  const id = Number(idText)
  const expiresAt = Number.parseInt(expiryText, 36)
  const permission = permissionById(db).get({ id })
  if (
    permission === undefined ||
    expiresAt <= now ||
    isFromFuture(expiresAt - linkLifeMs, now) ||
    !isOpen(permission, now)
  )
    return undefined
  const expected = signatureOf(keys, { id, file: permission.file, expiresAt })
  // Compares text, because two spellings of the last character have equal bytes.
  if (!sameBytes(Buffer.from(signature), Buffer.from(expected))) return undefined
  return isModuleOn(db, 'downloads') ? permission.file : undefined
}
