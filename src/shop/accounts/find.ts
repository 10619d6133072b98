import { eq, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { emailKey, compareKey } from '../../platform/text.ts'
import type { ConsentRow, UserRow } from './rows.ts'
import { registrationConsents, registrationProfiles, users } from './schema.ts'

const id = sql.placeholder('id')
const key = sql.placeholder('key')

const byId = statement((orm) => orm.select().from(users).where(eq(users.id, id)).prepare())
const byEmailKey = statement((orm) => orm.select().from(users).where(eq(users.emailKey, key)).prepare())
const byUsernameKey = statement((orm) => orm.select().from(users).where(eq(users.usernameKey, key)).prepare())
const profileByUser = statement((orm) =>
  orm
    .select({ firstName: registrationProfiles.firstName, lastName: registrationProfiles.lastName })
    .from(registrationProfiles)
    .where(eq(registrationProfiles.userId, id))
    .prepare()
)
const consentByUser = statement((orm) =>
  orm.select().from(registrationConsents).where(eq(registrationConsents.userId, id)).prepare()
)

/** The user with an id, whatever their status. */
export function findUserById(db: Db, id: number): UserRow | undefined {
  return byId(db).get({ id })
}

/** The user with an email, compared by its key. */
export function findUserByEmail(db: Db, email: string): UserRow | undefined {
  return byEmailKey(db).get({ key: emailKey(email) })
}

/** The user with a username, compared by its key. */
export function findUserByUsername(db: Db, username: string): UserRow | undefined {
  return byUsernameKey(db).get({ key: compareKey(username) })
}

/** @throws AppError NOT_FOUND */
export function getUserById(db: Db, id: number): UserRow {
  const user = findUserById(db, id)
  if (user === undefined) throw new AppError('NOT_FOUND', `Account ${id} does not exist.`)
  return user
}

/**
 * The account that an operator names by email or id.
 *
 * @throws AppError NOT_FOUND
 */
export function getUser(db: Db, emailOrId: string | number): UserRow {
  const text = String(emailOrId)
  const user = /^\d{1,15}$/.test(text) ? findUserById(db, Number(text)) : findUserByEmail(db, text)
  if (user === undefined) throw new AppError('NOT_FOUND', 'There is no account with this email or id.')
  return user
}

/** The custom profile of the registration; undefined for an account without one. */
export function findRegistrationProfile(
  db: Db,
  userId: number
): { firstName: string | null; lastName: string | null } | undefined {
  return profileByUser(db).get({ id: userId })
}

/** The consents that a user gave at registration. */
export function findRegistrationConsent(db: Db, userId: number): ConsentRow | undefined {
  return consentByUser(db).get({ id: userId })
}

/**
 * The account with an id, unless it is erased.
 *
 * @throws AppError NOT_FOUND, CONFLICT for an erased account
 */
export function getUnerasedUser(db: Db, userId: number): UserRow {
  const user = getUserById(db, userId)
  if (user.status === 'erased') throw new AppError('CONFLICT', 'This account has been erased.')
  return user
}
