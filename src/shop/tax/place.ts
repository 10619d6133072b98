import { postalFormat } from '../../platform/postal/format.ts'

/** A country and its state or province, in upper case; the region is empty if it is unknown. */
export type TaxPlace = { country: string; region: string }

/**
 * A state or province in the form in which tax rates store it. An address can contain its name or its abbreviation:
 * `New York` and `ny` are `NY`.
 */
export function regionKey(country: string, state: string | undefined): string {
  const text = (state ?? '').trim().toUpperCase()
  if (text === '') return ''
  const known = postalFormat(country).regions?.find((names) => names.some((name) => name?.toUpperCase() === text))
  return (known?.[0] ?? text).toUpperCase()
}
