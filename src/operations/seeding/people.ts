import type { App } from '../../app.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { createUser } from '../../shop/accounts/create-user.ts'
import type { NewUser } from '../../shop/accounts/create-user.ts'
import { deactivateUser } from '../../shop/accounts/deactivate.ts'
import { findUserByEmail, getUser } from '../../shop/accounts/find.ts'
import type { DemoPerson } from './demo-data.ts'
import { demoPassword } from './logins.ts'
import { dayMs } from './timeline.ts'
import type { TimelineEntry } from './timeline.ts'

/** A person of the demo shop with a hash of the shared password under a separate salt. */
export type NewPerson = { person: DemoPerson; passwordHash: string }

/** The people without an account. It hashes passwords, which is slow, so it must run before the transaction. */
export async function findNewPeople(app: App, people: readonly DemoPerson[]): Promise<NewPerson[]> {
  return Promise.all(
    people
      .filter(({ email }) => isUnknown(app.db, email))
      .map(async (person) => ({ person, passwordHash: await app.passwords.hash(demoPassword) }))
  )
}

function isUnknown(db: Db, email: string): boolean {
  return findUserByEmail(db, email) === undefined
}

/** The people who still have no account: someone may have registered while the passwords were hashed. */
export function withoutAccount(tx: Tx, newPeople: readonly NewPerson[]): NewPerson[] {
  return newPeople.filter(({ person }) => isUnknown(tx, person.email))
}

/** The registrations of people, each at its time. People who are no longer active are deactivated at `now`. */
export function peopleTimeline(newPeople: readonly NewPerson[], now: number): TimelineEntry[] {
  return newPeople.flatMap(({ person, passwordHash }): TimelineEntry[] => {
    const registered: TimelineEntry = {
      at: registeredAt(person, now),
      apply: (tx, at) => void createUser(tx, toNewUser(person, passwordHash, at), at)
    }
    if (person.active) return [registered]
    const left: TimelineEntry = {
      at: now,
      apply: (tx, at) => void deactivateUser(tx, getUser(tx, person.email).id, at)
    }
    return [registered, left]
  })
}

/** When a person registered, in epoch milliseconds. */
export function registeredAt(person: DemoPerson, now: number): number {
  return Math.round(now - person.registeredDaysAgo * dayMs)
}

function toNewUser(person: DemoPerson, passwordHash: string, at: number): NewUser {
  const { username } = person
  return {
    email: person.email,
    displayName: person.displayName,
    passwordHash,
    firstName: person.firstName ?? null,
    lastName: person.lastName ?? null,
    marketingOptIn: person.marketingOptIn,
    verified: person.verified,
    verificationPending: !person.verified,
    termsAcceptedAt: at,
    privacyAcceptedAt: at,
    ...(username === undefined ? {} : { username }),
    isAdmin: person.roles.includes('administrator'),
    billingEmail: person.billingEmail ?? null,
    billingPhone: person.billingPhone ?? null,
    companyName: person.companyName ?? null
  }
}
