import { and, desc, eq, lt, or, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Db } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/email-key.ts'
import { compareKey } from '../../platform/text.ts'
import type { UserRow } from './rows.ts'
import { users } from './schema.ts'

export type UserFilter = {
  readonly status?: UserRow['status'] | undefined
  /** Part of an email, username or display name, in any case. */
  readonly search?: string | undefined
  /** Only accounts older than this one, for the next page. */
  readonly beforeId?: number | undefined
  readonly limit: number
}

/** Accounts, newest first. */
export function listUsers(db: Db, { status, search, beforeId, limit }: UserFilter): UserRow[] {
  const wanted = compareKey(search ?? '')
  const has = (key: SQL | SQLiteColumn) => sql`instr(${key}, ${wanted}) > 0`
  return db.orm
    .select()
    .from(users)
    .where(
      and(
        status === undefined ? undefined : eq(users.status, status),
        beforeId === undefined ? undefined : lt(users.id, beforeId),
        search === undefined
          ? undefined
          : or(
              eq(users.emailKey, emailKey(search)),
              has(sql`compare_key(${users.email})`),
              has(users.usernameKey),
              has(sql`compare_key(${users.displayName})`)
            )
      )
    )
    .orderBy(desc(users.id))
    .limit(limit)
    .all()
}
