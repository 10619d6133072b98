import type { Packed } from '../support/packed.ts'
import type { Random } from './random.ts'

/** One stress test of the package, with the promises that must hold during it. */
export type Part = {
  /** Its name on the command line. */
  name: string
  /** A description in one line. */
  about: string
  run(trial: Trial): Promise<void>
}

/** One run of a part: what it works with, and where it reports its results. */
export type Trial = {
  /** True for the full form, false for the short form that CI runs. */
  isFull: boolean
  /** The installed package, whose processes are tested. */
  packed: Packed
  /** Only the pieces of work whose name contains this text are wanted; all when it is empty. */
  only: string
  /** The only source of random numbers, so that a seed repeats a run. */
  random: Random
  /** Adds to the count of an action, which is printed. */
  count(what: string, times?: number): void
  /** Reports a broken promise: the action, the expected result and the actual one. */
  violation(text: string): void
  /** Reports a measurement, such as `memory after: 132 MB`. */
  figure(text: string): void
  /** Prints progress to standard error. */
  progress(line: string): void
}

/** Thrown by a part that this machine cannot run, with the missing requirement. The part is skipped. */
export class NotSupported extends Error {
  override name = 'NotSupported'
}
