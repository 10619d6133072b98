import { and, eq, isNull, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import { id, time } from '../../platform/public-fields.ts'
import { isFromFuture } from '../../platform/clock.ts'
import { toIso } from '../../platform/iso-time.ts'
import type { Keys } from '../../platform/crypto/secrets.ts'
import { readLink, signLink } from '../../platform/crypto/signed-link.ts'
import type { Db } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { users } from '../accounts/schema.ts'
import { isModuleOn } from '../settings/settings.ts'
import { downloadsOf, guestDownloadsOf, isStopped } from './records.ts'
import { downloadPermissions } from './schema.ts'

/** Anyone with a link can use it, so it is valid for a day at most and not longer than its permission. */
const linkLifeMs = 24 * 60 * 60 * 1000

export const download = z
  .object({
    id,
    productId: id,
    name: z.string().meta({ example: 'tide-letter.pdf' }),
    url: z.string().meta({
      format: 'uri-reference',
      description: 'A path on the public URL. Anyone with the link can use it until expiresAt.',
      example: '/downloads/1.abc.def'
    }),
    expiresAt: time
  })
  .meta({ id: 'Download' })
export type DownloadView = z.infer<typeof download>

/**
 * The current downloads of a person, each file of a product once, with a new link until `expiresAt`. Empty if the
 * module is off.
 */
export function listDownloads(db: Db, keys: Keys, userId: number, now: number): DownloadView[] {
  return toLinks(db, keys, downloadsOf(db, userId), now)
}

/** The current downloads of a guest's order, with new links; empty for the order of an account. */
export function listGuestDownloads(db: Db, keys: Keys, orderId: number, now: number): DownloadView[] {
  return toLinks(db, keys, guestDownloadsOf(db, orderId), now)
}

function toLinks(db: Db, keys: Keys, rows: ReturnType<typeof downloadsOf>, now: number): DownloadView[] {
  if (!isModuleOn(db, 'downloads')) return []
  const longest = new Map<string, (typeof rows)[number]>()
  for (const row of rows) {
    const known = longest.get(row.key)
    if (isOpen(row, now) && (known === undefined || endOf(row) > endOf(known))) longest.set(row.key, row)
  }
  return [...longest.values()].map((row) => {
    const expiresAt = Math.min(now + linkLifeMs, endOf(row))
    const name = row.file.split('/').at(-1) ?? row.file
    const url = `/downloads/${signLink(keys.download, { id: row.id, expiresAt }, subjectOf(row))}`
    return { id: row.id, productId: row.productId, name, url, expiresAt: toIso(expiresAt) }
  })
}

function isOpen(row: { startedAt: number; endsAt: number | null }, now: number): boolean {
  return row.startedAt <= now && endOf(row) > now
}

function endOf({ endsAt }: { endsAt: number | null }): number {
  return endsAt ?? Number.MAX_SAFE_INTEGER
}

/** A link leads to no other file if its permission is changed. */
function subjectOf({ file }: { file: string }): string {
  return `download ${file}`
}

const permissionById = statement((orm) =>
  orm
    .select({
      file: downloadPermissions.file,
      startedAt: downloadPermissions.startedAt,
      endsAt: downloadPermissions.expiresAt
    })
    .from(downloadPermissions)
    .leftJoin(users, eq(users.id, downloadPermissions.userId))
    .where(
      and(
        eq(downloadPermissions.id, sql.placeholder('id')),
        isNull(downloadPermissions.revokedAt),
        sql`NOT ${sql.raw(isStopped('download_permissions.order_id'))}`,
        // A guest has no account that could be deactivated.
        or(isNull(downloadPermissions.userId), eq(users.status, 'active'))
      )
    )
    .prepare()
)

/**
 * The file of a link, as a path inside the downloads folder. Undefined if the link is forged or expired, if its
 * permission was revoked, has expired or has an order on hold, if its owner is deactivated, or if the module is off.
 */
export function openDownload(db: Db, keys: Keys, token: string, now: number): string | undefined {
  const link = readLink(token)
  const permission = link && permissionById(db).get({ id: link.id })
  if (link === undefined || permission === undefined) return undefined
  const isCurrent = link.expiresAt > now && !isFromFuture(link.expiresAt - linkLifeMs, now) && isOpen(permission, now)
  if (!isCurrent || !link.isSigned(keys.download, subjectOf(permission))) return undefined
  return isModuleOn(db, 'downloads') ? permission.file : undefined
}
