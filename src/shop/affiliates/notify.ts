import type { Tx } from '../../platform/db/database.ts'
import { findUserById } from '../accounts/find.ts'
import { queueMail } from '../mail/queue.ts'
import type { QueuedMail } from '../mail/queue.ts'
import { findAffiliateById } from './find.ts'

type AffiliateTemplate =
  | 'affiliate_decision'
  | 'affiliate_rate'
  | 'affiliate_referrals'
  | 'affiliate_bonus'
  | 'affiliate_payout'

/** Queues an email to an affiliate about a decision. An erased account gets none: its address is a placeholder. */
export function mailAffiliate<T extends AffiliateTemplate>(tx: Tx, mail: QueuedMail<T>, now: number): void {
  const affiliate = findAffiliateById(tx, mail.data.affiliateId)
  const user = affiliate === undefined ? undefined : findUserById(tx, affiliate.userId)
  if (user === undefined || user.status === 'erased') return
  queueMail(tx, { ...mail, recipient: user.email }, now)
}
