import type { App } from '../../../app.ts'
import { AppError } from '../../../errors.ts'
import { setting } from '../../../shop/settings/settings.ts'
import { moveIn } from '../move-in.ts'
import type { MoveOptions, MoveReport } from '../move-in.ts'
import { moveSubject } from '../move.ts'
import type { Move } from '../move.ts'
import type { SubjectReport, SubjectTally } from '../report.ts'
import { hasAffiliateWp, moveAffiliates, movePayouts, moveReferrals } from './affiliate-wp.ts'
import {
  hasAffiliateManager,
  moveManagedAffiliates,
  moveManagedCommissions,
  moveManagedPayouts
} from './affiliate-manager.ts'
import { moveCoupons } from './coupons.ts'
import { moveEddDiscounts } from './edd-discounts.ts'
import { moveEddDownloads, moveEddProducts } from './edd-downloads.ts'
import { moveEddOrders } from './edd-orders.ts'
import { hasEdd } from './edd-rows.ts'
import { moveCustomers } from './customers.ts'
import type { WordPress } from './database.ts'
import { moveDownloads } from './downloads.ts'
import { moveMemberPress, moveMemberships, moveRestrictContent } from './memberships.ts'
import { moveOrders } from './orders.ts'
import { movePermalinks } from './permalinks.ts'
import { moveProducts } from './products.ts'
import type { ProductOptions } from './products.ts'
import { addressOf, sourceOf } from './source.ts'
import { moveSubscriptions } from './subscriptions.ts'

export type WordPressReport = MoveReport & { prefix: string }

export type ImportOptions = ProductOptions & MoveOptions

/**
 * Moves a WordPress with WooCommerce in: customers, products, addresses, coupons, orders,
 * affiliates, subscriptions, memberships and downloads. It brings what is not here yet, so it can be
 * repeated and continues after an interruption. It sends no email, emits no event and writes nothing to the source.
 *
 * @throws AppError CONFLICT when the shop's currency is another one, or when it was interrupted
 */
export async function importWordPress(app: App, source: WordPress, options: ImportOptions): Promise<WordPressReport> {
  const address = await addressOf(source)
  await assertCurrency(app, source)
  const subjects = await moveIn(app, await sourceOf(source), options, async (move) => {
    const reports: SubjectReport[] = []
    for (const [subject, mover] of moversOf(source, options))
      reports.push(await moveSubject(move, subject, (tally) => mover(source, move, tally)))
    return reports
  })
  return { source: address, prefix: source.prefix, isDryRun: options.isDryRun, subjects }
}

type Mover = (source: WordPress, move: Move, tally: SubjectTally) => AsyncIterable<unknown>

/** The subjects in their order: referrals need their orders, and payouts their referrals. */
function moversOf(source: WordPress, options: ProductOptions): [subject: string, mover: Mover][] {
  const edd: [string, Mover][] = [
    ['products of Easy Digital Downloads', moveEddProducts],
    ['coupons of Easy Digital Downloads', moveEddDiscounts],
    ['orders of Easy Digital Downloads', moveEddOrders],
    ['downloads of Easy Digital Downloads', moveEddDownloads]
  ]
  const affiliateWp: [string, Mover][] = [
    ['affiliates', moveAffiliates],
    ['referrals', moveReferrals],
    ['payouts', movePayouts]
  ]
  const affiliateManager: [string, Mover][] = [
    ['affiliates of Affiliate Manager', moveManagedAffiliates],
    ['commissions of Affiliate Manager', moveManagedCommissions],
    ['payouts of Affiliate Manager', moveManagedPayouts]
  ]
  return [
    ['customers', moveCustomers],
    ['products', (...from) => moveProducts(...from, options)],
    ['addresses', movePermalinks],
    ['coupons', moveCoupons],
    ['orders', moveOrders],
    ...(hasEdd(source) ? edd : []),
    ...(hasAffiliateWp(source) ? affiliateWp : []),
    ...(hasAffiliateManager(source) ? affiliateManager : []),
    ['subscriptions', moveSubscriptions],
    ['memberships', moveMemberships],
    ['memberships of Restrict Content', moveRestrictContent],
    ['memberships of MemberPress', moveMemberPress],
    ['downloads', moveDownloads]
  ]
}

/** Prices are in the shop's currency. */
async function assertCurrency({ db }: App, source: WordPress): Promise<void> {
  const theirs = await source.option('woocommerce_currency')
  const ours = setting(db, 'shop.currency')
  if (theirs === undefined)
    throw new AppError(
      'VALIDATION_FAILED',
      'The WordPress has no WooCommerce: the option woocommerce_currency is missing.'
    )
  if (theirs === ours) return
  const remedy = `Set it with "shopstead settings set shop.currency ${theirs}".`
  throw new AppError('CONFLICT', `WooCommerce sells in ${theirs}, and this shop in ${ours}. ${remedy}`)
}
