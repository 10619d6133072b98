import { mails } from '../mail/schema.ts'
import { and, eq, notExists, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { statement } from '../../platform/db/database.ts'
import { emailKey } from '../../platform/text.ts'
import { users } from './schema.ts'

/** Matches the emails to an address, in any spelling: a guest may enter another case than the account. */
export function sentTo(key: string): SQL {
  return sql`email_key(${mails.recipient}) = ${key}`
}

const recipientsOf = statement((orm) =>
  orm
    .selectDistinct({ recipient: mails.recipient })
    .from(mails)
    .where(
      and(
        eq(mails.template, sql.placeholder('template')),
        eq(sql`json_extract(${mails.data}, '$.userId')`, sql.placeholder('userId')),
        notExists(
          orm
            .select({ id: users.id })
            .from(users)
            .where(eq(users.emailKey, sql`email_key(${mails.recipient})`))
        )
      )
    )
    .prepare()
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
export function emailKeysOf(emails: readonly string[]): string[] {
  return [...new Set(emails.map(emailKey))]
}
