import { and, eq, gt, isNull, max } from 'drizzle-orm'
import { z } from 'zod'
import { toIso, toIsoOrNull } from '../../../platform/iso-time.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { rawStatement } from '../../../platform/db/database.ts'
import { grantSchemas } from '../../catalog/grants.ts'
import type { GrantSpec } from '../../catalog/grants.ts'
import { slug } from '../../../platform/input-fields.ts'
import { getProduct } from '../../catalog/products.ts'
import { addDays } from '../period.ts'
import { downloadsOf } from '../records.ts'
import { downloadPermissions } from '../schema.ts'
import { givenByHand, remainderOf } from './kind.ts'
import type { BenefitKind, Ended, Recipient, Shift } from './kind.ts'

export const download: BenefitKind<'download'> = {
  plural: 'downloads',
  table: downloadPermissions,
  since: 'started_at',
  sharesTotal: false,
  guests: { start: (tx, to, spec, now) => start(tx, { ...to, userId: null }, spec, now), claim },
  start,
  end,
  list: (db, userId) =>
    downloadsOf(db, userId).map(({ id, productId, file, startedAt, endsAt, orderId }) => {
      const view = { id, productId, file, startedAt: toIso(startedAt), expiresAt: toIsoOrNull(endsAt), orderId }
      const line = { id, what: file, state: 'given', until: view.expiresAt, orderId }
      return { view, line, module: 'downloads' }
    }),
  words: (_db, { days }) => (days === null ? 'A file to download' : `A file to download within ${days} days`),
  renewal: null,
  byHand: givenByHand({
    input: () =>
      grantSchemas.download.extend({ product: slug(), days: z.preprocess(toNumber, grantSchemas.download.shape.days) }),
    options: {
      product: { value: '<slug>', about: 'product of the download' },
      file: { value: '<path>', about: 'path inside data/downloads' },
      days: { value: '<n>', about: 'number of days (default: no limit)' }
    },
    give: (tx, to, grant, now) => start(tx, { ...to, productId: getProduct(tx, grant.product).id }, grant, now)
  })
}

function start(
  tx: Tx,
  to: Pick<Recipient, 'productId' | 'quantity' | 'source'> & { userId: number | null },
  { file, days }: GrantSpec<'download'>,
  now: number
): number {
  const { userId, productId, quantity, source } = to
  const startedAt = days === null ? now : runningUntil(tx, { userId, productId, file }, now)
  const expiresAt = days === null ? null : addDays(startedAt, days, quantity)
  return tx.orm
    .insert(downloadPermissions)
    .values({ userId, productId, file, startedAt, expiresAt, ...source })
    .returning({ id: downloadPermissions.id })
    .get().id
}

/** The links of a guest's order end with their own order, so they are never extended by another one. */
function runningUntil(tx: Tx, of: { userId: number | null; productId: number; file: string }, now: number): number {
  if (of.userId === null) return now
  const running = tx.orm
    .select({ end: max(downloadPermissions.expiresAt) })
    .from(downloadPermissions)
    .where(
      and(
        eq(downloadPermissions.userId, of.userId),
        eq(downloadPermissions.productId, of.productId),
        eq(downloadPermissions.file, of.file),
        isNull(downloadPermissions.revokedAt),
        gt(downloadPermissions.expiresAt, now)
      )
    )
    .get()
  return running?.end ?? now
}

function claim(tx: Tx, orderId: number, userId: number): void {
  const ofGuest = and(eq(downloadPermissions.orderId, orderId), isNull(downloadPermissions.userId))
  tx.orm.update(downloadPermissions).set({ userId }).where(ofGuest).run()
}

const moveUp = rawStatement<Shift>(
  `UPDATE download_permissions SET started_at = started_at - @by, expires_at = expires_at - @by
   WHERE revoked_at IS NULL AND expires_at IS NOT NULL AND started_at >= @from AND id <> @id
     AND (user_id, product_id, file) = (SELECT user_id, product_id, file FROM download_permissions WHERE id = @id)`
)

function end(tx: Tx, id: number, line: { orderItemId?: null }, now: number): Ended | null {
  const row = tx.orm.select().from(downloadPermissions).where(eq(downloadPermissions.id, id)).get()
  if (row === undefined) return null
  const set = { revokedAt: row.revokedAt ?? now, ...line }
  tx.orm.update(downloadPermissions).set(set).where(eq(downloadPermissions.id, id)).run()
  if (row.revokedAt !== null) return null
  const remainder = remainderOf(row, row.expiresAt, now)
  if (remainder !== undefined) moveUp(tx).run(remainder)
  return { gatewayId: null }
}

/** Options of the command line are text. */
function toNumber(text: unknown): unknown {
  return typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : text
}
