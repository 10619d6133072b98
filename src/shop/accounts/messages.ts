import { mails } from '../mail/schema.ts'
import { sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'

/** The messages that went to an email, however it was spelt: a guest types it in another case than the account has. */
export function sentTo(emailKey: string): SQL {
  return sql`compare_key(${mails.recipient}) = ${emailKey}`
}
