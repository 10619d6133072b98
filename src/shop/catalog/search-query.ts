// What FTS5's unicode61 takes for part of a word, and the marks that its accents are made of.
const words = /[\p{L}\p{N}\p{Co}\p{M}]+/gu
const letter = /[\p{L}\p{N}\p{Co}]/u
/** Signs that mean themselves where they stand: a search for 100% is not one for 100. */
const sign = /[%_]/

export type Search = {
  /** An FTS5 query: every word must be the beginning of a word of the product. Undefined when no word was typed. */
  words: string | undefined
  /** What must stand in the product just so, but for the case of its letters. */
  literals: string[]
}

/**
 * What a person typed, as what is asked of the products. Each word is quoted, so that AND, NEAR or a lone quote mean
 * nothing more; one with a sign in it is looked for as it is. What holds neither finds nothing.
 */
export function readSearch(typed: string): Search {
  const pieces = typed.normalize('NFC').split(/\s+/)
  const literals = pieces.filter((piece) => sign.test(piece))
  const plain = pieces.filter((piece) => !sign.test(piece)).join(' ')
  const found = (plain.match(words) ?? []).filter((word) => letter.test(word))
  return { words: found.length === 0 ? undefined : found.map((word) => `"${word}"*`).join(' AND '), literals }
}
