import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import type { Db } from '../../platform/db/database.ts'
import { donationsOf, downloadsOf, enrolmentsOf, membershipsOf, subscriptionsOf } from './records.ts'
import { toDonation, toMembership, toSubscription } from './view.ts'

/** Everything that a person holds or held, with the order each came from, whatever modules are on: for the operator. */
export function listBenefits(db: Db, userId: number, now: number) {
  const orderOf = ({ orderId }: { orderId: number | null }) => ({ orderId })
  return {
    memberships: membershipsOf(db, userId).map((row) => ({ ...toMembership(row, now), ...orderOf(row) })),
    subscriptions: subscriptionsOf(db, userId).map((row) => ({ ...toSubscription(row, now), ...orderOf(row) })),
    courses: enrolmentsOf(db, userId).map(({ startedAt, ...row }) => ({ ...row, startedAt: toIso(startedAt) })),
    downloads: downloadsOf(db, userId).map(({ id, productId, file, startedAt, endsAt, orderId }) => {
      return { id, productId, file, startedAt: toIso(startedAt), expiresAt: toIsoOrNull(endsAt), orderId }
    }),
    donations: donationsOf(db, userId).donations.map(toDonation)
  }
}
