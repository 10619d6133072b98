// What FTS5's unicode61 takes for part of a word, and the marks that its accents are made of.
const words = /[\p{L}\p{N}\p{Co}\p{M}]+/gu
const letter = /[\p{L}\p{N}\p{Co}]/u

/**
 * What a person typed, as an FTS5 query: every word must be the beginning of a word of the product. Each is quoted, so
 * that AND, NEAR, a lone quote, `%` and `_` are plain characters. Undefined when nothing typed is part of a word, which
 * finds nothing.
 */
export function toSearchQuery(typed: string): string | undefined {
  const found = (typed.normalize('NFC').match(words) ?? []).filter((word) => letter.test(word))
  return found.length === 0 ? undefined : found.map((word) => `"${word}"*`).join(' AND ')
}
