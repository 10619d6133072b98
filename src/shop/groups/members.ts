import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import { statement, write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { findUserByEmail, findUserById, getUser } from '../accounts/find.ts'
import type { UserRow } from '../accounts/rows.ts'
import { users } from '../accounts/schema.ts'
import { membershipsOf } from '../benefits/records.ts'
import { statusOf } from '../benefits/view.ts'
import { isModuleOn } from '../settings/settings.ts'
import { getGroup } from './groups.ts'
import type { GroupRow } from './groups.ts'
import { customerGroups, groupMembers } from './schema.ts'

const userId = sql.placeholder('userId')
const joined = statement((orm) =>
  orm.select({ groupId: groupMembers.groupId }).from(groupMembers).where(eq(groupMembers.userId, userId)).prepare()
)
const every = statement((orm) => orm.select().from(customerGroups).orderBy(asc(customerGroups.id)).prepare())

/**
 * The groups of a buyer at `now`: those that an operator or an import put the account into, and those of its active
 * memberships. A guest is in none, because anyone can type an email.
 */
export function groupsOf(db: Db, userId: number | null, now: number): GroupRow[] {
  if (userId === null) return []
  const groups = every(db).all()
  if (groups.length === 0) return []
  const ids = new Set(
    joined(db)
      .all({ userId })
      .map(({ groupId }) => groupId)
  )
  const planIds = groups.some(({ planId }) => planId !== null) ? activePlans(db, userId, now) : new Set()
  return groups.filter(({ id, planId }) => ids.has(id) || planIds.has(planId))
}

function activePlans(db: Db, userId: number, now: number): ReadonlySet<unknown> {
  const active = membershipsOf(db, userId).filter(
    (record) =>
      record.startedAt <= now && statusOf(record, now) === 'active' && isModuleOn(db, `memberships${record.module}`)
  )
  return new Set(active.map(({ planId }) => planId))
}

/**
 * Puts accounts into a group, all or none.
 *
 * @param names their emails or ids
 * @throws AppError NOT_FOUND for an unknown group; VALIDATION_FAILED (`accounts`) with each account that is unknown, named
 *   twice, in the group already, or named by an email that it has not verified
 */
export function addMembers(db: Db, slug: string, names: readonly string[], now: number): GroupRow {
  return write(db, (tx) => {
    const group = getGroup(tx, slug)
    const problems: string[] = []
    const found = new Set<number>()
    for (const name of names) {
      const user = findNamed(tx, name)
      const problem = causeOf(tx, { group, user, name, isNamed: user !== undefined && found.has(user.id) })
      if (problem !== undefined) problems.push(problem)
      else if (user !== undefined) {
        found.add(user.id)
        joinGroup(tx, group, user.id, now)
      }
    }
    if (problems.length > 0) throw validationFailed({ accounts: problems })
    return group
  })
}

/** The account that a text names; an id names an account whose email is not verified, too. */
function findNamed(db: Db, name: string): UserRow | undefined {
  return isId(name) ? findUserById(db, Number(name)) : findUserByEmail(db, name)
}

function isId(name: string): boolean {
  return /^\d{1,15}$/.test(name)
}

type Named = { group: GroupRow; user: UserRow | undefined; name: string; isNamed: boolean }

function causeOf(db: Db, { group, user, name, isNamed }: Named): string | undefined {
  if (user === undefined || user.status === 'erased') return `${name}: there is no account with this email or id.`
  if (isNamed) return `${name}: this account is named twice.`
  if (isMember(db, group, user.id)) return `${name}: this account is in the group ${group.slug} already.`
  if (isId(name) || user.emailVerifiedAt !== null) return undefined
  return `${name}: the email is not verified, so anyone can have registered with it. If it is theirs, name the account by its id, ${user.id}.`
}

function isMember(db: Db, { id }: GroupRow, userId: number): boolean {
  return joined(db)
    .all({ userId })
    .some(({ groupId }) => groupId === id)
}

/** Puts an account into a group; false if it was in it. */
export function joinGroup(tx: Tx, group: GroupRow, userId: number, now: number): boolean {
  if (isMember(tx, group, userId)) return false
  tx.orm.insert(groupMembers).values({ groupId: group.id, userId, addedAt: now }).run()
  return true
}

/**
 * Takes an account out of a group. A membership whose plan is the group's keeps it in.
 *
 * @param name its email or id
 * @throws AppError NOT_FOUND for an unknown group or account, and for an account that was not added
 */
export function removeMember(db: Db, slug: string, name: string, now: number): GroupRow {
  return write(db, (tx) => {
    const group = getGroup(tx, slug)
    const user = getUser(tx, name)
    const { changes } = tx.orm
      .delete(groupMembers)
      .where(and(eq(groupMembers.groupId, group.id), eq(groupMembers.userId, user.id)))
      .run()
    if (changes > 0) return group
    const byPlan = groupsOf(tx, user.id, now).some(({ id }) => id === group.id)
    throw new AppError(
      'NOT_FOUND',
      byPlan
        ? `${user.email} is in the group ${slug} by a membership. End the membership instead.`
        : `${user.email} is not in the group ${slug}.`
    )
  })
}

/** A person whom an operator or an import put into a group. */
export type Member = { userId: number; email: string; displayName: string; addedAt: number }

/** The accounts that were added to a group, by their ids. They are read while they are used. */
export function listMembers<T>(db: Db, { id }: GroupRow, view: (member: Member) => T): Iterable<T> {
  const next = (last: Member | undefined, limit: number): Member[] =>
    db.orm
      .select({
        userId: users.id,
        email: users.email,
        displayName: users.displayName,
        addedAt: groupMembers.addedAt
      })
      .from(groupMembers)
      .innerJoin(users, eq(users.id, groupMembers.userId))
      .where(and(eq(groupMembers.groupId, id), last && gt(groupMembers.userId, last.userId)))
      .orderBy(asc(groupMembers.userId))
      .limit(limit)
      .all()
  return inParts(db, next, (rows) => rows.map(view))
}

/** Forgets the groups of an erased person. */
export function leaveGroups(tx: Tx, userId: number): void {
  tx.orm.delete(groupMembers).where(eq(groupMembers.userId, userId)).run()
}
