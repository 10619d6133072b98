/**
 * Statements of the product that may change rows of everybody, each with the reason. The text is exact, so that the same
 * statement without its condition, or without a part of it, is not on the list.
 */
export const forEveryRow: readonly { statement: string; reason: string }[] = [
  {
    statement: 'delete from "mails" where "mails"."id" > +?',
    reason: 'A seed deletes the emails that its own orders queued: all after the last one from before.'
  },
  {
    statement: 'DELETE FROM rate_limits WHERE rowid IN (SELECT rowid FROM rate_limits ORDER BY points, expire LIMIT ?)',
    reason: 'A rate limiter with too many counters deletes those with the fewest points, of any client.'
  },
  { statement: 'delete from "desk_sessions"', reason: 'Switching the desk off ends every session of it.' },
  { statement: 'DELETE FROM faults', reason: "The sandbox's faults are set and cleared together." }
]
