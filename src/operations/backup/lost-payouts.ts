import Database from 'better-sqlite3'

/** A payout that the replaced database knew and the restored one does not. */
export type Lost = { id: number; code: string; amountMinor: number; currency: string }

/** A row of the table `lost_payouts`; `lines` is its JSON, with the order and the time of each referral. */
type Known = Lost & {
  affiliateId: number
  reference: string | null
  paidBy: string
  createdAt: number
  lines: string
}

const known = `
  SELECT p.id, a.code, p.affiliate_id AS affiliateId, p.amount_minor AS amountMinor, p.currency, p.reference,
    p.paid_by AS paidBy, p.created_at AS createdAt,
    (SELECT json_group_array(json_object('referralId', e.referral_id, 'orderId', r.order_id,
       'createdAt', r.created_at, 'amountMinor', -e.amount_minor))
     FROM commission_entries e LEFT JOIN referrals r ON r.id = e.referral_id WHERE e.payout_id = p.id) AS lines
  FROM payouts p JOIN affiliates a ON a.id = p.affiliate_id
  WHERE NOT EXISTS (SELECT 1 FROM payout_failures f WHERE f.payout_id = p.id)
  ORDER BY p.id`

const isKnown = `
  SELECT 1 FROM payouts
  WHERE id = @id AND affiliate_id = @affiliateId AND amount_minor = @amountMinor AND created_at = @createdAt`

/** A referral is the same one if its order and its time are: ids repeat after a restore. */
const insert = `
  INSERT OR REPLACE INTO lost_payouts
    (id, affiliate_id, affiliate_code, amount_minor, currency, reference, paid_by, created_at, lines)
  VALUES (@id, @affiliateId, @code, @amountMinor, @currency, @reference, @paidBy, @createdAt, (
    SELECT json_group_array(json_object('referralId', r.id, 'amountMinor', line.value ->> 'amountMinor'))
    FROM json_each(@lines) AS line
    LEFT JOIN referrals r ON r.id = line.value ->> 'referralId' AND r.order_id = line.value ->> 'orderId'
      AND r.created_at = line.value ->> 'createdAt'))`

/**
 * Stores in the restored database which payouts the replaced one had besides: their money is with the affiliates, but their
 * commissions look due again. `payouts pay` waits until an operator has taken them over.
 *
 * @returns null when the replaced database cannot be read
 */
export function storeLostPayouts(previous: Database.Database, restoredFile: string): Lost[] | null {
  const made = read(previous)
  if (made === null || made.length === 0) return made
  const restored = new Database(restoredFile)
  try {
    const check = restored.prepare<Known>(isKnown)
    const lost = made.filter((payout) => check.get(payout) === undefined)
    const add = restored.prepare<Known>(insert)
    for (const payout of lost) add.run(payout)
    return lost.map(({ id, code, amountMinor, currency }) => ({ id, code, amountMinor, currency }))
  } finally {
    restored.close()
  }
}

/** A replaced database is often a damaged one. */
function read(previous: Database.Database): Known[] | null {
  try {
    return previous.prepare<[], Known>(known).all()
  } catch (error) {
    if (error instanceof Database.SqliteError) return null
    throw error
  }
}
