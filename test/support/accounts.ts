import { expect } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { findEmailToken } from '../../src/shop/accounts/email-tokens.ts'
import type { SessionRow, UserRow } from '../../src/shop/accounts/rows.ts'
import { findSession, startSession } from '../../src/shop/accounts/sessions.ts'
import type { ShopContext } from '../../src/shop/context.ts'

type SentMail = { id: number; template: string; recipient: string; data: string; state: string }

/** A matcher for an AppError with this code and at least these details. */
export function refusal(code: string, details: object = {}): unknown {
  return expect.objectContaining({ code, details: expect.objectContaining(details) })
}

/** How many attempts had each outcome. */
export function tally(results: readonly PromiseSettledResult<unknown>[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const result of results) counts[outcome(result)] = (counts[outcome(result)] ?? 0) + 1
  return counts
}

/** `in` for a success, or the code of the error. */
export function outcome(result: PromiseSettledResult<unknown> | undefined): string {
  if (result === undefined) return 'missing'
  return result.status === 'fulfilled' ? 'in' : String(result.reason.code)
}

export function atOnce(times: number, work: (index: number) => Promise<unknown>) {
  return Promise.allSettled(Array.from({ length: times }, (_, index) => work(index)))
}

/** The emails that the shop has queued. */
export function mailsOf(shop: ShopContext): SentMail[] {
  return shop.db.sqlite.prepare<[], SentMail>('SELECT * FROM mails ORDER BY id').all()
}

/** The token in the link of the newest email, derived as the mailer does. */
export function newestToken(shop: ShopContext): string {
  const { tokenId } = JSON.parse(mailsOf(shop).at(-1)?.data ?? '{}')
  return findEmailToken(shop.db, shop.keys, Number(tokenId), shop.clock.now())?.token ?? ''
}

/** Logs a user in without a password. */
export function logIn(shop: ShopContext, user: UserRow, rememberMe = false): { session: SessionRow; user: UserRow } {
  const { token } = write(shop.db, (tx) => startSession(tx, { userId: user.id, rememberMe }, shop.clock.now()))
  const found = findSession(shop.db, token, shop.clock.now())
  if (found === undefined) throw new Error('no session was started')
  return found
}

export function countOf(shop: ShopContext, table: string): number {
  return Number(shop.db.sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
}

export function eventsOf(shop: ShopContext): string[] {
  return shop.db.sqlite
    .prepare<[], { type: string }>('SELECT type FROM events ORDER BY id')
    .all()
    .map(({ type }) => type)
}
