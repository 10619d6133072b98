import type { Tx } from '../../platform/db/database.ts'
import { applyAffiliates } from '../../shop/affiliates/apply-affiliates.ts'
import { findAffiliateByCode } from '../../shop/affiliates/find.ts'
import type { AffiliateInput } from '../../shop/catalog/import/format.ts'
import type { Counts } from '../../shop/catalog/changes.ts'
import type { DemoPerson } from './demo-data.ts'
import { dayMs } from './moments.ts'
import type { Moment } from './moments.ts'
import { registeredAt } from './people.ts'

/** Affiliates of a file, told apart by whether the shop has them. */
export type Affiliates = { fresh: AffiliateInput[]; known: AffiliateInput[] }

export function sortAffiliates(tx: Tx, given: readonly AffiliateInput[]): Affiliates {
  const isKnown = ({ code }: AffiliateInput): boolean => findAffiliateByCode(tx, code) !== undefined
  return { fresh: given.filter((entry) => !isKnown(entry)), known: given.filter(isKnown) }
}

/**
 * They apply a day after they registered. One who is inactive today was active before, or no order could have come by
 * way of him.
 */
export function lifeOfAffiliates(
  affiliates: readonly AffiliateInput[],
  people: readonly DemoPerson[],
  now: number
): Moment[] {
  return affiliates.map((affiliate) => {
    const status = affiliate.status === 'inactive' ? 'active' : affiliate.status
    const owner = people.find(({ email }) => email === affiliate.user)
    return {
      at: owner === undefined ? now : Math.min(now, registeredAt(owner, now) + dayMs),
      happens: (tx, at) => void applyAffiliates(tx, [{ ...affiliate, status }], at)
    }
  })
}

/** Brings all of them to where they stand today, those included that have just lived through their history. */
export function settleAffiliates(tx: Tx, { fresh, known }: Affiliates, now: number): Counts {
  applyAffiliates(tx, fresh, now)
  return { ...applyAffiliates(tx, known, now), created: fresh.length }
}
