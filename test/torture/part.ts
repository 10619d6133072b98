import type { Packed } from '../support/packed.ts'
import type { Random } from './random.ts'

/** One kind of ill-treatment, with what has to hold through it. */
export type Part = {
  /** A word, by which it can be asked for alone. */
  name: string
  /** What it tries, in a line. */
  about: string
  run(trial: Trial): Promise<void>
}

/** What a part works with, and where it says what it tried and found. */
export type Trial = {
  /** All there is to try; otherwise the short form, which CI runs. */
  isFull: boolean
  /** The installed package: its processes are what is ill-treated. */
  packed: Packed
  /** All chance comes from here, so that a seed brings a run back. */
  random: Random
  /** Counts what was tried, by its name. */
  count(what: string, times?: number): void
  /** A promise that was broken: what was done, what was expected, what came. */
  violation(text: string): void
  /** A figure worth printing beside the counts (`memory after: 132 MB`). */
  figure(text: string): void
  /** Progress, for whoever watches; nothing of it is kept. */
  progress(line: string): void
}

/** Thrown by a part that this machine cannot run, with what it lacks; it is counted neither as passed nor as failed. */
export class NotSupported extends Error {
  override name = 'NotSupported'
}
