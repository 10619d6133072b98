import { expect } from 'vitest'
import type { CheckResult, CheckStatus } from '../../../src/operations/diagnosis/check.ts'
import { follow } from './broken-shop.ts'
import type { BrokenShop } from './broken-shop.ts'

/** Something that is broken, the check that must find it, and how its advice is followed. */
export type Break = {
  /** Completes the sentence "health names …". */
  what: string
  break: (world: BrokenShop) => void | Promise<void>
  check: string
  status: CheckStatus
  message: RegExp
  advice: RegExp
  repair: (world: BrokenShop, found: CheckResult) => void | Promise<void>
}

/** Runs the commands that the advice names; at least one. */
export const byCommand = async (world: BrokenShop, { advice }: CheckResult): Promise<void> => {
  expect(await follow(world, advice)).not.toEqual([])
}

/** Corrects the configuration: the result names the variable. */
export const byVariable =
  (name: string) =>
  (world: BrokenShop, { message, advice }: CheckResult): void => {
    expect(message + advice).toContain(name)
    world.env = { ...world.soundEnv }
  }

/** Changes the configuration. */
export const set = (changes: Record<string, string>) => (world: BrokenShop) => {
  world.env = { ...world.soundEnv, ...changes }
}

/** Leaves a variable out of the configuration. */
export const unset = (name: string) => (world: BrokenShop) => {
  world.env = Object.fromEntries(Object.entries(world.soundEnv).filter(([key]) => key !== name))
}
