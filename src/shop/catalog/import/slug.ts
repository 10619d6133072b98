import { createHash } from 'node:crypto'
import { slugify } from '../../../platform/text.ts'

const slugLength = 100

/**
 * Makes a slug of at most 100 characters. The same text always gives the same slug. Text without Latin letters and digits
 * (for example in Japanese) becomes `item-` and a part of its hash.
 */
export function slugFor(text: string): string {
  const slug = slugify(text).slice(0, slugLength).replace(/-$/, '')
  return slug === '' ? `item-${fingerprint(text)}` : slug
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
