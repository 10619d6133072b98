import { desc, eq, lt } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import { actAs } from '../../platform/actor.ts'
import { toIso } from '../../platform/iso-time.ts'
import { takePoints } from '../limits/points.ts'
import type { Limits } from '../limits/points.ts'
import { actorName, requirePermission } from './roles.ts'
import type { Actor, Permission } from './roles.ts'
import { deskLog, deskPeople } from './schema.ts'

/** What a person is about to do. `subject` names it by ids and slugs, such as `orders/104/refund`. */
export type Act = { permission: Permission; subject: string }

/**
 * Does what a person of the desk asked for, if their role may, and notes it in the log before and after. Its events name
 * the person.
 *
 * @throws DeskRefusal for the role, or before a use of the passkey; AppError RATE_LIMITED (desk_person); the errors of
 *   `work`, which the log has as refused
 */
export async function act<T>(
  shop: Limits,
  actor: Actor,
  { permission, subject }: Act,
  now: number,
  work: () => T | Promise<T>
): Promise<T> {
  requirePermission(actor, permission)
  await takePoints(shop, 'RATE_LIMITED', { bucket: 'desk_person', key: String(actor.personId ?? 'shell') })
  const { personId } = actor
  const row = { personId, action: permission, subject, outcome: 'begun' as const, at: now }
  const { id } = await writeWhenFree(shop.db, (tx) =>
    tx.orm.insert(deskLog).values(row).returning({ id: deskLog.id }).get()
  )
  const end = (outcome: 'done' | 'refused'): Promise<unknown> =>
    writeWhenFree(shop.db, (tx) => tx.orm.update(deskLog).set({ outcome }).where(eq(deskLog.id, id)).run())
  try {
    const result = await actAs(actorName(actor), work)
    await end('done')
    return result
  } catch (error) {
    await end('refused')
    throw error
  }
}

export type LogEntry = { id: number; at: string; who: string; action: string; subject: string; outcome: string }

/** What people of the desk did, the newest first, before the entry with the id `before`. */
export function listDeskLog(db: Db, { before, limit }: { before?: number | undefined; limit: number }): LogEntry[] {
  return db.orm
    .select({ row: deskLog, email: deskPeople.email })
    .from(deskLog)
    .leftJoin(deskPeople, eq(deskPeople.id, deskLog.personId))
    .where(before === undefined ? undefined : lt(deskLog.id, before))
    .orderBy(desc(deskLog.id))
    .limit(limit)
    .all()
    .map(({ row, email }) => ({
      id: row.id,
      at: toIso(row.at),
      who: email ?? 'operator',
      action: row.action,
      subject: row.subject,
      outcome: row.outcome
    }))
}
