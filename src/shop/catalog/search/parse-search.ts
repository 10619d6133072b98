import { foldWord, hasSign, signPrefixes } from '../../../platform/search-text.ts'
import { codePoints, compareKey } from '../../../platform/text.ts'

// The characters that FTS5's unicode61 tokenizer treats as part of a word, and combining marks. Private-use characters are
// left out: they start the tokens of the index that are not words.
const words = /[\p{L}\p{N}\p{M}]+/gu
const letter = /[\p{L}\p{N}]/u

// More terms would only narrow the result, and a search with many terms blocks the event loop for all other requests.
const maxWords = 8
const maxLiterals = 8
/** Short words are the prefixes of many words, so they are slow and select little: they count only among the first three. */
const maxWordsWithShort = 3
const shortWord = 2

export type Search = {
  /** Each must be the prefix of a word of the product. They contain no sign of FTS5's query syntax. */
  words: string[]
  /** Prefixes of sign tokens that the product must have. */
  signs: string[]
}

/**
 * Parses a buyer's search text. A word with a sign (`%`, `_`) is matched literally. A text with neither words nor signs
 * finds nothing.
 *
 * In a long text the eight longest words count, and the eight longest literals. A word of one or two letters counts only
 * if there are fewer than three longer words. Ignored terms can only widen the result.
 */
export function parseSearch(text: string): Search {
  const pieces = text.normalize('NFC').split(/\s+/)
  const literals = longestFirst(pieces.filter(hasSign), compareKey, (longer, shorter) => longer.includes(shorter))
  const plain = pieces.filter((piece) => !hasSign(piece)).join(' ')
  const lettered = (plain.match(words) ?? []).filter((word) => letter.test(word))
  return {
    words: longestFirst(lettered, foldWord, (longer, shorter) => longer.startsWith(shorter))
      .filter(([key], index) => index < (codePoints(key) <= shortWord ? maxWordsWithShort : maxWords))
      .map(([, word]) => word),
    // A literal with several signs has several prefixes.
    signs: literals.flatMap(([, literal]) => signPrefixes(literal)).slice(0, maxLiterals)
  }
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
