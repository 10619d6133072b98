import type { Tx } from '../../platform/db/database.ts'
import { setPartnerOptIn } from '../accounts/consent.ts'
import type { UserRow } from '../accounts/rows.ts'
import { freeCode } from './code.ts'
import { createAffiliate } from './create-affiliate.ts'
import { assertModuleOn } from './gate.ts'
import type { ApplyInput } from './input.ts'
import type { AffiliateRow } from './rows.ts'

/**
 * A user asks to become an affiliate: the account is pending until an operator decides. What he answered to the partner
 * opt-in, no when he said nothing, is kept with its time and in his biography.
 *
 * @throws AppError AFFILIATE_NOT_FOUND while the module is off, AFFILIATE_EXISTS when he has an account in any state
 */
export function applyAsAffiliate(tx: Tx, user: UserRow, input: ApplyInput, now: number): AffiliateRow {
  assertModuleOn(tx)
  const code = freeCode(tx, user.username)
  const { website = null, message = null } = input
  const application = { userId: user.id, code, status: 'pending' as const, rateBps: null, website, message }
  const affiliate = createAffiliate(tx, application, now)
  setPartnerOptIn(tx, user.id, input.marketingOptIn ?? false, now)
  return affiliate
}
