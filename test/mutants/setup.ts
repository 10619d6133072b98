import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'

declare global {
  var isMutant: ((id: number) => boolean) | undefined
}

/** A line of the coverage: the mutants that a test file ran. */
export type Reached = { file: string; ms: number; inTests: number[]; around: number[] }

// Without a MUTANT every mutant is off, and each test file records those that it runs.
const { MUTANT, MUTANTS_REACHED } = process.env
const active = Number(MUTANT ?? 0)
const inTests = new Set<number>()
const around = new Set<number>()
let now = around

globalThis.isMutant =
  active > 0
    ? (id) => id === active
    : (id) => {
        now.add(id)
        return false
      }

if (MUTANTS_REACHED !== undefined) {
  const started = Date.now()
  beforeAll(() => void (now = around))
  beforeEach(() => void (now = inTests))
  afterEach(() => void (now = around))
  afterAll(() => {
    const file = relative('.', expect.getState().testPath ?? '')
    const reached: Reached = { file, ms: Date.now() - started, inTests: [...inTests], around: [...around] }
    appendFileSync(MUTANTS_REACHED, `${JSON.stringify(reached)}\n`)
  })
}
