/**
 * What an account of the accounting is for, in the settings `accounting.accounts` and `accounting.taxCodes`. Sales in the
 * shop's country have a key for each rate besides: `domestic-19`.
 */
export const accountKeys = [
  /** Every sale that has no account of its own. */
  'sales',
  /** To consumers in another member state of the EU, at the rate of that state. */
  'oss-goods',
  'oss-services',
  /** At the rate of a place outside the EU that is not the shop's own country. */
  'foreign',
  'supply',
  'reverse-charge',
  'export',
  'outside',
  'small-business',
  'voucher',
  'zero',
  'none',
  /** What the buyers owe or paid, by how they paid. */
  'payment-stripe',
  'payment-manual',
  'payment-other'
] as const

export type AccountKey = (typeof accountKeys)[number] | `domestic-${number}`

/** A key of `accounting.accounts` with its value: `oss-goods=8320/240`. */
const entry = /^([a-z-]+?)(?:-(\d{1,2}(?:\.\d{1,4})?))?=(.*)$/u

/** The parts of KEY=VALUE; undefined for another text, or a key that no account has. */
export function readAccountEntry(text: string): { key: string; value: string } | undefined {
  const [, name = '', rate, value = ''] = entry.exec(text) ?? []
  const isKnown = rate === undefined ? accountKeys.some((key) => key === name) : name === 'domestic'
  return isKnown && value !== '' ? { key: rate === undefined ? name : `domestic-${Number(rate)}`, value } : undefined
}

/** Whether a text is KEY=ACCOUNT or KEY=ACCOUNT/TAXKEY. */
export function isAccount(text: string): boolean {
  const { value } = readAccountEntry(text) ?? {}
  return value !== undefined && /^[A-Z\d]{1,12}(?:\/\d{1,4})?$/i.test(value)
}

/** Whether a text is KEY=CODE, where the code is what the other program calls its tax. */
export function isTaxCode(text: string): boolean {
  const { value } = readAccountEntry(text) ?? {}
  return value !== undefined && /^[^\p{C}]{1,60}$/u.test(value)
}
