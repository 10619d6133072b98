import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { isModuleOn } from '../settings/settings.ts'
import type { AffiliateRow } from './rows.ts'
import { requiredTermsVersion } from './terms-version.ts'

/** Checks the affiliates module. @throws AppError AFFILIATE_NOT_FOUND while it is off */
export function assertModuleOn(db: Db): void {
  if (!isModuleOn(db, 'affiliates')) throw notFound()
}

/** Checks that there is an affiliate account. @throws AppError AFFILIATE_NOT_FOUND without one, or while the module is off */
export function requireAffiliate(db: Db, affiliate: AffiliateRow | undefined): AffiliateRow {
  assertModuleOn(db)
  if (affiliate === undefined) throw notFound()
  return affiliate
}

/**
 * Checks that an affiliate may see their referrals.
 *
 * @throws AppError in this order: AFFILIATE_NOT_FOUND, AFFILIATE_NOT_ACTIVE, CONFIG_INVALID_AFFILIATE_TERMS_VERSION,
 *   AFFILIATE_TERMS_REQUIRED (details.requiredVersion, details.acceptedVersion)
 */
export function requireActiveAffiliate(db: Db, candidate: AffiliateRow | undefined): AffiliateRow {
  const affiliate = requireAffiliate(db, candidate)
  if (affiliate.status !== 'active') {
    throw new AppError('AFFILIATE_NOT_ACTIVE', 'This affiliate account is not active.')
  }
  const requiredVersion = requiredTermsVersion(db)
  if (requiredVersion !== null && affiliate.termsVersion !== requiredVersion) {
    throw new AppError('AFFILIATE_TERMS_REQUIRED', 'The affiliate terms must be accepted first.', {
      requiredVersion,
      acceptedVersion: affiliate.termsVersion
    })
  }
  return affiliate
}

function notFound(): AppError {
  return new AppError('AFFILIATE_NOT_FOUND', 'You do not have an affiliate account.')
}
