import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type Database from 'better-sqlite3'

export type User = { id: number; email: string; displayName: string; createdAt: number; billingEmail: string | null }

/** A function that finds the user of a session cookie with one statement. */
export function sessions(sqlite: Database.Database): (request: IncomingMessage) => User {
  const user = sqlite.prepare<[string], User>(
    `SELECT u.id, u.email, u.display_name AS displayName, u.created_at AS createdAt, u.billing_email AS billingEmail
     FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.token_hash = +?`
  )
  return (request) => {
    const { cookie = '' } = request.headers
    const found = user.get(hash('sha256', cookie.slice(cookie.indexOf('=') + 1), 'hex'))
    if (found === undefined) throw new Error('The request has no session.')
    return found
  }
}
