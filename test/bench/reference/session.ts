import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type Database from 'better-sqlite3'

export type User = { id: number; email: string; displayName: string; createdAt: number; billingEmail: string | null }

/** Who is behind a session's cookie; two reads by primary key beat a join. */
export function sessions(sqlite: Database.Database): (request: IncomingMessage) => User {
  const session = sqlite.prepare<[string], { userId: number }>(
    'SELECT user_id AS userId FROM sessions WHERE token_hash = ?'
  )
  const user = sqlite.prepare<[number], User>(
    `SELECT id, email, display_name AS displayName, created_at AS createdAt, billing_email AS billingEmail
     FROM users WHERE id = ?`
  )
  return (request) => {
    const { cookie = '' } = request.headers
    const token = cookie.slice(cookie.indexOf('=') + 1)
    const row = session.get(hash('sha256', token, 'hex'))
    const found = row && user.get(row.userId)
    if (found === undefined) throw new Error('The reference was asked without a session.')
    return found
  }
}
