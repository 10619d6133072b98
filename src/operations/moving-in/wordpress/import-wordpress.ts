import type { App } from '../../../app.ts'
import { AppError } from '../../../errors.ts'
import { moveIn } from '../move-in.ts'
import type { MoveOptions, MoveReport } from '../move-in.ts'
import { moveSubject } from '../move.ts'
import type { Move } from '../move.ts'
import type { SubjectReport } from '../report.ts'
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
import { setting } from '../../../shop/settings/settings.ts'

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
  const subjects = await moveIn(app, await sourceOf(source), options, async (move) => [
    await moveSubject(move, 'customers', (tally) => moveCustomers(source, move, tally)),
    await moveSubject(move, 'products', (tally) => moveProducts(source, move, tally, options)),
    await moveSubject(move, 'addresses', (tally) => movePermalinks(source, move, tally)),
    await moveSubject(move, 'coupons', (tally) => moveCoupons(source, move, tally)),
    await moveSubject(move, 'orders', (tally) => moveOrders(source, move, tally)),
    ...(await eddSubjects(source, move)),
    ...(await affiliateSubjects(source, move)),
    ...(await managedAffiliates(source, move)),
    await moveSubject(move, 'subscriptions', (tally) => moveSubscriptions(source, move, tally)),
    await moveSubject(move, 'memberships', (tally) => moveMemberships(source, move, tally)),
    await moveSubject(move, 'memberships of Restrict Content', (tally) => moveRestrictContent(source, move, tally)),
    await moveSubject(move, 'memberships of MemberPress', (tally) => moveMemberPress(source, move, tally)),
    await moveSubject(move, 'downloads', (tally) => moveDownloads(source, move, tally))
  ])
  return { source: address, prefix: source.prefix, isDryRun: options.isDryRun, subjects }
}

/** AffiliateWP's subjects; none without it. Referrals need their orders, and payouts their referrals. */
async function affiliateSubjects(source: WordPress, move: Move): Promise<SubjectReport[]> {
  if (!hasAffiliateWp(source)) return []
  return [
    await moveSubject(move, 'affiliates', (tally) => moveAffiliates(source, move, tally)),
    await moveSubject(move, 'referrals', (tally) => moveReferrals(source, move, tally)),
    await moveSubject(move, 'payouts', (tally) => movePayouts(source, move, tally))
  ]
}

/** The subjects of Easy Digital Downloads; none without it. */
async function eddSubjects(source: WordPress, move: Move): Promise<SubjectReport[]> {
  if (!hasEdd(source)) return []
  const of = 'of Easy Digital Downloads'
  return [
    await moveSubject(move, `products ${of}`, (tally) => moveEddProducts(source, move, tally)),
    await moveSubject(move, `coupons ${of}`, (tally) => moveEddDiscounts(source, move, tally)),
    await moveSubject(move, `orders ${of}`, (tally) => moveEddOrders(source, move, tally)),
    await moveSubject(move, `downloads ${of}`, (tally) => moveEddDownloads(source, move, tally))
  ]
}

/** The subjects of WP Affiliate Manager; none without it. */
async function managedAffiliates(source: WordPress, move: Move): Promise<SubjectReport[]> {
  if (!hasAffiliateManager(source)) return []
  const of = 'of Affiliate Manager'
  return [
    await moveSubject(move, `affiliates ${of}`, (tally) => moveManagedAffiliates(source, move, tally)),
    await moveSubject(move, `commissions ${of}`, (tally) => moveManagedCommissions(source, move, tally)),
    await moveSubject(move, `payouts ${of}`, (tally) => moveManagedPayouts(source, move, tally))
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
