import { eq, sql } from 'drizzle-orm'
import { statement } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { getUserById } from '../accounts/find.ts'
import { isModuleOn, setting } from '../settings/settings.ts'
import { isCreditable, isSelfReferral } from './credit.ts'
import { findAffiliateByRef } from './find.ts'
import type { AffiliateRow } from './find.ts'
import { affiliateCustomers, affiliates } from './schema.ts'

const dayMs = 86_400_000

const bindingOf = statement((orm) =>
  orm
    .select({ affiliate: affiliates, campaign: affiliateCustomers.campaign, boundAt: affiliateCustomers.boundAt })
    .from(affiliateCustomers)
    .innerJoin(affiliates, eq(affiliates.id, affiliateCustomers.affiliateId))
    .where(eq(affiliateCustomers.userId, sql.placeholder('userId')))
    .prepare()
)

/** Whose customer an account is, and until when (epoch ms; null for good). */
export type Binding = { affiliate: AffiliateRow; campaign: string | null; boundAt: number; endsAt: number | null }

/** The affiliate by whose link a customer registered; undefined without one, and while `affiliates.customerDays` is off. */
export function findBinding(db: Db, userId: number): Binding | undefined {
  const days = setting(db, 'affiliates.customerDays')
  const row = days === 'off' ? undefined : bindingOf(db).get({ userId })
  return row && { ...row, endsAt: days === 'always' ? null : row.boundAt + Number(days) * dayMs }
}

/**
 * Binds an account that was just created to the affiliate of the link that its owner followed. Nothing is stored while
 * `affiliates.customerDays` is off, and for a ref that would not count at a checkout.
 */
export function bindByLink(
  tx: Tx,
  userId: number,
  { ref, campaign }: { ref: string | null; campaign: string | null },
  now: number
): void {
  const affiliate = ref === null ? undefined : findAffiliateByRef(tx, ref)
  if (affiliate !== undefined && isCreditable(tx, affiliate)) bindCustomer(tx, userId, { affiliate, campaign }, now)
}

/** Binds an account that was just created to the affiliate whom its first order credits. As `bindByLink`. */
export function bindCustomer(
  tx: Tx,
  userId: number,
  { affiliate, campaign }: Pick<Binding, 'affiliate' | 'campaign'>,
  now: number
): void {
  if (setting(tx, 'affiliates.customerDays') === 'off' || !isModuleOn(tx, 'affiliates')) return
  const { email } = getUserById(tx, userId)
  if (isSelfReferral(affiliate, getUserById(tx, affiliate.userId), { userId, emails: [email] })) return
  tx.orm
    .insert(affiliateCustomers)
    .values({ userId, affiliateId: affiliate.id, campaign, boundAt: now })
    .onConflictDoNothing()
    .run()
}

/**
 * Forgets whose customer an account is: it is erased, or the owner of its mailbox takes it over from a stranger who
 * registered it, perhaps by a link of their own.
 */
export function forgetBinding(tx: Tx, userId: number): void {
  tx.orm.delete(affiliateCustomers).where(eq(affiliateCustomers.userId, userId)).run()
}
