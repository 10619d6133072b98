import { randomBytes } from 'node:crypto'
import { and, asc, eq, isNull, lt } from 'drizzle-orm'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { isFromFuture } from '../../platform/clock.ts'
import { hmac, sameBytes } from '../../platform/crypto/secrets.ts'
import type { Keys } from '../../platform/crypto/secrets.ts'
import type { Db } from '../../platform/db/database.ts'
import { write } from '../../platform/db/database.ts'
import { parseStrictJson } from '../../platform/http/strict-json.ts'
import { toIso } from '../../platform/iso-time.ts'
import type { ShopContext } from '../context.ts'
import { assertPointsLeft, countFailure } from '../limits/points.ts'
import { setting } from '../settings/settings.ts'
import { findInvited, useInvitation } from './people.ts'
import type { PersonRow } from './people.ts'
import { startDeskSession } from './sessions.ts'
import type { DeskSessionRow } from './sessions.ts'
import { deskPasskeys, deskPeople } from './schema.ts'

/**
 * What a challenge is for. It is signed for this purpose, so that a use of the passkey for one is not accepted for
 * another: the link of an invitation, a login, or a session (a fresh check, and another passkey).
 */
type Purpose = `invitation.${string}` | 'login' | `session.${string}` | `passkey.${string}`

const challengeMs = 5 * 60_000
const headBytes = 6 + 16
const shape = /^[A-Za-z0-9_-]{72}$/
/** EdDSA, ES256 and RS256, by their numbers (RFC 9053), in the order of preference. */
const algorithms = [-8, -7, -257]
const mostPasskeys = 10

/** A challenge, valid for five minutes. It is not stored: it is an HMAC over purpose, time and 128 random bits. */
function issueChallenge({ desk }: Pick<Keys, 'desk'>, purpose: Purpose, now: number): string {
  const head = Buffer.alloc(headBytes)
  head.writeUIntBE(now, 0, 6)
  randomBytes(16).copy(head, 6)
  return Buffer.concat([head, macOf(desk, purpose, head)]).toString('base64url')
}

/** When a challenge was issued for a purpose; undefined for one that is forged, for another purpose, or over. */
function challengeTime(keys: Pick<Keys, 'desk'>, purpose: Purpose, challenge: string, now: number): number | undefined {
  if (!shape.test(challenge)) return undefined
  const bytes = Buffer.from(challenge, 'base64url')
  const head = bytes.subarray(0, headBytes)
  const at = head.readUIntBE(0, 6)
  if (!sameBytes(bytes.subarray(headBytes), macOf(keys.desk, purpose, head))) return undefined
  return now - at < challengeMs && !isFromFuture(at, now) ? at : undefined
}

function macOf(key: Keys['desk'], purpose: Purpose, head: Buffer): Buffer {
  return hmac(key, `challenge.${purpose}.${head.toString('base64url')}`)
}

type Shop = Pick<ShopContext, 'db' | 'keys' | 'publicUrl'>

/** The options of navigator.credentials.get, as JSON (WebAuthn 5.5), for a login or a fresh check of a session. */
export function passkeyRequest(shop: Shop, session: DeskSessionRow | null, now: number): object {
  const purpose: Purpose = session === null ? 'login' : `session.${session.tokenHash}`
  const own = session === null ? [] : idsOf(shop.db, session.personId)
  return {
    challenge: issueChallenge(shop.keys, purpose, now),
    rpId: new URL(shop.publicUrl()).hostname,
    timeout: challengeMs,
    userVerification: 'required',
    allowCredentials: own.map((id) => ({ id, type: 'public-key' }))
  }
}

/** Who gets a new passkey: the person of an invitation, or of a session. */
export type Enrolment = { token: string } | { session: DeskSessionRow; person: PersonRow }

/** The options of navigator.credentials.create, as JSON (WebAuthn 5.4). @throws AppError TOKEN_INVALID */
export function newPasskeyRequest(shop: Shop, enrolment: Enrolment, now: number): object {
  const person = personOf(shop.db, enrolment, now)
  return {
    challenge: issueChallenge(shop.keys, purposeOf(enrolment), now),
    rp: { id: new URL(shop.publicUrl()).hostname, name: setting(shop.db, 'shop.name') },
    user: {
      id: Buffer.from(`desk ${person.id}`).toString('base64url'),
      name: person.email,
      displayName: person.email
    },
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    timeout: challengeMs,
    excludeCredentials: idsOf(shop.db, person.id).map((id) => ({ id, type: 'public-key' })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none'
  }
}

function purposeOf(enrolment: Enrolment): Purpose {
  return 'token' in enrolment ? `invitation.${enrolment.token}` : `passkey.${enrolment.session.tokenHash}`
}

function personOf(db: Db, enrolment: Enrolment, now: number): PersonRow {
  const person = 'token' in enrolment ? findInvited(db, enrolment.token, now) : enrolment.person
  if (person === undefined) throw new AppError('TOKEN_INVALID', 'This link has been used or has expired.')
  return person
}

const base64url = z
  .string()
  .max(16_000)
  .regex(/^[A-Za-z0-9_-]+$/)
const credential = { id: base64url.max(1400), rawId: base64url.max(1400), type: z.literal('public-key') }
const created = z
  .object({ ...credential, response: z.object({ clientDataJSON: base64url, attestationObject: base64url }) })
  .transform((sent) => ({ ...sent, clientExtensionResults: {} }))
const used = z
  .object({
    ...credential,
    response: z.object({ clientDataJSON: base64url, authenticatorData: base64url, signature: base64url })
  })
  .transform((sent) => ({ ...sent, clientExtensionResults: {} }))

/**
 * Stores the passkey that a browser made. An invitation is used up by it, and starts a session.
 *
 * @param sent what navigator.credentials.create returned, as JSON
 * @returns the token of the new session; null for a session's further passkey
 * @throws AppError TOKEN_INVALID for a link that is over; NOT_AUTHENTICATED for what is not a new passkey of this shop;
 *   AUTH_RATE_LIMITED (desk_ip); CONFLICT for too many passkeys
 */
export async function addPasskey(
  shop: ShopContext,
  enrolment: Enrolment,
  sent: string,
  visitor: Visitor,
  now: number
): Promise<string | null> {
  const person = await guarded(shop, visitor, () => Promise.resolve(personOf(shop.db, enrolment, now)))
  const purpose = purposeOf(enrolment)
  const made = await guarded(shop, visitor, async () => {
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: created.parse(parseStrictJson(sent)),
      expectedChallenge: (challenge) => challengeTime(shop.keys, purpose, challenge, now) !== undefined,
      ...ownPlace(shop),
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms
    })
    return verified ? registrationInfo?.credential : undefined
  })
  return write(shop.db, (tx) => {
    if ('token' in enrolment) useInvitation(tx, enrolment.token, now)
    if (idsOf(tx, person.id).length >= mostPasskeys)
      throw new AppError('CONFLICT', `A person can have at most ${mostPasskeys} passkeys. Remove one first.`)
    const { id, counter } = made
    const row = { id, personId: person.id, publicKey: Buffer.from(made.publicKey), counter }
    const { changes } = tx.orm
      .insert(deskPasskeys)
      .values({ ...row, challengeAt: 0, createdAt: now })
      .onConflictDoNothing()
      .run()
    if (changes === 0) throw new AppError('CONFLICT', 'This passkey is already in use.')
    return 'token' in enrolment ? startDeskSession(tx, person.id, visitor.userAgent, now) : null
  })
}

/** Where a request comes from. */
export type Visitor = { addressKey: string; userAgent: string }

/**
 * Logs a person in by a passkey, or checks that the person of a session has used theirs now. Each challenge works once.
 *
 * @param sent what navigator.credentials.get returned, as JSON
 * @returns the token of the new session; null for a session's fresh check
 * @throws AppError NOT_AUTHENTICATED for anything but a right passkey, whatever is wrong; AUTH_RATE_LIMITED (desk_ip)
 */
export async function usePasskey(
  shop: ShopContext,
  session: DeskSessionRow | null,
  sent: string,
  visitor: Visitor,
  now: number
): Promise<string | null> {
  const purpose: Purpose = session === null ? 'login' : `session.${session.tokenHash}`
  return guarded(shop, visitor, async () => {
    const response = used.parse(parseStrictJson(sent))
    const passkey = findPasskey(shop.db, response.id)
    if (passkey === undefined || (session !== null && passkey.personId !== session.personId)) return undefined
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
    let issuedAt: number | undefined
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: (challenge) => {
        issuedAt = challengeTime(shop.keys, purpose, challenge, now)
        return issuedAt !== undefined
      },
      ...ownPlace(shop),
      requireUserVerification: true,
      credential: { id: passkey.id, publicKey: Uint8Array.from(passkey.publicKey), counter: passkey.counter }
    })
    const challengeAt = issuedAt
    if (!verified || challengeAt === undefined) return undefined
    return write(shop.db, (tx) => {
      const newer = and(eq(deskPasskeys.id, passkey.id), lt(deskPasskeys.challengeAt, challengeAt))
      const counted = { counter: authenticationInfo.newCounter, challengeAt, lastUsedAt: now }
      if (tx.orm.update(deskPasskeys).set(counted).where(newer).run().changes === 0) return undefined
      return session === null ? startDeskSession(tx, passkey.personId, visitor.userAgent, now) : null
    })
  })
}

/**
 * Runs a check for a visitor who has points left, and takes one when it fails: `check` throws or returns undefined.
 *
 * @throws AppError NOT_AUTHENTICATED, AUTH_RATE_LIMITED
 */
async function guarded<T>(shop: ShopContext, { addressKey }: Visitor, check: () => Promise<T | undefined>): Promise<T> {
  const counter = { bucket: 'desk_ip', key: addressKey } as const
  assertPointsLeft(shop, 'AUTH_RATE_LIMITED', counter)
  const refused = new AppError('NOT_AUTHENTICATED', 'This passkey was not accepted. Please try again.')
  try {
    const result = await check()
    if (result !== undefined) return result
  } catch (error) {
    await countFailure(shop, counter)
    throw error instanceof AppError && error.code === 'TOKEN_INVALID' ? error : refused
  }
  await countFailure(shop, counter)
  throw refused
}

function ownPlace({ publicUrl }: Pick<ShopContext, 'publicUrl'>) {
  const { origin, hostname } = new URL(publicUrl())
  return { expectedOrigin: origin, expectedRPID: hostname }
}

function findPasskey(db: Db, id: string) {
  return db.orm
    .select({ passkey: deskPasskeys })
    .from(deskPasskeys)
    .innerJoin(deskPeople, eq(deskPeople.id, deskPasskeys.personId))
    .where(and(eq(deskPasskeys.id, id), isNull(deskPeople.removedAt)))
    .get()?.passkey
}

function idsOf(db: Db, personId: number): string[] {
  const rows = db.orm.select({ id: deskPasskeys.id }).from(deskPasskeys).where(eq(deskPasskeys.personId, personId))
  return rows.all().map(({ id }) => id)
}

export type Passkey = { id: string; createdAt: string; lastUsedAt: string | null }

/** The passkeys of a person, the oldest first. */
export function listPasskeys(db: Db, personId: number): Passkey[] {
  return db.orm
    .select()
    .from(deskPasskeys)
    .where(eq(deskPasskeys.personId, personId))
    .orderBy(asc(deskPasskeys.createdAt))
    .all()
    .map(({ id, createdAt, lastUsedAt }) => ({
      id,
      createdAt: toIso(createdAt),
      lastUsedAt: lastUsedAt === null ? null : toIso(lastUsedAt)
    }))
}

/** Removes a passkey of a person. @throws AppError CONFLICT for the last one, NOT_FOUND */
export function removePasskey(db: Db, personId: number, id: string): void {
  write(db, (tx) => {
    const own = eq(deskPasskeys.personId, personId)
    if (idsOf(tx, personId).every((other) => other === id))
      throw new AppError('CONFLICT', 'This is your only passkey. Make another one first.')
    const { changes } = tx.orm
      .delete(deskPasskeys)
      .where(and(own, eq(deskPasskeys.id, id)))
      .run()
    if (changes === 0) throw new AppError('NOT_FOUND', 'You have no such passkey.')
  })
}
