import { and, eq, gt, isNotNull, isNull, max } from 'drizzle-orm'
import type { Tx } from '../../../platform/db/database.ts'
import { rawStatement } from '../../../platform/db/database.ts'
import { grantSchemas } from '../../catalog/grants.ts'
import type { GrantSpec } from '../../catalog/grants.ts'
import { slug } from '../../../platform/input-fields.ts'
import { getProduct } from '../../catalog/products.ts'
import { emit } from '../../webhooks/emit.ts'
import { addInterval } from '../period.ts'
import { findRenewed, subscriptionsOf } from '../records.ts'
import type { GatewaySubscriptionRow } from '../rows.ts'
import { subscriptions } from '../schema.ts'
import { toSubscription } from '../view.ts'
import { givenByHand, remainderOf } from './kind.ts'
import type { BenefitKind, Ended, Recipient, Shift } from './kind.ts'

export const subscription: BenefitKind<'subscription'> = {
  plural: 'subscriptions',
  table: subscriptions,
  since: 'started_at',
  sharesTotal: false,
  guests: 'need an account',
  start,
  end,
  list: (db, userId, now) =>
    subscriptionsOf(db, userId).map((record) => {
      const { id, orderId, name } = record
      const view = toSubscription(record, now)
      const line = { id, what: name, state: view.status, until: view.currentPeriodEnd, orderId }
      return { view: { ...view, orderId }, line, module: 'commerce' }
    }),
  words: (_db, { interval }) => `Renews every ${interval} until you cancel`,
  renewal: { interval: ({ interval }) => interval },
  byHand: givenByHand({
    input: () => grantSchemas.subscription.extend({ product: slug() }),
    options: {
      product: { value: '<slug>', about: 'product of the subscription' },
      interval: { value: '<interval>', about: 'month or year' },
      pro: { value: null, about: 'gives pro access' }
    },
    give: (tx, to, grant, now) => start(tx, { ...to, productId: getProduct(tx, grant.product).id }, grant, now)
  })
}

/**
 * Starts a fixed term; payments links it with Stripe's subscription later (`linkSubscription`). If Stripe already
 * renews it, because its order belonged to a guest or was on hold, it starts with the period that is paid at Stripe.
 */
function start(
  tx: Tx,
  to: Pick<Recipient, 'userId' | 'productId' | 'quantity' | 'source'>,
  spec: GrantSpec<'subscription'>,
  now: number
): number {
  const { userId, productId, quantity, source } = to
  const renewed = findRenewed(tx, source.orderId)
  const startedAt = runningUntil(tx, { userId, productId }, spec, now)
  const fixed = { startedAt, currentPeriodEnd: addInterval(startedAt, spec.interval, quantity) }
  const term = renewed === undefined ? fixed : termOf(renewed, now)
  const { id } = tx.orm
    .insert(subscriptions)
    .values({ userId, productId, interval: spec.interval, isPro: spec.pro, ...term, ...source })
    .returning({ id: subscriptions.id })
    .get()
  emit(tx, 'subscription.started', { subscriptionId: id, userId }, now)
  return id
}

/** The term of a subscription at Stripe. An ended one is paid until its date and not renewed. */
function termOf({ gatewayId, currentPeriodEnd, endedAt, cancelAtPeriodEnd }: GatewaySubscriptionRow, now: number) {
  const startedAt = Math.min(now, currentPeriodEnd)
  return { startedAt, currentPeriodEnd, cancelAtPeriodEnd, gatewayId: endedAt === null ? gatewayId : null }
}

/**
 * Only fixed terms of the same product are extended, because the end of a subscription that Stripe renews is unknown.
 */
function runningUntil(
  tx: Tx,
  of: { userId: number; productId: number },
  { interval, pro }: GrantSpec<'subscription'>,
  now: number
): number {
  const running = tx.orm
    .select({ end: max(subscriptions.currentPeriodEnd) })
    .from(subscriptions)
    .where(
      and(
        eq(subscriptions.userId, of.userId),
        eq(subscriptions.productId, of.productId),
        eq(subscriptions.interval, interval),
        eq(subscriptions.isPro, pro),
        isNull(subscriptions.gatewayId),
        isNull(subscriptions.cancelledAt),
        gt(subscriptions.currentPeriodEnd, now)
      )
    )
    .get()
  return running?.end ?? now
}

const moveUp = rawStatement<Shift>(
  `UPDATE subscriptions SET started_at = started_at - @by, current_period_end = current_period_end - @by
   WHERE cancelled_at IS NULL AND gateway_id IS NULL AND started_at >= @from AND id <> @id
     AND (user_id, product_id, interval, is_pro) =
         (SELECT user_id, product_id, interval, is_pro FROM subscriptions WHERE id = @id)`
)

/** Ends a subscription now, also one that was cancelled and is paid until a later date. */
function end(tx: Tx, id: number, line: { orderItemId?: null }, now: number): Ended | null {
  const row = tx.orm.select().from(subscriptions).where(eq(subscriptions.id, id)).get()
  if (row === undefined) return null
  const currentPeriodEnd = Math.min(row.currentPeriodEnd, now)
  const set = { cancelledAt: row.cancelledAt ?? now, currentPeriodEnd, ...line }
  tx.orm.update(subscriptions).set(set).where(eq(subscriptions.id, id)).run()
  const { gatewayId } = row
  if (row.cancelledAt !== null) return row.currentPeriodEnd > now ? { gatewayId } : null
  const remainder = gatewayId === null ? remainderOf(row, row.currentPeriodEnd, now) : undefined
  if (remainder !== undefined) moveUp(tx).run(remainder)
  emit(tx, 'subscription.ended', { subscriptionId: id, userId: row.userId }, now)
  return { gatewayId }
}

/** Ends every subscription of an account that the gateway would charge for again. */
export function endRenewals(tx: Tx, userId: number, now: number): void {
  const rows = tx.orm
    .select({ id: subscriptions.id })
    .from(subscriptions)
    .where(and(eq(subscriptions.userId, userId), isNotNull(subscriptions.gatewayId)))
    .all()
  for (const { id } of rows) end(tx, id, {}, now)
}
