import type { AffiliateRecord, PayoutRecord, ReferralRecord } from '../affiliates.ts'
import { emailKey } from '../../../platform/text.ts'
import { affiliateStatuses } from '../../../shop/affiliates/find.ts'
import type { Cells } from './cells.ts'
import type { Fields } from './csv-file.ts'

/** The columns of affiliates. `owed` and `paid` are sums. */
export const affiliateFields: Fields = {
  email: ['E-mail', 'Email address'],
  code: ['Affiliate code', 'Referral code'],
  number: ['id', 'affiliate_id'],
  rate: ['Commission', 'Commission rate'],
  status: [],
  owed: ['unpaid', 'balance'],
  paid: ['paid out'],
  clicks: ['visits'],
  registeredAt: ['registered_at']
}

/** An affiliate of a table with what the other shop owes and has paid; each sum becomes one commission. */
export function toAffiliate(
  cells: Cells,
  { currency, now, accountOf }: { currency: string; now: number; accountOf: (email: string) => number | null }
): { affiliate: AffiliateRecord; referrals: ReferralRecord[]; payouts: PayoutRecord[] } {
  const email = cells.required('email')
  const id = emailKey(email)
  const createdAt = cells.time('registeredAt')
  const clicks = cells.count('clicks') ?? 0
  const [owed, paid] = [cells.money('owed', currency) ?? 0, cells.money('paid', currency) ?? 0]
  const referral = (status: 'unpaid' | 'paid', amountMinor: number): ReferralRecord => ({
    id: `${id} ${status}`,
    affiliateId: id,
    status,
    amountMinor,
    currency,
    createdAt: createdAt ?? now,
    orderId: undefined,
    campaign: '',
    description: status === 'paid' ? 'Commissions that the old shop has paid' : 'Commissions that the old shop owed'
  })
  return {
    affiliate: {
      id,
      userId: accountOf(email) ?? undefined,
      status: cells.word('status', affiliateStatuses) ?? 'active',
      rateBps: cells.percentBps('rate'),
      code: cells.text('code') || undefined,
      wantedId: cells.count('number') ?? 0,
      createdAt,
      clicks: clicks > 0 ? [{ at: createdAt ?? now, count: clicks }] : [],
      remarks: []
    },
    referrals: [...(owed > 0 ? [referral('unpaid', owed)] : []), ...(paid > 0 ? [referral('paid', paid)] : [])],
    payouts:
      paid > 0
        ? [
            {
              id: `${id} paid`,
              affiliateId: id,
              status: 'paid',
              amountMinor: paid,
              referrals: [`${id} paid`],
              method: '',
              createdAt: createdAt ?? now
            }
          ]
        : []
  }
}
