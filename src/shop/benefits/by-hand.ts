import { eq } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import type { GrantSpec } from '../catalog/schema.ts'
import { endBenefit } from './end-benefit.ts'
import type { BenefitKind } from './end-benefit.ts'
import { findPlan } from './plans.ts'
import { byHand } from './rows.ts'
import { subscriptions } from './schema.ts'
import { startDonation, startDownload, startEnrolment, startMembership, startSubscription } from './start-benefit.ts'

type SpecOf<Kind extends GrantSpec['kind']> = Extract<GrantSpec, { kind: Kind }>

/** What an operator can give: as a product would, with what an order would have said. The plan's module is the plan's own. */
export type HandGrant =
  | Omit<SpecOf<'membership'>, 'module'>
  | (SpecOf<'subscription'> & { productId: number })
  | SpecOf<'course'>
  | (SpecOf<'download'> & { productId: number })
  | (SpecOf<'donation'> & { amountMinor: number; currency: string })

/**
 * Gives a person a benefit that no order pays for, extending what runs, with the same events as a bought one. Returns its id.
 *
 * @throws AppError NOT_FOUND for a plan that the shop does not have.
 */
export function grantByHand(tx: Tx, userId: number, grant: HandGrant, now: number): number {
  const to = { userId, quantity: 1, source: byHand }
  if (grant.kind === 'membership') {
    const plan = findPlan(tx, grant.plan)
    if (plan === undefined) throw new AppError('NOT_FOUND', `There is no plan "${grant.plan}".`)
    return startMembership(tx, to, { ...grant, module: plan.module }, now).id
  }
  if (grant.kind === 'subscription') return startSubscription(tx, { ...to, productId: grant.productId }, grant, now).id
  if (grant.kind === 'course') return startEnrolment(tx, to, grant, now).id
  if (grant.kind === 'download') return startDownload(tx, { ...to, productId: grant.productId }, grant, now).id
  const { amountMinor, currency } = grant
  return startDonation(tx, { ...to, amountMinor, currency }, grant, now).id
}

/**
 * Ends one benefit at once, whoever gave it; its order does not give it again.
 *
 * @returns the gateway's id of a subscription that is charged for until the reconciler has cancelled it there.
 * @throws AppError NOT_FOUND when there is none, or it has ended before.
 */
export function revokeByHand(tx: Tx, kind: BenefitKind, id: number, now: number): { gatewayId: string | null } {
  if (!endBenefit(tx, kind, id, false, now)) {
    throw new AppError('NOT_FOUND', `There is no ${kind} ${id} that could be revoked.`)
  }
  if (kind !== 'subscription') return { gatewayId: null }
  const row = tx.orm.select().from(subscriptions).where(eq(subscriptions.id, id)).get()
  return { gatewayId: row?.gatewayId ?? null }
}
