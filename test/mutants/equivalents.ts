import type { Possible } from './possible.ts'

/** A mutant that changes nothing that anyone can see, with the reason. It is identified by its text, not its line. */
export type Equivalent = Pick<Possible, 'file' | 'kind' | 'before' | 'after'> & { reason: string }

export const equivalents: readonly Equivalent[] = [
  {
    file: 'src/platform/money.ts',
    kind: 'call',
    before: 'formats.set(`${language} ${currency}`, format)',
    after: '',
    reason: 'keeps the format of a currency, which the next call would make again'
  }
]

/** Whether a mutant is in the list of accepted ones. */
export function isEquivalent({ file, kind, before, after }: Possible): boolean {
  return equivalents.some(
    (other) => other.file === file && other.kind === kind && other.before === before && other.after === after
  )
}
