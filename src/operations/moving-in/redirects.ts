import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import { storeRedirect } from '../../shop/redirects/redirects.ts'
import type { RedirectTarget } from '../../shop/redirects/redirects.ts'
import type { Move } from './move.ts'
import type { SubjectTally } from './report.ts'

/** An old address and where it leads here. `label` names it in the report. */
export type RedirectRecord = { id: string; from: string; leads: RedirectTarget; label: string }

/** Stores a redirect, and reports what became of it. */
export function writeRedirect(
  tx: Tx,
  { id, from, leads, label }: RedirectRecord,
  move: Move,
  tally: SubjectTally
): void {
  if (move.moved.find(tx, 'redirect', id) !== undefined) return tally.know()
  try {
    // A redirect that would lead to itself is found when it is stored, so it is undone alone.
    const redirect = write(tx, (inner) => storeRedirect(inner, move.shop, from, leads, move.now))
    move.moved.remember(tx, 'redirect', id, redirect.id, move.now)
    tally.arrive()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    tally.leave('The address or its target is not valid, or it would lead back to itself', label)
  }
}
