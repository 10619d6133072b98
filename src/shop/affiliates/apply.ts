import { writeWhenFree } from '../../platform/db/busy.ts'
import { setPartnerOptIn } from '../accounts/consent.ts'
import type { UserRow } from '../accounts/rows.ts'
import { countAccountChange } from '../limits/points.ts'
import type { Limits } from '../limits/points.ts'
import { freeCode } from './code.ts'
import { createAffiliate } from './create-affiliate.ts'
import { assertModuleOn } from './gate.ts'
import type { ApplyInput } from './input.ts'
import type { AffiliateRow } from './rows.ts'

/**
 * Creates a pending affiliate account for a user; an operator decides about it. The answer to the partner opt-in (no if
 * it was not sent) is stored with its time and in the biography.
 *
 * @throws AppError RATE_LIMITED (account_change), AFFILIATE_NOT_FOUND while the module is off, AFFILIATE_EXISTS when the user has an account in any state
 */
export async function applyAsAffiliate(
  shop: Limits,
  user: UserRow,
  input: ApplyInput,
  now: number
): Promise<AffiliateRow> {
  await countAccountChange(shop, user.id)
  return writeWhenFree(shop.db, (tx) => {
    assertModuleOn(tx)
    const code = freeCode(tx, user.username)
    const { website = null, message = null } = input
    const application = { userId: user.id, code, status: 'pending' as const, rateBps: null, website, message }
    const affiliate = createAffiliate(tx, application, now)
    setPartnerOptIn(tx, user.id, input.marketingOptIn ?? false, now)
    return affiliate
  })
}
