import { and, eq, isNull, sql } from 'drizzle-orm'
import { isFromFuture } from '../../platform/clock.ts'
import { toIso } from '../../platform/iso-time.ts'
import { hmac, sameBytes } from '../../platform/crypto/secrets.ts'
import type { Keys } from '../../platform/crypto/secrets.ts'
import type { Db } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/statements.ts'
import { users } from '../accounts/schema.ts'
import { isModuleOn } from '../settings/settings.ts'
import { downloadsOf } from './records.ts'
import { downloadPermissions } from './schema.ts'

/** A link is a bearer's: it lives for a day at most, and no longer than its permission; /me/downloads makes new ones. */
const linkLifeMs = 24 * 60 * 60 * 1000
const tokenPattern = /^([1-9]\d{0,14})\.([0-9a-z]{1,11})\.([\w-]{43})$/

export type DownloadView = { id: number; productId: number; name: string; url: string; expiresAt: string }

/** What a person may download now, each file of a product once; `expiresAt` is the link's end. Empty with the module off. */
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
 * The file that a link leads to, as a path inside the downloads folder. Undefined for a link that is forged or has expired, whose
 * permission has been taken back or has run out, whose owner is deactivated, or with the module off.
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
  // As text: bytes would let two spellings of the last character pass.
  if (!sameBytes(Buffer.from(signature), Buffer.from(expected))) return undefined
  return isModuleOn(db, 'downloads') ? permission.file : undefined
}
