import { and, desc, eq, lt, or, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import type { UserRow } from './rows.ts'
import { users } from './schema.ts'

export type UserFilter = {
  readonly status?: UserRow['status'] | undefined
  /** Part of an email, username or display name. */
  readonly search?: string | undefined
  /** Only accounts older than this one, to go on with a list. */
  readonly beforeId?: number | undefined
  readonly limit: number
}

/** Accounts, newest first. */
export function listUsers(db: Db, { status, search, beforeId, limit }: UserFilter): UserRow[] {
  const has = (column: typeof users.emailKey | typeof users.usernameKey | typeof users.displayName) =>
    sql`instr(${column}, ${column === users.displayName ? search : compareKey(search ?? '')}) > 0`
  return db.orm
    .select()
    .from(users)
    .where(
      and(
        status === undefined ? undefined : eq(users.status, status),
        beforeId === undefined ? undefined : lt(users.id, beforeId),
        search === undefined ? undefined : or(has(users.emailKey), has(users.usernameKey), has(users.displayName))
      )
    )
    .orderBy(desc(users.id))
    .limit(limit)
    .all()
}
