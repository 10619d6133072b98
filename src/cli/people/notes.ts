import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { addNote, removeNote } from '../../shop/customers/notes.ts'
import type { NoteSubject, NoteView } from '../../shop/customers/notes.ts'
import { addCommand, runs } from '../run.ts'
import type { ShopCommand, Work } from '../run.ts'
import { parseId } from '../terminal/arguments.ts'
import type { Answer } from '../terminal/output.ts'
import { plain, timeText } from '../terminal/table.ts'

type NoteOptions = { remove?: string }
/** The order or the account that a note is about, and what the command prints when the note is stored. */
type Noted = { about: NoteSubject; answer: (now: number) => Answer }

/** Defines `note`, which adds a note about an order or an account, or removes one. */
export function defineNote(
  group: ShopCommand,
  { usage, about, example }: { usage: string; about: string; example: string },
  find: (app: App, ref: string) => Noted
): void {
  const note = addCommand(group, usage, about, example).option('--remove <note>', 'remove a note by its number')
  runs(note, ({ app, options, now }: Work<NoteOptions>, ref: string, text?: string) => {
    const noted = find(app, ref)
    changeNotes(app, noted.about, { ...options, text }, now)
    return noted.answer(now)
  })
}

/** @throws AppError USAGE, VALIDATION_FAILED, NOT_FOUND */
function changeNotes(
  { db }: App,
  about: NoteSubject,
  { text, remove }: NoteOptions & { text: string | undefined },
  now: number
): void {
  if (text === undefined && remove !== undefined) return removeNote(db, about, parseId(remove))
  if (text === undefined || remove !== undefined)
    throw new AppError('USAGE', 'Give the text of the note, or the number of one with --remove.')
  addNote(db, about, text, 'operator', now)
}

/** A note of the shop, as `orders show` and `users show` print it. */
export function noteLine({ id, at, by, text }: NoteView): string {
  return plain(`  Note ${id}, ${by}, ${timeText(at)}: ${text.replaceAll('\n', ' ')}`)
}
