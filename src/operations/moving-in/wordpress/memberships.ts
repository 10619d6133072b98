import { firstInstant } from '../../../platform/days.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { insertImportedMembership } from '../../../shop/benefits/imported-benefits.ts'
import { htmlToLine } from '../../../shop/catalog/import/html-text.ts'
import { slugFor } from '../../../shop/catalog/import/slug.ts'
import { writeInBatches } from '../move.ts'
import type { Move } from '../move.ts'
import type { SubjectTally } from '../report.ts'
import type { Row, WordPress } from './database.ts'
import { decoded } from './terms.ts'
import { idsOf, readMeta, text, utc } from './values.ts'
import type { Meta } from './values.ts'

/** Moves the memberships of WooCommerce Memberships in, with their plans and end dates. */
export async function* moveMemberships(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  const sql = `SELECT m.ID AS id, m.post_author, m.post_status, m.post_date_gmt, p.post_name, p.post_title
    FROM {posts} m JOIN {posts} p ON p.ID = m.post_parent AND p.post_type = 'wc_membership_plan'
    WHERE m.post_type = 'wc_user_membership' AND m.post_status LIKE 'wcm-%' AND m.ID > ?`
  for await (const rows of source.parts(sql)) {
    const ids = idsOf(rows)
    const keys = ['_start_date', '_end_date', '_cancelled_date', '_paused_date', '_order_id']
    const metaOf = await readMeta(source, { table: 'postmeta', owner: 'post_id' }, ids, keys)
    await writeInBatches(move, rows, (tx, row) => moveMembership(tx, row, metaOf(text(row, 'id')), move, tally))
    yield
  }
}

function moveMembership(tx: Tx, row: Row, meta: Meta, move: Move, tally: SubjectTally): void {
  const id = text(row, 'id')
  if (move.moved.find(tx, 'membership', id) !== undefined) return tally.know()
  const userId = move.moved.find(tx, 'customer', text(row, 'post_author'))
  if (userId === undefined) return tally.leave('The account of the member did not arrive', id)
  const status = text(row, 'post_status').replace(/^wcm-/, '')
  const expiresAt = utc(meta.get('_end_date') ?? '')
  if (status === 'paused') tally.change('A paused membership arrives as cancelled', id)
  const isOver = status === 'cancelled' || status === 'paused' || (status === 'expired' && expiresAt === null)
  const endedAt = utc(meta.get(status === 'paused' ? '_paused_date' : '_cancelled_date') ?? '') ?? expiresAt ?? move.now
  const membershipId = insertImportedMembership(tx, {
    userId,
    plan: { slug: slugFor(decoded(text(row, 'post_name'))), name: htmlToLine(text(row, 'post_title')) },
    startedAt: utc(meta.get('_start_date') ?? '') ?? utc(text(row, 'post_date_gmt')) ?? move.now,
    expiresAt,
    cancelledAt: isOver ? endedAt : null,
    orderId: move.moved.find(tx, 'order', meta.get('_order_id') ?? '') ?? null
  })
  move.moved.remember(tx, 'membership', id, membershipId, move.now)
  tally.arrive()
}

/** Moves the memberships of Restrict Content in. It stores times in the time zone of the WordPress. */
export async function* moveRestrictContent(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  if (!source.has('rcp_memberships') || !source.has('restrict_content_pro')) return
  const zone = (await source.option('timezone_string')) || 'UTC'
  const at = (stored: string): number | null => (utc(stored) === null ? null : firstInstant(zone, stored.slice(0, 19)))
  const sql = `SELECT m.*, (SELECT l.name FROM {restrict_content_pro} l WHERE l.id = m.object_id) AS name
    FROM {rcp_memberships} m WHERE m.id > ?`
  for await (const rows of source.parts(sql)) {
    await writeInBatches(move, rows, (tx, row) => {
      const status = text(row, 'status')
      const name = htmlToLine(text(row, 'name'))
      if (status === 'pending') return tally.leave('The membership was never paid', text(row, 'id'))
      if (text(row, 'disabled') === '1') return tally.leave('The membership is disabled', text(row, 'id'))
      if (name === '') return tally.leave('The level of the membership no longer exists', text(row, 'id'))
      moveTerm(tx, 'rcp_membership', row, move, tally, {
        plan: { slug: slugFor(name), name },
        startedAt: at(text(row, 'created_date')),
        expiresAt: at(text(row, 'expiration_date')),
        // A cancelled one runs until its end.
        endsNow: status === 'cancelled' && at(text(row, 'expiration_date')) === null,
        endedAt: at(text(row, 'cancellation_date'))
      })
    })
    yield
  }
}

/** Moves the paid times of MemberPress in: each transaction is one. Those of one membership are shown as one. */
export async function* moveMemberPress(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  if (!source.has('mepr_transactions')) return
  const sql = `SELECT t.id, t.user_id, t.status, t.created_at, t.expires_at, p.post_name, p.post_title
    FROM {mepr_transactions} t JOIN {posts} p ON p.ID = t.product_id WHERE t.id > ?`
  for await (const rows of source.parts(sql)) {
    await writeInBatches(move, rows, (tx, row) => {
      const status = text(row, 'status')
      if (status !== 'complete' && status !== 'confirmed')
        return tally.leave(`Transactions with the status ${status} give no membership`, text(row, 'id'))
      moveTerm(tx, 'memberpress_transaction', row, move, tally, {
        plan: { slug: slugFor(decoded(text(row, 'post_name'))), name: htmlToLine(text(row, 'post_title')) },
        startedAt: utc(text(row, 'created_at')),
        expiresAt: utc(text(row, 'expires_at')),
        endsNow: false,
        endedAt: null
      })
    })
    yield
  }
}

type Term = {
  plan: { slug: string; name: string }
  startedAt: number | null
  /** Null for life. */
  expiresAt: number | null
  endsNow: boolean
  endedAt: number | null
}

function moveTerm(
  tx: Tx,
  kind: 'rcp_membership' | 'memberpress_transaction',
  row: Row,
  move: Move,
  tally: SubjectTally,
  { plan, startedAt, expiresAt, endsNow, endedAt }: Term
): void {
  const id = text(row, 'id')
  if (move.moved.find(tx, kind, id) !== undefined) return tally.know()
  const userId = move.moved.find(tx, 'customer', text(row, 'user_id'))
  if (userId === undefined) return tally.leave('The account of the member did not arrive', id)
  const membershipId = insertImportedMembership(tx, {
    userId,
    plan,
    startedAt: startedAt ?? move.now,
    expiresAt,
    cancelledAt: endsNow ? (endedAt ?? move.now) : null,
    orderId: null
  })
  move.moved.remember(tx, kind, id, membershipId, move.now)
  tally.arrive()
}
