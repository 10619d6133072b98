import { asc, eq } from 'drizzle-orm'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { toIso } from '../../platform/iso-time.ts'
import { codePoints } from '../../platform/text.ts'
import { notes } from '../orders/schema.ts'

/** What a note of the shop is about: an order, or an account. */
export type NoteSubject = { orderId: number } | { userId: number }

/** A note of the shop, for the people who work in it. */
export type NoteView = { id: number; at: string; by: string; text: string }

/** The text of a note. */
export const noteInput = z.object({
  text: z
    .string()
    .transform((text) => text.replaceAll('\r\n', '\n').trim())
    .refine((text) => text !== '' && codePoints(text) <= 1000, 'A note has 1 to 1000 characters.')
    .refine((text) => !/[^\P{Cc}\n]/u.test(text), 'A note must not contain control characters.')
})

/**
 * Adds a note, which the buyer never sees, except in an export of their data. An erasure of the person deletes it.
 *
 * @throws AppError VALIDATION_FAILED (`text`)
 */
export function addNote(db: Db, about: NoteSubject, typed: string, by: string, now: number): void {
  const { text } = parseWith(noteInput, { text: typed })
  write(db, (tx) =>
    tx.orm
      .insert(notes)
      .values({ ...about, text, by, at: now })
      .run()
  )
}

/** Removes a note by its number. @throws AppError NOT_FOUND if it is not about the order or the account */
export function removeNote(db: Db, about: NoteSubject, id: number): void {
  write(db, (tx) => {
    if (!listNotes(tx, about).some((note) => note.id === id)) throw new AppError('NOT_FOUND', `There is no note ${id}.`)
    tx.orm.delete(notes).where(eq(notes.id, id)).run()
  })
}

/** The notes about an order or an account, the oldest first. */
export function listNotes(db: Db, about: NoteSubject): NoteView[] {
  const rows = db.orm.select().from(notes).where(isAbout(about)).orderBy(asc(notes.id)).all()
  return rows.map(({ id, at, by, text }) => ({ id, at: toIso(at), by, text }))
}

/** Deletes the notes about an account. Those about orders go with the buyer of each order. */
export function deleteNotesOf(tx: Tx, userId: number): void {
  tx.orm.delete(notes).where(isAbout({ userId })).run()
}

function isAbout(about: NoteSubject) {
  return 'orderId' in about ? eq(notes.orderId, about.orderId) : eq(notes.userId, about.userId)
}
