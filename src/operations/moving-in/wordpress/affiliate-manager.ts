import type { Tx } from '../../../platform/db/database.ts'
import { findAffiliateOfUser } from '../../../shop/affiliates/find.ts'
import { setting } from '../../../shop/settings/settings.ts'
import { writeAdjustment, writeAffiliate, writePayout, writeReferral } from '../affiliates.ts'
import type { AffiliateRecord } from '../affiliates.ts'
import { writeInBatches } from '../move.ts'
import type { Move } from '../move.ts'
import type { SubjectTally } from '../report.ts'
import { flatRate, rateBpsOf, toClicks } from './affiliate-wp.ts'
import type { Row, WordPress } from './database.ts'
import { idsOf, minorOf, text, utc } from './values.ts'

/** Whether WP Affiliate Manager is, or was, in the WordPress. */
export function hasAffiliateManager(source: WordPress): boolean {
  return source.has('wpam_affiliates') && source.has('wpam_transactions')
}

/** The ids of this plugin beside those of AffiliateWP in the same WordPress. */
const idOf = (id: string): string => `wpam ${id}`

/**
 * Moves the affiliates of WP Affiliate Manager in. It lets one customer have several; the active one is kept here and gets the
 * commissions of the others.
 */
export async function* moveManagedAffiliates(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  const rows = await source.rows(
    "SELECT a.*, a.affiliateId AS id FROM {wpam_affiliates} a ORDER BY a.status IN ('active', 'confirmed', 'approved') DESC, a.affiliateId"
  )
  const clicks = source.has('wpam_tracking_tokens') ? await readClicks(source, idsOf(rows)) : []
  const byAffiliate = Map.groupBy(clicks, (row) => text(row, 'id'))
  await writeInBatches(move, rows, (tx, row) => {
    const record = toAffiliate(tx, row, byAffiliate.get(text(row, 'id')) ?? [], move)
    if (!isSecond(tx, record, move)) return writeAffiliate(tx, record, move, tally)
    tally.know()
    tally.change('Several affiliates of one customer become one', text(row, 'id'))
  })
  yield
}

async function readClicks(source: WordPress, ids: readonly string[]): Promise<Row[]> {
  if (ids.length === 0) return []
  return await source.rows(
    `SELECT sourceAffiliateId AS id, DATE(dateCreated) AS day, count(*) AS clicks FROM {wpam_tracking_tokens}
     WHERE sourceAffiliateId IN (?) GROUP BY sourceAffiliateId, DATE(dateCreated)`,
    [ids]
  )
}

/** Remembers a further affiliate of a customer as the one that moved in before. @returns whether it is one */
function isSecond(tx: Tx, { id, userId }: AffiliateRecord, { moved, now }: Move): boolean {
  const known = userId === undefined ? undefined : findAffiliateOfUser(tx, userId)
  if (known === undefined || moved.find(tx, 'affiliate', id) !== undefined) return false
  if (moved.find(tx, 'affiliate', ownerOf(known.userId)) !== known.id) return false
  moved.remember(tx, 'affiliate', id, known.id, now)
  return true
}

/** The name under which the shop remembers the affiliate that this plugin brought for an account. */
const ownerOf = (userId: number | null): string => idOf(`of account ${userId}`)

const statuses: Readonly<Record<string, string>> = {
  applied: 'pending',
  approved: 'active',
  confirmed: 'active',
  active: 'active',
  inactive: 'inactive',
  blocked: 'inactive',
  declined: 'rejected'
}

function toAffiliate(tx: Tx, row: Row, clicks: readonly Row[], move: Move): AffiliateRecord {
  const isFlat = text(row, 'bountyType') === 'fixed'
  const rate = text(row, 'bountyAmount')
  const userId = move.moved.find(tx, 'customer', text(row, 'userId'))
  return {
    id: idOf(text(row, 'id')),
    userId,
    status: statuses[text(row, 'status')] ?? text(row, 'status'),
    rateBps: isFlat || rate === '' ? null : rateBpsOf(rate),
    wantedId: Number(text(row, 'id')),
    createdAt: utc(text(row, 'dateCreated')),
    clicks: toClicks(clicks),
    remarks: isFlat ? [flatRate] : [],
    ...(userId === undefined ? {} : { alias: ownerOf(userId) })
  }
}

/**
 * Moves the commissions in: each sale with what its refund took back. A sale that was refunded as a whole is a rejected
 * commission.
 */
export async function* moveManagedCommissions(
  source: WordPress,
  move: Move,
  tally: SubjectTally
): AsyncGenerator<void> {
  const currency = setting(move.shop.db, 'shop.currency')
  const sql = `SELECT min(transactionId) AS id, affiliateId, referenceId, status, sum(amount) AS amount,
      sum(IF(type = 'credit', amount, 0)) AS credited, min(dateCreated) AS createdAt, min(description) AS description
    FROM {wpam_transactions} WHERE type IN ('credit', 'refund')
    GROUP BY affiliateId, referenceId, status, IF(referenceId IS NULL OR referenceId = '', transactionId, 0) HAVING id > ?`
  for await (const rows of source.parts(sql)) {
    await writeInBatches(move, rows, (tx, row) => {
      const amountMinor = minorOf(text(row, 'amount'), currency)
      const status = text(row, 'status') === 'confirmed' ? 'unpaid' : text(row, 'status')
      const isReturned = amountMinor <= 0
      const record = {
        id: idOf(text(row, 'id')),
        affiliateId: idOf(text(row, 'affiliateId')),
        status: isReturned && status === 'unpaid' ? 'rejected' : status,
        amountMinor: isReturned ? minorOf(text(row, 'credited'), currency) : amountMinor,
        currency,
        createdAt: utc(text(row, 'createdAt')) ?? move.now,
        orderId: move.moved.find(tx, 'order', text(row, 'referenceId')),
        campaign: '',
        description: text(row, 'description')
      }
      writeReferral(tx, record, move, tally)
    })
    yield
  }
}

/** Moves the payouts in, and the corrections that the owner made. A payout there names no commissions. */
export async function* moveManagedPayouts(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  const currency = setting(move.shop.db, 'shop.currency')
  const sql =
    "SELECT t.*, t.transactionId AS id FROM {wpam_transactions} t WHERE t.type IN ('payout', 'adjustment') AND t.transactionId > ?"
  for await (const rows of source.parts(sql)) {
    await writeInBatches(move, rows, (tx, row) => {
      const amountMinor = minorOf(text(row, 'amount'), currency)
      const record = {
        id: idOf(text(row, 'id')),
        affiliateId: idOf(text(row, 'affiliateId')),
        status: text(row, 'status') === 'confirmed' ? 'paid' : text(row, 'status'),
        createdAt: utc(text(row, 'dateCreated'))
      }
      // A payout lowers the balance there. One that raises it corrects an earlier one.
      if (text(row, 'type') === 'payout' && amountMinor < 0) {
        const onAccount = { currency, amountMinor: -amountMinor, referrals: [], method: text(row, 'description') }
        writePayout(tx, { ...record, ...onAccount }, move, tally)
      } else writeAdjustment(tx, { ...record, amountMinor, currency, reason: text(row, 'description') }, move, tally)
    })
    yield
  }
}
