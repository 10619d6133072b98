import type { Packed } from '../support/packed.ts'
import type { Random } from './random.ts'

/** One kind of ill-treatment, with what has to hold through it. */
export type Part = {
  /** A word, by which it can be asked for alone. */
  name: string
  /** What it tries, in a line. */
  about: string
  run(field: Field): Promise<void>
}

/** What a part works with, and where it says what it tried and found. */
export type Field = {
  /** All there is to try; otherwise the short form, which CI runs. */
  isWhole: boolean
  /** The installed package: its processes are what is ill-treated. */
  packed: Packed
  /** All chance comes from here, so that a seed brings a run back. */
  random: Random
  /** Counts what was tried, by its name. */
  tried(what: string, times?: number): void
  /** A promise that was broken: what was done, what was expected, what came. */
  violation(text: string): void
  /** A figure worth printing beside the counts (`memory after: 132 MB`). */
  figure(text: string): void
  /** Progress, for whoever watches; nothing of it is kept. */
  tell(line: string): void
}

/** Thrown by a part that this machine cannot run, with what it lacks; it is counted neither as passed nor as failed. */
export class NotHere extends Error {
  override name = 'NotHere'
}
