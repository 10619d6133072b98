import { randomInt } from 'node:crypto'
import { AppError } from '../../errors.ts'
import { isUniqueViolation } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import { emailKey, compareKey, trimEndOf, trimStartOf } from '../../platform/text.ts'
import { emit } from '../webhooks/emit.ts'
import { isReserved } from './email-tokens.ts'
import { findUserByUsername, getUserById } from './find.ts'
import type { UserRow } from './rows.ts'
import { registrationConsents, registrationProfiles, users } from './schema.ts'
import type { ConsentPlace } from './schema.ts'
import { eq } from 'drizzle-orm'
import { toIso } from '../../platform/iso-time.ts'

export type NewUser = {
  email: string
  displayName: string
  passwordHash: string
  firstName?: string | null
  lastName?: string | null
  marketingOptIn: boolean
  /** The email is known to belong to the person, for example because an operator says so. */
  verified: boolean
  /** The email must be verified before the first login. */
  verificationPending?: boolean
  /** Null for an account that an operator creates. */
  termsAcceptedAt: number | null
  privacyAcceptedAt: number | null
  /** Derived from the email when left out. */
  username?: string
  isAdmin?: boolean
  billingEmail?: string | null
  billingPhone?: string | null
  companyName?: string | null
  address?: UserRow['address']
  createdAt?: number
  /** The language tag in which the person uses the shop. */
  language?: string | undefined
  /** False for an account of another shop that moves in: it registered there, so there is no event. */
  isNew?: boolean
}

/**
 * Creates an account with its profile, consent record and biography, and emits `account.registered`. Registration,
 * checkout, the command line, imports and seeding all create accounts here.
 *
 * @throws AppError AUTH_REGISTRATION_FAILED when the email or the username is taken, or an account can still return to the
 *   email (isReserved); it does not say which
 */
export function createUser(tx: Tx, input: NewUser, now: number): UserRow {
  const user = insertUser(tx, input, now)
  const names = { firstName: user.firstName, lastName: user.lastName }
  tx.orm
    .insert(registrationProfiles)
    .values({ userId: user.id, ...names })
    .run()
  tx.orm
    .insert(registrationConsents)
    .values({
      userId: user.id,
      marketingOptIn: input.marketingOptIn,
      termsAcceptedAt: input.termsAcceptedAt,
      privacyAcceptedAt: input.privacyAcceptedAt,
      recordedAt: user.createdAt
    })
    .run()
  if (input.isNew ?? true) emit(tx, 'account.registered', { userId: user.id }, now)
  return user
}

function insertUser(tx: Tx, input: NewUser, now: number): UserRow {
  if (isReserved(tx, input.email, null, now)) throw registrationFailed()
  const createdAt = input.createdAt ?? now
  const username = input.username ?? freeUsername(tx, input.email)
  const optIns = {
    marketingOptIn: input.marketingOptIn ? ('yes' as const) : ('no' as const),
    marketingOptInAt: input.marketingOptIn ? createdAt : null,
    marketingOptInFrom: input.marketingOptIn ? placeOf(input) : null,
    partnerOptIn: 'no' as const,
    partnerOptInAt: null
  }
  try {
    return tx.orm
      .insert(users)
      .values({
        email: input.email.normalize('NFC').trim(),
        emailKey: emailKey(input.email),
        username,
        usernameKey: compareKey(username),
        displayName: input.displayName,
        passwordHash: input.passwordHash,
        status: 'active',
        isAdmin: input.isAdmin ?? false,
        emailVerifiedAt: input.verified ? createdAt : null,
        verificationPending: input.verificationPending ?? false,
        firstName: input.firstName ?? null,
        lastName: input.lastName ?? null,
        biography: biographyBlock(optIns),
        billingEmail: input.billingEmail ?? null,
        billingPhone: input.billingPhone ?? null,
        companyName: input.companyName ?? null,
        language: input.language ?? null,
        address: input.address ?? null,
        ...optIns,
        activeAt: now,
        createdAt,
        updatedAt: createdAt
      })
      .returning()
      .get()
  } catch (error) {
    if (isUniqueViolation(error)) throw registrationFailed(error)
    throw error
  }
}

function placeOf({ isNew = true }: NewUser): ConsentPlace {
  return isNew ? 'registration' : 'import'
}

/** AUTH_REGISTRATION_FAILED, with a message that does not reveal the reason (docs/contract.md 3). */
export function registrationFailed(cause?: unknown): AppError {
  return new AppError('AUTH_REGISTRATION_FAILED', 'The account could not be created with these details.', {}, { cause })
}

/** The name, or the email's local part without one, cut to the length of a display name. */
export function displayNameOf(email: string, names: readonly (string | null)[]): string {
  const name = names.filter((part) => part !== null).join(' ')
  const [local = ''] = email.split('@')
  return Array.from(name === '' ? local : name)
    .slice(0, 100)
    .join('')
    .trim()
}

/** The email's local part in plain letters, followed by a number if it is taken. */
function freeUsername(tx: Tx, email: string): string {
  const base = usernameFrom(email)
  const isFree = (name: string): boolean => findUserByUsername(tx, name) === undefined
  if (isFree(base)) return base
  for (let number = 2; number <= 9; number += 1) {
    if (isFree(`${base}-${number}`)) return `${base}-${number}`
  }
  // After a thousand `info@…` accounts, counting up would try a thousand names.
  for (;;) {
    const name = `${base}-${randomInt(100_000, 1_000_000_000)}`
    if (isFree(name)) return name
  }
}

/** Never contains an `@`, so that a username cannot be mistaken for an email. */
function usernameFrom(email: string): string {
  const local = email.slice(0, email.lastIndexOf('@'))
  const plain = compareKey(local)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9._-]+/g, '-')
  const username = trimEndOf(trimStartOf(plain, '-._'), '-._').slice(0, 60)
  return username === '' ? 'customer' : username
}

export type OptIns = Pick<UserRow, 'marketingOptIn' | 'marketingOptInAt' | 'partnerOptIn' | 'partnerOptInAt'>

/** The consent summary in the biography (docs/interface.md 4.2, docs/contract.md A8). */
export function biographyBlock(optIns: OptIns): string {
  return [
    ...consentLines('Customer', optIns.marketingOptIn, optIns.marketingOptInAt),
    ...consentLines('Partner', optIns.partnerOptIn, optIns.partnerOptInAt)
  ].join('\n')
}

function consentLines(who: string, optIn: 'yes' | 'no', at: number | null): string[] {
  return [`${who} marketing opt-in: ${optIn}`, `${who} marketing opt-in at: ${at === null ? '-' : toIso(at)}`]
}

/**
 * Stores the customer's marketing consent with its time and place, and updates the biography. A change emits
 * `account.marketing_changed`.
 */
export function setMarketingOptIn(tx: Tx, userId: number, optIn: boolean, from: ConsentPlace, now: number): UserRow {
  const marketingOptIn = optIn ? 'yes' : 'no'
  if (getUserById(tx, userId).marketingOptIn !== marketingOptIn)
    emit(tx, 'account.marketing_changed', { userId, marketingOptIn }, now)
  const marketingOptInAt = optIn ? now : null
  return store(tx, userId, { marketingOptIn, marketingOptInAt, marketingOptInFrom: from }, now)
}

/** Stores the partner marketing consent, which is part of an affiliate application. */
export function setPartnerOptIn(tx: Tx, userId: number, optIn: boolean, now: number): UserRow {
  return store(tx, userId, { partnerOptIn: optIn ? 'yes' : 'no', partnerOptInAt: optIn ? now : null }, now)
}

function store(
  tx: Tx,
  userId: number,
  change: Partial<OptIns & Pick<UserRow, 'marketingOptInFrom'>>,
  now: number
): UserRow {
  const user = { ...getUserById(tx, userId), ...change, updatedAt: now }
  const biography = biographyBlock(user)
  tx.orm
    .update(users)
    .set({ ...change, biography, updatedAt: now })
    .where(eq(users.id, userId))
    .run()
  return { ...user, biography }
}
