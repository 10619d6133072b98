import type Database from 'better-sqlite3'
import { answerJson, meta } from './answer.ts'
import type { Handler } from './answer.ts'
import { meView } from './me-view.ts'
import type { Donation, Membership, Order, AccountRow, Subscription } from './me-view.ts'
import { sessions } from './session.ts'

/** Five statements after the session's: one for all single rows, and one for each list. */
export function answerMe(sqlite: Database.Database): Handler {
  const userOf = sessions(sqlite)
  const account = sqlite.prepare<[number], AccountRow>(
    `SELECT a.id AS affiliateId, a.status AS affiliateStatus, coalesce(p.first_name, u.first_name) AS firstName,
       coalesce(p.last_name, u.last_name) AS lastName, c.terms_accepted_at AS termsAcceptedAt,
       c.privacy_accepted_at AS privacyAcceptedAt, t.total AS totalOrders,
       EXISTS (SELECT 1 FROM orders WHERE user_id = u.id AND status = 'completed') AS hasCompletedOrder,
       EXISTS (SELECT 1 FROM enrolments WHERE user_id = u.id AND revoked_at IS NULL) AS isEnrolled
     FROM users u
     LEFT JOIN affiliates a ON a.user_id = u.id
     LEFT JOIN registration_profiles p ON p.user_id = u.id
     LEFT JOIN registration_consents c ON c.user_id = u.id
     LEFT JOIN customer_order_totals t ON t.user_id = u.id
     WHERE u.id = +?`
  )
  const orders = sqlite.prepare<[number], Order>(
    `SELECT id, status, currency, total_minor AS totalMinor, created_at AS createdAt FROM orders WHERE user_id = +?
     ORDER BY created_at DESC, id DESC LIMIT 20`
  )
  const memberships = sqlite.prepare<[number], Membership>(
    `SELECT m.id, p.module, m.plan_id AS planId, p.slug AS planSlug, p.name AS planName, p.is_pro AS isPro,
       m.started_at AS startedAt, m.expires_at AS expiresAt
     FROM memberships m JOIN plans p ON p.id = m.plan_id WHERE m.user_id = +? ORDER BY m.started_at DESC, m.id DESC`
  )
  const subscriptions = sqlite.prepare<[number], Subscription>(
    `SELECT s.id, s.product_id AS productId, p.name, s.interval, s.current_period_end AS currentPeriodEnd
     FROM subscriptions s JOIN products p ON p.id = s.product_id
     WHERE s.user_id = +? ORDER BY s.started_at DESC, s.id DESC`
  )
  const donations = sqlite.prepare<[number], Donation>(
    `SELECT d.id, d.order_id AS orderId, d.amount_minor AS amountMinor, d.currency, c.slug AS campaign,
       d.created_at AS createdAt
     FROM donations d LEFT JOIN campaigns c ON c.id = d.campaign_id WHERE d.user_id = +? AND d.revoked_at IS NULL
     ORDER BY d.created_at DESC, d.id DESC LIMIT 100`
  )
  return (request, response) => {
    const user = userOf(request)
    const row = account.get(user.id)
    if (row === undefined) throw new Error('The user does not exist in the reference database.')
    const records = {
      orders: orders.all(user.id),
      memberships: memberships.all(user.id),
      subscriptions: subscriptions.all(user.id),
      donations: donations.all(user.id)
    }
    answerJson(response, JSON.stringify({ data: meView(user, row, records), meta: meta() }))
  }
}
