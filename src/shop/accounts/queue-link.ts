import { queueMail } from '../mail/queue-mail.ts'
import type { Tx } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { createEmailToken } from './email-tokens.ts'
import type { EmailTokenKind } from './email-tokens.ts'
import type { EmailTokenRow, UserRow } from './rows.ts'

/** The links that go to an account's own address. */
export type LinkKind = Exclude<EmailTokenKind, 'email'>

const templates: Readonly<Record<LinkKind, 'reset_password' | 'verify_email'>> = {
  reset: 'reset_password',
  verify: 'verify_email'
}

/** Creates the token of a link and queues its email; the user's earlier links of the same kind end. */
export function queueLink(
  tx: Tx,
  shop: Pick<ShopContext, 'keys'>,
  kind: LinkKind,
  user: Pick<UserRow, 'id' | 'email'>,
  now: number
): EmailTokenRow {
  const token = createEmailToken(tx, shop.keys, { kind, userId: user.id }, now)
  queueMail(tx, { template: templates[kind], recipient: user.email, data: { userId: user.id, tokenId: token.id } }, now)
  return token
}
