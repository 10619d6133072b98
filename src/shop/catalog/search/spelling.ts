import type { Db } from '../../../platform/db/database.ts'
import { rawStatement } from '../../../platform/db/statements.ts'
import { codePoints } from '../../../platform/text.ts'

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
