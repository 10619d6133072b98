import { codePoints, compareKey } from '../../platform/text.ts'

// The characters that FTS5's unicode61 tokenizer treats as part of a word, and combining marks.
const words = /[\p{L}\p{N}\p{Co}\p{M}]+/gu
const letter = /[\p{L}\p{N}\p{Co}]/u
/** A word with one of these signs is matched literally: a search for 100% does not match 100. */
const sign = /[%_]/

// More terms would only narrow the result, and a search with many terms blocks the event loop for all other requests.
const maxWords = 8
const maxLiterals = 8
/** A single letter is the prefix of many words, so it is slow and selects little: it counts only among the first three words. */
const maxWordsWithLetters = 3

export type Search = {
  /** An FTS5 query: every word must be the prefix of a word of the product. Undefined without words. */
  words: string | undefined
  /** Texts that the product must contain literally, ignoring case, in the form of `compareKey`. */
  literals: string[]
  /** The longest part of each literal that consists of digits and signs. */
  caseless: string[]
}

/**
 * Parses a buyer's search text. Each word is quoted, so that AND, NEAR or a quote have no special meaning in FTS5. A word
 * with a sign (`%`, `_`) is matched literally. A text with neither words nor signs finds nothing.
 *
 * In a long text the eight longest words count, and the eight longest literals. A single letter counts only if there are
 * fewer than three longer words. Ignored terms can only widen the result.
 */
export function parseSearch(text: string): Search {
  const pieces = text.normalize('NFC').split(/\s+/)
  const signed = pieces.filter((piece) => sign.test(piece))
  const literals = longestFirst(signed, compareKey, (longer, shorter) => longer.includes(shorter))
  const plain = pieces.filter((piece) => !sign.test(piece)).join(' ')
  const lettered = (plain.match(words) ?? []).filter((word) => letter.test(word))
  const found = longestFirst(lettered, folded, (longer, shorter) => longer.startsWith(shorter))
    .filter(([key], index) => index < (codePoints(key) === 1 ? maxWordsWithLetters : maxWords))
    .map(([, word]) => `"${word}"*`)
  const compared = literals.slice(0, maxLiterals).map(([key]) => key)
  return {
    words: found.length === 0 ? undefined : found.join(' AND '),
    literals: compared,
    caseless: [...new Set(compared.map(longestCaseless))]
  }
}

function longestCaseless(literal: string): string {
  return (literal.match(/[0-9%_]+/g) ?? []).reduce((longest, run) => (run.length > longest.length ? run : longest), '')
}

/** The terms by their keys, longest first, without duplicates and without those that a longer term implies. */
function longestFirst(
  terms: readonly string[],
  keyOf: (word: string) => string,
  implies: (longer: string, shorter: string) => boolean
): [key: string, word: string][] {
  const byLength = [...new Map(terms.map((word) => [keyOf(word), word]))].toSorted(([a], [b]) => b.length - a.length)
  return byLength.filter(([key], index) => !byLength.slice(0, index).some(([longer]) => implies(longer, key)))
}

/** Lower case, without accents on Latin letters, as FTS5 compares words. */
function folded(word: string): string {
  const parts = word.toLowerCase().normalize('NFD')
  return parts.replace(/([a-z])[\u0300-\u036f]+/g, '$1').normalize('NFC')
}
