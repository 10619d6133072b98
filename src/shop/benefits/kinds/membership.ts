import { and, eq, gt, isNull, max } from 'drizzle-orm'
import { AppError } from '../../../errors.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { rawStatement } from '../../../platform/db/database.ts'
import { grantSchemas } from '../../catalog/grants.ts'
import type { GrantSpec } from '../../catalog/grants.ts'
import { emit } from '../../webhooks/emit.ts'
import { addPeriod } from '../period.ts'
import { ensurePlan, findPlan } from '../plans.ts'
import { membershipsOf } from '../records.ts'
import { memberships, plans } from '../schema.ts'
import { toMembership } from '../view.ts'
import { givenByHand, remainderOf } from './kind.ts'
import type { BenefitKind, Ended, Recipient, Shift } from './kind.ts'

export const membership: BenefitKind<'membership'> = {
  plural: 'memberships',
  table: memberships,
  since: 'started_at',
  sharesTotal: false,
  guests: 'need an account',
  start,
  end,
  list: (db, userId, now) =>
    membershipsOf(db, userId).map((record) => {
      const { id, orderId, planSlug, module } = record
      const view = toMembership(record, now)
      const line = { id, what: planSlug, state: view.status, until: view.expiresAt, orderId }
      return { view: { ...view, orderId }, line, module: `memberships${module}` }
    }),
  words: (db, { plan, period }) => `Membership: ${findPlan(db, plan)?.name ?? plan}, ${periodWords(period)}`,
  renewal: null,
  byHand: givenByHand({
    input: () => grantSchemas.membership.omit({ module: true }),
    options: {
      plan: { value: '<slug>', about: 'plan of the membership' },
      period: { value: '<period>', about: 'P1Y, P1M or P14D (default: for life)' }
    },
    give(tx, to, grant, now) {
      const plan = findPlan(tx, grant.plan)
      if (plan === undefined) throw new AppError('NOT_FOUND', `The plan "${grant.plan}" does not exist.`)
      return start(tx, to, { ...grant, module: plan.module }, now)
    }
  })
}

function start(
  tx: Tx,
  to: Pick<Recipient, 'userId' | 'quantity' | 'source'>,
  spec: GrantSpec<'membership'>,
  now: number
): number {
  const { userId, quantity, source } = to
  const plan = ensurePlan(tx, spec.plan, spec.module)
  const startedAt = spec.period === null ? now : runningUntil(tx, userId, plan.id, now)
  const expiresAt = spec.period === null ? null : addPeriod(startedAt, spec.period, quantity)
  const { id } = tx.orm
    .insert(memberships)
    .values({ userId, planId: plan.id, startedAt, expiresAt, ...source })
    .returning({ id: memberships.id })
    .get()
  emit(tx, 'membership.started', { membershipId: id, userId, plan: plan.slug }, now)
  return id
}

function runningUntil(tx: Tx, userId: number, planId: number, now: number): number {
  const running = tx.orm
    .select({ end: max(memberships.expiresAt) })
    .from(memberships)
    .where(
      and(
        eq(memberships.userId, userId),
        eq(memberships.planId, planId),
        isNull(memberships.cancelledAt),
        gt(memberships.expiresAt, now)
      )
    )
    .get()
  return running?.end ?? now
}

const moveUp = rawStatement<Shift>(
  `UPDATE memberships SET started_at = started_at - @by, expires_at = expires_at - @by
   WHERE cancelled_at IS NULL AND expires_at IS NOT NULL AND started_at >= @from AND id <> @id
     AND (user_id, plan_id) = (SELECT user_id, plan_id FROM memberships WHERE id = @id)`
)

function end(tx: Tx, id: number, line: { orderItemId?: null }, now: number): Ended | null {
  const found = tx.orm
    .select({ row: memberships, plan: plans.slug })
    .from(memberships)
    .innerJoin(plans, eq(plans.id, memberships.planId))
    .where(eq(memberships.id, id))
    .get()
  if (found === undefined) return null
  const { row, plan } = found
  const cancelledAt = row.cancelledAt ?? now
  tx.orm
    .update(memberships)
    .set({ cancelledAt, ...line })
    .where(eq(memberships.id, id))
    .run()
  if (row.cancelledAt !== null) return null
  const remainder = remainderOf(row, row.expiresAt, now)
  if (remainder !== undefined) moveUp(tx).run(remainder)
  emit(tx, 'membership.ended', { membershipId: id, userId: row.userId, plan }, now)
  return { gatewayId: null }
}

const units: Readonly<Record<string, string>> = { D: 'day', W: 'week', M: 'month', Y: 'year' }

/** `P1Y` is one year. */
function periodWords(period: string | null): string {
  if (period === null) return 'for life'
  const [, count = '', letter = ''] = /^P(\d+)([DWMY])$/.exec(period) ?? []
  const unit = units[letter]
  if (unit === undefined) return period
  return count === '1' ? `one ${unit}` : `${count} ${unit}s`
}
