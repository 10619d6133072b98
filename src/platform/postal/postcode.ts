import type { PostalFormat } from './format.ts'

/** The longest postcode of any country, with its spaces. */
const longest = 20

/**
 * A postcode as the country writes it: upper case, without what many people write in front of it (`CH-8000`). Undefined
 * if it is not a postcode of the country. A country without a rule takes any text.
 */
export function readPostcode({ postcode, prefix }: PostalFormat, typed: string): string | undefined {
  const text = typed.trim().replaceAll(/\s+/g, ' ').toUpperCase()
  if (postcode === undefined) return text
  // The patterns are simple, and a short text cannot make them slow.
  if (text.length > longest) return undefined
  const rule = new RegExp(`^(?:${postcode})$`)
  return [text, withoutPrefix(text, prefix), text.replaceAll(/[ -]/g, '')].find((candidate) => rule.test(candidate))
}

function withoutPrefix(text: string, prefix: string | undefined): string {
  return prefix !== undefined && text.startsWith(prefix) ? text.slice(prefix.length).trim() : text
}
