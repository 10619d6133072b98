import type { Db } from '../../platform/db/database.ts'
import type { GrantKind, GrantSpec } from '../catalog/grants.ts'
import { course } from './kinds/course.ts'
import { donation } from './kinds/donation.ts'
import { download } from './kinds/download.ts'
import type { BenefitKind } from './kinds/kind.ts'
import { membership } from './kinds/membership.ts'
import { subscription } from './kinds/subscription.ts'

/** Every kind of benefit with everything that the shop does with it (kinds/kind.ts). */
export const benefitKinds: { readonly [Kind in GrantKind]: BenefitKind<Kind> } = {
  membership,
  subscription,
  course,
  download,
  donation
}

/** The row of a grant's kind. */
export function kindOf(grant: GrantSpec): BenefitKind {
  return benefitKinds[grant.kind]
}

/** The text about a grant on the page of its product. */
export function grantText(db: Db, grant: GrantSpec): string {
  return kindOf(grant).words(db, grant)
}

/** How often the gateway charges for a grant again; null for a grant that is paid once. */
export function renewalInterval(grant: GrantSpec): 'month' | 'year' | null {
  return kindOf(grant).renewal?.interval(grant) ?? null
}
