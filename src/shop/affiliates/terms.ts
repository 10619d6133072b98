import { eq } from 'drizzle-orm'
import { validationFailed } from '../../errors.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { countAccountChange } from '../limits/points.ts'
import type { Limits } from '../limits/points.ts'
import { emit } from '../webhooks/emit.ts'
import { setting } from '../settings/settings.ts'
import { findAffiliateOfUser } from './find.ts'
import { requireAffiliate } from './gate.ts'
import type { AffiliateRow } from './rows.ts'
import { affiliates } from './schema.ts'
import { isTermsVersion, requiredTermsVersion } from './terms-version.ts'

/**
 * Records that an affiliate accepts the current terms. An account in any state can accept them: an applicant may read
 * them first. The same version again changes nothing.
 *
 * @throws AppError RATE_LIMITED (account_change); AFFILIATE_NOT_FOUND; CONFIG_INVALID_AFFILIATE_TERMS_VERSION as `requiredTermsVersion`;
 *   VALIDATION_FAILED on `version` when it is not the current version, or when the shop has none
 */
export async function acceptTerms(shop: Limits, userId: number, version: string, now: number): Promise<AffiliateRow> {
  await countAccountChange(shop, userId)
  return writeWhenFree(shop.db, (tx) => {
    const affiliate = requireAffiliate(tx, findAffiliateOfUser(tx, userId))
    const current = requiredTermsVersion(tx) ?? setting(tx, 'affiliates.termsVersion')
    if (version !== current || !isTermsVersion(current)) {
      throw validationFailed({ version: ['Must be the current version of the terms.'] })
    }
    if (affiliate.termsVersion === version) return affiliate
    emit(tx, 'affiliate.terms_accepted', { affiliateId: affiliate.id, version }, now)
    const change = { termsVersion: version, termsAcceptedAt: now, updatedAt: now }
    return tx.orm.update(affiliates).set(change).where(eq(affiliates.id, affiliate.id)).returning().get()
  })
}
