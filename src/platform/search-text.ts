import { compareKey } from './text.ts'

// How texts enter the search index of the catalog, and how a search text is compared with it. Migrations use these
// functions through SQL, so a change needs a migration that builds the index again.

const words = /[\p{L}\p{M}]+/gu
/** A sign that the tokenizer drops. A search for 100% must not find 100. */
const signs = /[%_]/
const signWindow = 24

/** Lower case, without accents on Latin letters, as FTS5's unicode61 tokenizer compares words. */
export function foldWord(word: string): string {
  // NFC also composes what lower case decomposes, such as the Turkish İ.
  const parts = word.toLowerCase().normalize('NFD')
  return parts.replace(/([a-z])[\u0300-\u036f]+/g, '$1').normalize('NFC')
}

const spelledOut: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'oe',
  å: 'aa'
}
const ligatures = /[ßæœ]/g
const spelled = /[äöüßæœøå]/g
const spellOut = (word: string, letters: RegExp): string =>
  word.replaceAll(letters, (letter) => spelledOut[letter] ?? letter)

/**
 * The other spellings of a word in lower case: `strasse` for Straße, `mueller` for Müller. FTS5 itself compares a letter
 * with the same letter without its accent.
 */
export function otherSpellings(word: string): string[] {
  const lower = word.normalize('NFC').toLowerCase()
  const spellings = [spellOut(lower, spelled), spellOut(lower, ligatures), lower.replaceAll('ø', 'o')]
  return [...new Set(spellings)].filter((spelling) => spelling !== lower)
}

/** A text with the other spellings of its words, for the index. */
export function searchableText(text: string): string {
  const found = (text.normalize('NFC').match(words) ?? []).flatMap(otherSpellings)
  return [text, ...new Set(found)].join(' ')
}

/** A word from its end to its beginning, so that an index finds the words that end in another one. */
export function reversed(word: string): string {
  return Array.from(word).toReversed().join('')
}

/**
 * The words of a text that a search corrects typing mistakes to, folded and without duplicates: 4 to 40 letters, no
 * digits, because 100 is not a mistake for 101.
 */
export function spellingWords(text: string): string[] {
  const found = (text.normalize('NFC').match(words) ?? []).filter(({ length }) => length >= 4 && length <= 40)
  return [...new Set(found.map(foldWord))]
}

/**
 * Private-use characters that start the tokens of the index which are not words of a text. A search text cannot contain
 * them (`parseSearch`), so such a token needs no column of its own, which would slow down every search for a word.
 */
export const tokenMarks = { key: '\u{E000}', sign: '\u{E001}', labelSign: '\u{E002}' } as const

/**
 * Tokens that make the signs `%` and `_` searchable: for each character of a word with a sign, the text from there on, at
 * most 24 characters and only if a sign is among them, as hexadecimal UTF-8. A text that contains `l` with a sign has a
 * token that starts with `signTokens(l)[0]`.
 */
export function signTokens(text: string): string[] {
  const tokens = new Set<string>()
  for (const piece of compareKey(text).split(/\s+/)) {
    if (!signs.test(piece)) continue
    const characters = Array.from(piece)
    let nextSign = -1
    for (let start = characters.length - 1; start >= 0; start -= 1) {
      if (signs.test(characters[start] ?? '')) nextSign = start
      if (nextSign === -1 || nextSign - start >= signWindow) continue
      tokens.add(hex(characters.slice(start, start + signWindow)))
    }
  }
  return [...tokens].toReversed()
}

/** The beginnings of sign tokens that a text with this literal has: a window of 24 characters around each of its signs. */
export function signPrefixes(literal: string): string[] {
  const characters = Array.from(compareKey(literal))
  const prefixes: string[] = []
  let covered = 0
  for (const [at, character] of characters.entries()) {
    if (!signs.test(character) || at < covered) continue
    const start = Math.max(0, Math.min(at - signWindow / 2, characters.length - signWindow))
    covered = start + signWindow
    prefixes.push(hex(characters.slice(start, covered)))
  }
  return prefixes
}

/** Whether a text contains a sign that only literal comparison finds. */
export function hasSign(text: string): boolean {
  return signs.test(text)
}

function hex(characters: readonly string[]): string {
  return Buffer.from(characters.join('')).toString('hex')
}
