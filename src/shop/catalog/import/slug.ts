import { createHash } from 'node:crypto'
import { trimEndOf, trimStartOf } from '../../../platform/text.ts'
import { wordPressSlug } from './wordpress-slug.ts'

const slugLength = 100

/**
 * Makes a slug of at most 100 characters, as WordPress does: `Mother's Day` is `mothers-day`, and `groß` is `gros`, or
 * `gross` in German. The same
 * text always gives the same slug. Letters of other scripts are left out, and text without Latin letters and digits (for
 * example in Japanese) becomes `item-` and a part of its hash.
 */
export function slugFor(text: string, language = 'en'): string {
  const ascii = wordPressSlug(text.normalize('NFC').replaceAll(/\p{Script=Latin}/gu, known), language)
    .replaceAll(/%[0-9a-f]{2}/g, '')
    .replaceAll(/[_-]+/g, '-')
  const slug = trimEndOf(trimStartOf(ascii, '-').slice(0, slugLength), '-')
  return slug === '' ? `item-${fingerprint(text)}` : slug
}

/** A Latin letter that WordPress has no letters for, without its accents and in its usual form. */
function known(letter: string): string {
  return wordPressSlug(letter).startsWith('%') ? letter.normalize('NFKD').replaceAll(/\p{M}/gu, '') : letter
}

/** Makes names unique within a file: a name that is taken gets a part of the hash of `identity` as a suffix. */
export class UniqueNames {
  readonly #taken = new Set<string>()
  readonly #rounds = new Map<string, number>()

  /** Reserves `base`, or a variant of it. The same file always gives the same names. */
  take(base: string, identity: string): string {
    let name = base
    while (this.#taken.has(name)) {
      const round = this.#rounds.get(identity) ?? 0
      this.#rounds.set(identity, round + 1)
      name = `${base}-${fingerprint(round === 0 ? identity : `${identity} ${round}`)}`
    }
    this.#taken.add(name)
    return name
  }
}

function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}
