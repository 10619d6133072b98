import type { Tx } from '../../platform/db/database.ts'
import { applyAffiliates } from '../../shop/affiliates/create.ts'
import { recordClicks } from '../../shop/affiliates/clicks.ts'
import { findAffiliateByCode } from '../../shop/affiliates/find.ts'
import type { AffiliateInput } from '../../shop/catalog/import/format.ts'
import type { Counts } from '../../shop/catalog/changes.ts'
import type { DemoPerson } from './demo-data.ts'
import { dayMs } from './timeline.ts'
import type { TimelineEntry } from './timeline.ts'
import { registeredAt } from './people.ts'

/** The affiliates of a catalog file, split into those that the shop lacks and those that it has. */
export type Affiliates = { fresh: AffiliateInput[]; known: AffiliateInput[] }

/** Splits affiliates by whether the shop has one with the same code. */
export function splitAffiliates(tx: Tx, affiliates: readonly AffiliateInput[]): Affiliates {
  const isKnown = ({ code }: AffiliateInput): boolean => findAffiliateByCode(tx, code) !== undefined
  return { fresh: affiliates.filter((entry) => !isKnown(entry)), known: affiliates.filter(isKnown) }
}

/**
 * The applications of affiliates, a day after each registered. An affiliate who is inactive today starts as active,
 * because an inactive affiliate could not have referred orders.
 */
export function affiliateTimeline(
  affiliates: readonly AffiliateInput[],
  people: readonly DemoPerson[],
  now: number
): TimelineEntry[] {
  return affiliates.map((affiliate) => {
    const status = affiliate.status === 'inactive' ? 'active' : affiliate.status
    const owner = people.find(({ email }) => email === affiliate.user)
    return {
      at: owner === undefined ? now : Math.min(now, registeredAt(owner, now) + dayMs),
      apply: (tx, at) => void applyAffiliates(tx, [{ ...affiliate, status }], at)
    }
  })
}

const daysWithClicks = 120

/** Clicks on the links of new active affiliates: between 2 and 12 on each of the last days, always the same ones. */
export function addClicks(tx: Tx, affiliates: readonly AffiliateInput[], now: number): void {
  for (const { code, status } of affiliates) {
    const affiliate = status === 'active' ? findAffiliateByCode(tx, code) : undefined
    if (affiliate === undefined) continue
    for (let ago = 0; ago < daysWithClicks; ago += 1) {
      const at = now - ago * dayMs
      if (at >= affiliate.createdAt)
        recordClicks(tx, affiliate.id, { clicks: 2 + ((Math.imul(ago, 0x9e3779b1) >>> 0) % 11) }, at)
    }
  }
}

/** Sets every affiliate to today's status, including those that were just created. */
export function updateAffiliates(tx: Tx, { fresh, known }: Affiliates, now: number): Counts {
  applyAffiliates(tx, fresh, now)
  return { ...applyAffiliates(tx, known, now), created: fresh.length }
}
