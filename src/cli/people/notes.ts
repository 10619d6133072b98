import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { addNote, noteInput, removeNote } from '../../shop/customers/notes.ts'
import type { NoteSubject, NoteView } from '../../shop/customers/notes.ts'
import { parseId } from '../terminal/arguments.ts'
import { plain, timeText } from '../terminal/table.ts'

/** Adds a note or removes one. @throws AppError USAGE, VALIDATION_FAILED, NOT_FOUND */
export function changeNotes(
  db: Db,
  about: NoteSubject,
  { text, remove }: { text: string | undefined; remove?: string },
  now: number
): void {
  if ((text === undefined) === (remove === undefined))
    throw new AppError('USAGE', 'Give the text of the note, or the number of one with --remove.')
  if (remove !== undefined) return removeNote(db, about, parseId(remove))
  addNote(db, about, parseWith(noteInput, { text }).text, 'operator', now)
}

/** A note of the shop, as `orders show` and `users show` print it. */
export function noteLine({ id, at, by, text }: NoteView): string {
  return plain(`  Note ${id}, ${by}, ${timeText(at)}: ${text.replaceAll('\n', ' ')}`)
}
