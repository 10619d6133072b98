import { foldWord, hasSign, reversed, signPrefixes } from '../../../platform/search-text.ts'
import { codePoints, compareKey } from '../../../platform/text.ts'
import type { Db } from '../../../platform/db/database.ts'
import { rawStatement } from '../../../platform/db/database.ts'

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

const shortestForgiven = 5
const longestForgiven = 40
/** Alphabets have fewer letters. A catalog in Chinese has thousands of first characters, and a lookup for each is slow. */
const maxLetters = 64
const maxSpellings = 24
const last = '\u{10FFFF}'

const wordFrom = rawStatement<[string], string>('SELECT word FROM search_words WHERE word >= ? ORDER BY word LIMIT 1')

/**
 * The texts with one typing mistake less with which a word of the catalog starts: a letter too many, missing, wrong, or
 * swapped with the next one. Empty for a word of fewer than five letters or with a digit.
 *
 * @param word folded
 */
export function spellingsOf(db: Db, word: string): string[] {
  const length = codePoints(word)
  if (length < shortestForgiven || length > longestForgiven || /\p{N}/u.test(word)) return []
  const letters = Array.from(word)
  const from = (start: number): string => letters.slice(start).join('')
  const isBeginning = (text: string): boolean => firstWord(db, text)?.startsWith(text) === true
  const found = new Set<string>()
  for (const [at, letter] of letters.entries()) {
    const before = letters.slice(0, at).join('')
    if (!isBeginning(before)) break
    const candidates = [
      before + from(at + 1),
      before + (letters[at + 1] ?? '') + letter + from(at + 2),
      ...lettersAfter(db, before).flatMap((other) => [before + other + from(at + 1), before + other + from(at)])
    ]
    for (const text of candidates) if (text !== word && !found.has(text) && isBeginning(text)) found.add(text)
    if (found.size >= maxSpellings) break
  }
  return [...found].slice(0, maxSpellings)
}

/** The endings of a German or English word that a search does not have to name. */
const endings = ['', 'n', 'en', 'e', 's', 'er', 'es']
const shortestPart = 4
const shortestHead = 3
const maxCompounds = 24
const wordsEndingIn = rawStatement<{ from: string; to: string; limit: number }, string>(
  'SELECT word FROM search_words WHERE reversed >= @from AND reversed < @to ORDER BY reversed LIMIT @limit'
)

/**
 * The compounds of the catalog whose last part is a word: `großpackung` for `packung`, `tealight` for `light`. Empty for a
 * word of fewer than four letters.
 *
 * @param word folded
 */
export function compoundsOf(db: Db, word: string): string[] {
  if (codePoints(word) < shortestPart || /\p{N}/u.test(word)) return []
  const found = endings.flatMap((ending) => {
    const from = reversed(word + ending)
    return wordsEndingIn(db)
      .pluck()
      .all({ from, to: from + last, limit: maxCompounds })
      .filter((compound) => codePoints(compound) >= codePoints(word + ending) + shortestHead)
  })
  return [...new Set(found)].slice(0, maxCompounds)
}

/** The letters that follow a beginning in the words of the catalog. */
function lettersAfter(db: Db, beginning: string): string[] {
  const letters: string[] = []
  let next = beginning + '\u0001'
  while (letters.length < maxLetters) {
    const word = firstWord(db, next)
    if (word?.startsWith(beginning) !== true) break
    const [letter = ''] = word.slice(beginning.length)
    letters.push(letter)
    next = beginning + letter + last
  }
  return letters
}

/** The first word of the catalog at or after a text. */
function firstWord(db: Db, text: string): string | undefined {
  return wordFrom(db).pluck().get(text)
}
