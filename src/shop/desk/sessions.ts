import { and, desc, eq, isNull, lte } from 'drizzle-orm'
import { isFromFuture } from '../../platform/clock.ts'
import { randomToken, tokenHash } from '../../platform/crypto/secrets.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { write } from '../../platform/db/database.ts'
import { toIso } from '../../platform/iso-time.ts'
import type { PersonRow } from './people.ts'
import { deskPeople, deskSessions } from './schema.ts'

export type DeskSessionRow = typeof deskSessions.$inferSelect

const hourMs = 3_600_000
/** A phone in a pocket stays logged in for a working day, and nobody for longer than that (ASVS 7.3). */
const idleMs = 4 * hourMs
const absoluteMs = 16 * hourMs
const touchEveryMs = 60_000
const tokenShape = /^[A-Za-z0-9_-]{43}$/

/** Starts a session with a new random token, after a passkey was used. Returns the token, which is not stored. */
export function startDeskSession(tx: Tx, personId: number, userAgent: string, now: number): string {
  tx.orm
    .delete(deskSessions)
    .where(lte(deskSessions.createdAt, now - absoluteMs))
    .run()
  const token = randomToken()
  const row = { tokenHash: tokenHash(token), personId, device: deviceOf(userAgent) }
  tx.orm
    .insert(deskSessions)
    .values({ ...row, createdAt: now, lastSeenAt: now })
    .run()
  return token
}

/** The valid session of a cookie's token, and its person. Records the visit at most once a minute. */
export function findDeskSession(
  db: Db,
  token: string,
  now: number
): { session: DeskSessionRow; person: PersonRow } | undefined {
  if (!tokenShape.test(token)) return undefined
  const found = db.orm
    .select({ session: deskSessions, person: deskPeople })
    .from(deskSessions)
    .innerJoin(deskPeople, eq(deskPeople.id, deskSessions.personId))
    .where(and(eq(deskSessions.tokenHash, tokenHash(token)), isNull(deskPeople.removedAt)))
    .get()
  if (found === undefined || isFromFuture(found.session.createdAt, now)) return undefined
  const { id, createdAt, lastSeenAt } = found.session
  if (now - createdAt >= absoluteMs || now - lastSeenAt >= idleMs) {
    // Delete it, so that it stays ended if the clock is set back.
    endSession(db, found.session)
    return undefined
  }
  if (now - lastSeenAt >= touchEveryMs || isFromFuture(lastSeenAt, now))
    write(db, (tx) => tx.orm.update(deskSessions).set({ lastSeenAt: now }).where(eq(deskSessions.id, id)).run())
  return found
}

/** Ends a session of a person. An unknown id changes nothing. */
export function endSession(db: Db, { id, personId }: Pick<DeskSessionRow, 'id' | 'personId'>): void {
  const own = and(eq(deskSessions.id, id), eq(deskSessions.personId, personId))
  write(db, (tx) => tx.orm.delete(deskSessions).where(own).run())
}

export type DeskSession = { id: number; device: string; createdAt: string; lastSeenAt: string }

/** The sessions of a person, the newest first. */
export function listDeskSessions(db: Db, personId: number, now: number): DeskSession[] {
  return db.orm
    .select()
    .from(deskSessions)
    .where(eq(deskSessions.personId, personId))
    .orderBy(desc(deskSessions.lastSeenAt))
    .limit(100)
    .all()
    .filter(({ createdAt, lastSeenAt }) => now - createdAt < absoluteMs && now - lastSeenAt < idleMs)
    .map(({ id, device, createdAt, lastSeenAt }) => ({
      id,
      device,
      createdAt: toIso(createdAt),
      lastSeenAt: toIso(lastSeenAt)
    }))
}

/** What a person recognises a browser by. The rest of the header is not stored. */
function deviceOf(userAgent: string): string {
  const browser = /Edg|OPR|Firefox|Chrome|Safari/.exec(userAgent)?.[0] ?? 'Browser'
  const system = /iPhone|iPad|Android|Windows|Mac OS|Linux/.exec(userAgent)?.[0]
  return system === undefined ? browser : `${browser}, ${system}`
}
