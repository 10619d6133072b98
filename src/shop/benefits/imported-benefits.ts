import type { Tx } from '../../platform/db/database.ts'
import { applyPlans, findPlan } from './plans.ts'
import { downloadPermissions, memberships, subscriptions } from './schema.ts'

/** A membership of another shop, and its plan there. `expiresAt` is null for life. */
export type ImportedMembership = Omit<typeof memberships.$inferSelect, 'id' | 'planId' | 'orderItemId'> & {
  plan: { slug: string; name: string }
}

/** Stores a membership of another shop, without an event; returns its id. A plan that does not exist yet is created. */
export function insertImportedMembership(tx: Tx, { plan, ...columns }: ImportedMembership): number {
  if (findPlan(tx, plan.slug) === undefined) applyPlans(tx, [{ ...plan, module: 'A', rank: 0, pro: false }])
  const stored = findPlan(tx, plan.slug)
  if (stored === undefined) throw new Error(`the plan ${plan.slug} was not stored`)
  const values = { ...columns, planId: stored.id }
  return tx.orm.insert(memberships).values(values).returning({ id: memberships.id }).get().id
}

/** A permission to download of another shop. `userId` is null for a guest, whose order page has the link. */
export type ImportedDownload = Omit<typeof downloadPermissions.$inferSelect, 'id' | 'orderItemId' | 'revokedAt'>

/** Stores a permission to download of another shop; returns its id. */
export function insertImportedDownload(tx: Tx, values: ImportedDownload): number {
  return tx.orm.insert(downloadPermissions).values(values).returning({ id: downloadPermissions.id }).get().id
}

/** A subscription of another shop. Nothing renews it here until its payment is taken over (payments/take-over.ts). */
export type ImportedSubscription = Omit<typeof subscriptions.$inferSelect, 'id' | 'gatewayId'>

/** Stores a subscription of another shop, without an event. */
export function insertImportedSubscription(tx: Tx, values: ImportedSubscription): void {
  tx.orm.insert(subscriptions).values(values).run()
}
