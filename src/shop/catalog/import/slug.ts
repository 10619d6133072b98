import { createHash } from 'node:crypto'
import { slugify } from '../../../platform/text.ts'

export const slugPattern = /^[a-z0-9]+(?:[-_]+[a-z0-9]+)*$/
const slugLength = 100

/**
 * The same text always makes the same slug, at most 100 long. Text without a Latin letter or digit (say, in Japanese)
 * becomes `item-` and a part of its hash.
 */
export function slugFor(text: string): string {
  const slug = slugify(text).slice(0, slugLength).replace(/-$/, '')
  return slug === '' ? `item-${fingerprint(text)}` : slug
}

/** Hands out names that are unique within a file; a second taker gets a part of its own identity's hash behind it. */
export class UniqueNames {
  readonly #taken = new Set<string>()
  readonly #rounds = new Map<string, number>()

  take(wanted: string, identity: string): string {
    let name = wanted
    while (this.#taken.has(name)) {
      const round = this.#rounds.get(identity) ?? 0
      this.#rounds.set(identity, round + 1)
      name = `${wanted}-${fingerprint(round === 0 ? identity : `${identity} ${round}`)}`
    }
    this.#taken.add(name)
    return name
  }
}

function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}
