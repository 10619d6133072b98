import { AppError, validationFailed } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { isModuleOn, setting } from '../settings/settings.ts'
import type { AffiliateRow } from './find.ts'
import { eq } from 'drizzle-orm'
import { writeWhenFree } from '../../platform/db/database.ts'
import { countAccountChange } from '../limits/points.ts'
import type { Limits } from '../limits/points.ts'
import { emit } from '../webhooks/emit.ts'
import { findAffiliateOfUser } from './find.ts'
import { affiliates } from './schema.ts'

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

// The regular expression that semver.org recommends.
const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/

/** Whether a terms version is valid: an existing date such as `2026-01-31`, or a semantic version such as `1.2.0`. */
export function isTermsVersion(version: string): boolean {
  return semver.test(version) || isDay(version)
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  // Date.parse reads 30 February as 2 March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/**
 * The terms version that affiliates must accept; null when the shop does not require it.
 *
 * @throws AppError CONFIG_INVALID_AFFILIATE_TERMS_VERSION when the shop requires it and `affiliates.termsVersion` is not
 *   a valid version
 */
export function requiredTermsVersion(db: Db): string | null {
  if (!setting(db, 'affiliates.termsGating')) return null
  const version = setting(db, 'affiliates.termsVersion')
  if (isTermsVersion(version)) return version
  throw new AppError('CONFIG_INVALID_AFFILIATE_TERMS_VERSION', 'The affiliate terms of this shop are misconfigured.')
}

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
