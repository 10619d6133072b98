import { mails } from '../mail/schema.ts'
import { sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { emailKey } from '../../platform/email-key.ts'

/** Matches the emails to an address, in any spelling: a guest may enter another case than the account. */
export function sentTo(key: string): SQL {
  return sql`email_key(${mails.recipient}) = ${key}`
}

const recipientsOf = rawStatement<{ userId: number; template: string }, { recipient: string }>(
  `SELECT DISTINCT recipient FROM mails
    WHERE template = @template AND json_extract(data, '$.userId') = @userId
      AND NOT EXISTS (SELECT 1 FROM users u WHERE u.email_key = email_key(recipient))`
)

/**
 * The emails that an account had before, and those that it asked for, from the messages about each change; in their own
 * spelling. An address that an account has now is left out, because it may belong to another person.
 */
export function otherEmailsOf(db: Db, userId: number): { earlier: string[]; requested: string[] } {
  const sentAs = (template: 'email_changed' | 'confirm_email'): string[] =>
    recipientsOf(db)
      .all({ userId, template })
      .map(({ recipient }) => recipient)
  return { earlier: sentAs('email_changed'), requested: sentAs('confirm_email') }
}

/** The distinct keys of emails. */
export function keysOf(emails: readonly string[]): string[] {
  return [...new Set(emails.map(emailKey))]
}
