import Database from 'better-sqlite3'

/** A payout that only the replaced database has, or whose failure only the replaced database has. */
export type Lost = { id: number; code: string; amountMinor: number; currency: string; failed: boolean }

/** A row of the table `lost_payouts`; `record` is its JSON. */
type Row = { payoutId: number; createdAt: number; record: string }

/** The first entries of a payout: those of its failure come second. */
const made = `
  SELECT p.id AS payoutId, p.created_at AS createdAt, json_object(
    'affiliateId', p.affiliate_id, 'affiliateCreatedAt', a.created_at, 'affiliateCode', a.code,
    'amountMinor', p.amount_minor, 'currency', p.currency, 'reference', p.reference, 'paidBy', p.paid_by,
    'seller', json(p.seller), 'payee', json(p.payee),
    'lines', json((SELECT json_group_array(json_object('affiliateId', e.affiliate_id, 'affiliateCreatedAt', w.created_at,
        'amountMinor', -e.amount_minor, 'referral', json(iif(r.id IS NULL, NULL,
          json_object('id', r.id, 'orderId', r.order_id, 'createdAt', r.created_at))))
        ORDER BY e.id)
      FROM commission_entries e JOIN affiliates w ON w.id = e.affiliate_id LEFT JOIN referrals r ON r.id = e.referral_id
      WHERE e.id IN (SELECT min(id) FROM commission_entries WHERE payout_id = p.id GROUP BY affiliate_id, referral_id))),
    'failure', json((SELECT json_object('reason', f.reason, 'recordedBy', f.recorded_by, 'createdAt', f.created_at)
      FROM payout_failures f WHERE f.payout_id = p.id))) AS record
  FROM payouts p JOIN affiliates a ON a.id = p.affiliate_id`

/** The payouts of the replaced database, and those that an earlier restore lost and no operator has recorded since. */
const known = `${made} UNION ALL SELECT payout_id, created_at, record FROM lost_payouts`

const isMissing = `
  SELECT NOT EXISTS (
    SELECT 1 FROM payouts p LEFT JOIN payout_failures f ON f.payout_id = p.id
    WHERE (p.id = @payoutId OR p.affiliate_id = @record ->> 'affiliateId') AND p.currency = @record ->> 'currency'
      AND p.amount_minor = @record ->> 'amountMinor' AND p.created_at = @createdAt
      AND (@record ->> 'failure' IS NULL OR f.payout_id IS NOT NULL))`

const insert = `
  INSERT INTO lost_payouts (payout_id, created_at, record) VALUES (@payoutId, @createdAt, @record)
  ON CONFLICT DO UPDATE SET record = excluded.record WHERE excluded.record ->> 'failure' IS NOT NULL`

const waiting = `
  SELECT payout_id AS id, record ->> 'affiliateCode' AS code, record ->> 'amountMinor' AS amountMinor,
    record ->> 'currency' AS currency, record ->> 'failure' IS NOT NULL AS failed
  FROM lost_payouts ORDER BY created_at, payout_id`

/**
 * Stores in the restored database which payouts the replaced one had besides, and which of them had failed: money is with
 * the affiliates, but their commissions look due again, or the other way round. `payouts pay` waits until an operator has
 * taken them over.
 *
 * @param previous the replaced database, if there was one
 * @returns the payouts that an operator must record; null without a replaced database, and for one that cannot be read
 */
export function storeLostPayouts(previous: Database.Database | undefined, restoredFile: string): Lost[] | null {
  const made = previous === undefined ? null : read(previous)
  const restored = new Database(restoredFile)
  try {
    // A shop without affiliates has paid none.
    if (made === null) return restored.prepare('SELECT 1 FROM affiliates').get() === undefined ? [] : null
    const missing = restored.prepare<Row, number>(isMissing).pluck()
    const add = restored.prepare<Row>(insert)
    const lost = made.filter((row) => missing.get(row) === 1)
    restored.transaction(() => lost.forEach((row) => add.run(row)))()
    const rows = restored.prepare<[], Omit<Lost, 'failed'> & { failed: number }>(waiting).all()
    return rows.map((row) => ({ ...row, failed: row.failed === 1 }))
  } finally {
    restored.close()
  }
}

/** A replaced database is often a damaged one. */
function read(previous: Database.Database): Row[] | null {
  try {
    return previous.prepare<[], Row>(known).all()
  } catch (error) {
    if (error instanceof Database.SqliteError) return null
    throw error
  }
}
