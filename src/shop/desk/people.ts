import { and, asc, eq, gt, isNull } from 'drizzle-orm'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { hmac, randomToken, tokenHash } from '../../platform/crypto/secrets.ts'
import type { Keys } from '../../platform/crypto/secrets.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { write } from '../../platform/db/database.ts'
import { isLoopback } from '../../platform/http/cross-site.ts'
import { emailKey } from '../../platform/text.ts'
import { emailInput } from '../accounts/input.ts'
import type { ShopContext } from '../context.ts'
import { queueMail } from '../mail/queue.ts'
import { setting } from '../settings/settings.ts'
import { roles } from './roles.ts'
import type { Role } from './roles.ts'
import { deskInvitations, deskPasskeys, deskPeople, deskSessions } from './schema.ts'

export type PersonRow = typeof deskPeople.$inferSelect
type InvitationRow = typeof deskInvitations.$inferSelect

/** Anyone who has the link can register a passkey with it, so it works for a short time. */
const invitationMs = 15 * 60_000

/** Whether this shop has a desk: it is switched on, and browsers reach it in a way that passkeys accept (WebAuthn 5). */
export function isDeskOn(shop: Pick<ShopContext, 'db' | 'publicUrl'>): boolean {
  return setting(shop.db, 'desk.enabled') && isDeskPossible(shop)
}

/** Whether browsers make passkeys for the shop's address: https with a host name, or this machine. */
export function isDeskPossible({ publicUrl }: Pick<ShopContext, 'publicUrl'>): boolean {
  const url = new URL(publicUrl())
  if (isLoopback(url)) return url.hostname === 'localhost' || url.hostname.endsWith('.localhost')
  return url.protocol === 'https:' && /[a-z]/i.test(url.hostname) && !url.hostname.startsWith('[')
}

export const personInput = z.object({
  email: emailInput.shape.email,
  role: z.enum(roles)
})

/**
 * Gives a person access, or changes their role, and returns the link by which they make a passkey. The link also goes to
 * them by email. Earlier links of the person end; so do their sessions when the role changes.
 */
export function invite(
  shop: ShopContext,
  { email, role }: z.output<typeof personInput>,
  now: number
): { id: number; person: PersonRow; url: string; expiresAt: number } {
  const key = emailKey(email)
  return write(shop.db, (tx) => {
    const known = tx.orm.select().from(deskPeople).where(eq(deskPeople.emailKey, key)).get()
    if (known !== undefined && (known.role !== role || known.removedAt !== null)) endSessionsOf(tx, known.id)
    const person = tx.orm
      .insert(deskPeople)
      .values({ email, emailKey: key, role, createdAt: now })
      .onConflictDoUpdate({ target: deskPeople.emailKey, set: { email, role, removedAt: null } })
      .returning()
      .get()
    tx.orm.delete(deskInvitations).where(eq(deskInvitations.personId, person.id)).run()
    const salt = randomToken(16)
    const expiresAt = now + invitationMs
    const row = { personId: person.id, salt, tokenHash: '', expiresAt }
    const token = deriveToken(shop.keys, row)
    const { id } = tx.orm
      .insert(deskInvitations)
      .values({ ...row, tokenHash: tokenHash(token) })
      .returning({ id: deskInvitations.id })
      .get()
    queueMail(tx, { template: 'desk_invitation', data: { invitationId: id }, recipient: email }, now)
    return { id, person, url: invitationUrl(shop, token), expiresAt }
  })
}

function deriveToken(keys: Pick<Keys, 'desk'>, { personId, salt }: Pick<InvitationRow, 'personId' | 'salt'>): string {
  return hmac(keys.desk, `invitation.${personId}.${salt}`).toString('base64url')
}

/** The page on which an invited person makes a passkey. */
export function invitationUrl({ publicUrl }: Pick<ShopContext, 'publicUrl'>, token: string): string {
  return `${publicUrl()}/desk/invitation?token=${token}`
}

/** The link of an invitation for its email; undefined when it is used or expired. */
export function findInvitationLink(
  shop: Pick<ShopContext, 'db' | 'keys' | 'publicUrl'>,
  id: number,
  now: number
): { url: string; expiresAt: number } | undefined {
  const row = shop.db.orm
    .select()
    .from(deskInvitations)
    .where(and(eq(deskInvitations.id, id), isOpen(now)))
    .get()
  return row && { url: invitationUrl(shop, deriveToken(shop.keys, row)), expiresAt: row.expiresAt }
}

/** The person whom a link invites; undefined for one that is used, expired or unknown. */
export function findInvited(db: Db, token: string, now: number): PersonRow | undefined {
  return db.orm
    .select({ person: deskPeople })
    .from(deskInvitations)
    .innerJoin(deskPeople, eq(deskPeople.id, deskInvitations.personId))
    .where(and(eq(deskInvitations.tokenHash, tokenHash(token)), isOpen(now), isNull(deskPeople.removedAt)))
    .get()?.person
}

/** Uses a link up. @throws AppError TOKEN_INVALID when it has been used or has expired */
export function useInvitation(tx: Tx, token: string, now: number): void {
  const used = tx.orm
    .update(deskInvitations)
    .set({ usedAt: now })
    .where(and(eq(deskInvitations.tokenHash, tokenHash(token)), isOpen(now)))
    .run()
  if (used.changes === 0) throw new AppError('TOKEN_INVALID', 'This link has been used or has expired.')
}

const isOpen = (now: number) => and(isNull(deskInvitations.usedAt), gt(deskInvitations.expiresAt, now))

export type DeskPerson = { id: number; email: string; role: Role; passkeys: number }

/** The people with access, with how many passkeys they have. */
export function listPeople(db: Db): DeskPerson[] {
  const people = db.orm
    .select()
    .from(deskPeople)
    .where(isNull(deskPeople.removedAt))
    .orderBy(asc(deskPeople.id))
    .limit(1000)
    .all()
  return people.map(({ id, email, role }) => ({
    id,
    email,
    role,
    passkeys: db.orm.select({ id: deskPasskeys.id }).from(deskPasskeys).where(eq(deskPasskeys.personId, id)).all()
      .length
  }))
}

/** @throws AppError NOT_FOUND for an email without access */
export function getPersonByEmail(db: Db, email: string): PersonRow {
  const found = db.orm
    .select()
    .from(deskPeople)
    .where(and(eq(deskPeople.emailKey, emailKey(email)), isNull(deskPeople.removedAt)))
    .get()
  if (found === undefined) throw new AppError('NOT_FOUND', 'Nobody with this email has access to the desk.')
  return found
}

/** @throws AppError NOT_FOUND for a person without access */
export function getPerson(db: Db, id: number): PersonRow {
  const found = db.orm
    .select()
    .from(deskPeople)
    .where(and(eq(deskPeople.id, id), isNull(deskPeople.removedAt)))
    .get()
  if (found === undefined) throw new AppError('NOT_FOUND', 'This person has no access to the desk.')
  return found
}

/** Ends the access of a person: passkeys, links and sessions. Their name stays in the log. @throws AppError NOT_FOUND */
export function removePerson(db: Db, id: number, now: number): PersonRow {
  return write(db, (tx) => {
    const person = getPerson(tx, id)
    endSessionsOf(tx, id)
    tx.orm.delete(deskPasskeys).where(eq(deskPasskeys.personId, id)).run()
    tx.orm.delete(deskInvitations).where(eq(deskInvitations.personId, id)).run()
    tx.orm.update(deskPeople).set({ removedAt: now }).where(eq(deskPeople.id, id)).run()
    return person
  })
}

/** Ends every session of the desk, for when it is switched off. */
export function endEverySession(db: Db): void {
  write(db, (tx) => tx.orm.delete(deskSessions).run())
}

function endSessionsOf(tx: Tx, personId: number): void {
  tx.orm.delete(deskSessions).where(eq(deskSessions.personId, personId)).run()
}
