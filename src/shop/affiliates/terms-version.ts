import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { setting } from '../settings/settings.ts'

// semver.org's own expression.
const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/

/** Whether a terms version is a day that exists, as `2026-01-31`, or a semver such as `1.2.0`. */
export function isTermsVersion(version: string): boolean {
  return semver.test(version) || isDay(version)
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  // Date.parse carries 30 February over into March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/**
 * The version that affiliates must have accepted; null while they are not asked to.
 *
 * @throws AppError CONFIG_INVALID_AFFILIATE_TERMS_VERSION when they are, and the setting holds no valid version
 */
export function requiredTermsVersion(db: Db): string | null {
  if (!setting(db, 'affiliates.termsGating')) return null
  const version = setting(db, 'affiliates.termsVersion')
  if (isTermsVersion(version)) return version
  throw new AppError('CONFIG_INVALID_AFFILIATE_TERMS_VERSION', 'The shop has not set up its affiliate terms correctly.')
}
