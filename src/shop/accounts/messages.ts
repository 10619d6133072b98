import type { Db } from '../../platform/db/database.ts'
import { compareKey } from '../../platform/text.ts'
import { mails } from '../events/schema.ts'

/** How an email was spelt in the messages that went to it: a guest types it in another case than the account has. */
export function spellingsOf(db: Db, emailKey: string): string[] {
  const recipients = db.orm.selectDistinct({ recipient: mails.recipient }).from(mails).all()
  return recipients.map(({ recipient }) => recipient).filter((recipient) => compareKey(recipient) === emailKey)
}
