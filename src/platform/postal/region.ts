import { postalFormat } from './format.ts'

/**
 * The key of a state or province, in upper case; empty for an empty text. An address can contain its name or its
 * abbreviation: `New York` and `ny` are `NY`.
 */
export function regionKey(country: string, state: string | undefined): string {
  const text = (state ?? '').trim().toUpperCase()
  if (text === '') return ''
  const known = postalFormat(country).regions?.find((names) => names.some((name) => name?.toUpperCase() === text))
  return (known?.[0] ?? text).toUpperCase()
}

/** Whether a country has a list of states or provinces and a text is none of them; `example` is one of the list. */
export function unknownRegion(country: string, state: string): { example: string } | undefined {
  const { regions } = postalFormat(country)
  const key = regionKey(country, state)
  if (regions === undefined || regions.some(([value]) => value.toUpperCase() === key)) return undefined
  return { example: regions[0]?.[0] ?? '' }
}
