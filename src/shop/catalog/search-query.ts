import { codePoints, compareKey } from '../../platform/text.ts'

// What FTS5's unicode61 takes for part of a word, and the marks that its accents are made of.
const words = /[\p{L}\p{N}\p{Co}\p{M}]+/gu
const letter = /[\p{L}\p{N}\p{Co}]/u
/** Signs that mean themselves where they stand: a search for 100% is not one for 100. */
const sign = /[%_]/

// What a search asks for beyond these only narrows it further, and would cost all other requests their time.
const mostWords = 8
const mostLiterals = 8
/** A single letter begins a good part of all words: it costs most and tells least. */
const wordsWithLetters = 3

export type Search = {
  /** An FTS5 query: every word must be the beginning of a word of the product. Undefined when no word was typed. */
  words: string | undefined
  /** What must stand in the product just so, but for the case of its letters: compareKey's spelling. */
  literals: string[]
}

/**
 * What a person typed, as what is asked of the products. Each word is quoted, so that AND, NEAR or a lone quote mean
 * nothing more; one with a sign in it is looked for as it is. What holds neither finds nothing.
 *
 * Of a long text the eight longest words count, and as many with a sign; a single letter only while there are fewer than
 * three other words. What is left out can only make it find more.
 */
export function parseSearch(typed: string): Search {
  const pieces = typed.normalize('NFC').split(/\s+/)
  const signed = pieces.filter((piece) => sign.test(piece))
  const literals = longestFirst(signed, compareKey, (longer, shorter) => longer.includes(shorter))
  const plain = pieces.filter((piece) => !sign.test(piece)).join(' ')
  const lettered = (plain.match(words) ?? []).filter((word) => letter.test(word))
  const found = longestFirst(lettered, folded, (longer, shorter) => longer.startsWith(shorter))
    .filter(([key], index) => index < (codePoints(key) === 1 ? wordsWithLetters : mostWords))
    .map(([, word]) => `"${word}"*`)
  return {
    words: found.length === 0 ? undefined : found.join(' AND '),
    literals: literals.slice(0, mostLiterals).map(([key]) => key)
  }
}

/** The words by their keys, each once and without those that a longer one implies. */
function longestFirst(
  asked: readonly string[],
  keyOf: (word: string) => string,
  implies: (longer: string, shorter: string) => boolean
): [key: string, word: string][] {
  const byLength = [...new Map(asked.map((word) => [keyOf(word), word]))].toSorted(([a], [b]) => b.length - a.length)
  return byLength.filter(([key], index) => !byLength.slice(0, index).some(([longer]) => implies(longer, key)))
}

/** In lower case and without the accents of Latin letters: FTS5 takes no notice of these either. */
function folded(word: string): string {
  const parts = word.toLowerCase().normalize('NFD')
  return parts.replace(/([a-z])[\u0300-\u036f]+/g, '$1').normalize('NFC')
}
