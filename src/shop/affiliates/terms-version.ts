import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { setting } from '../settings/settings.ts'

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
