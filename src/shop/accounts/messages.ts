import { mails } from '../mail/schema.ts'
import { sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'

/** Matches the emails to an address, in any spelling: a guest may enter another case than the account. */
export function sentTo(emailKey: string): SQL {
  return sql`email_key(${mails.recipient}) = ${emailKey}`
}
