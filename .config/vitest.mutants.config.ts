import { readFileSync } from 'node:fs'
import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'
import base from './vitest.config.ts'

/** The test files of this run, those first that find a fault soonest. */
const files = JSON.parse(readFileSync(process.env.MUTANTS_FILES ?? '/dev/null', 'utf8')) as string[]

class InOrder extends BaseSequencer {
  override sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => files.findIndex((file) => moduleId.endsWith(file))
    return Promise.resolve(specifications.toSorted((one, other) => place(one) - place(other)))
  }
}

/** The fast tests, in a copy of the project that `npm run test:mutants` writes. */
export default {
  test: {
    ...base.test,
    include: files,
    // First of all: it switches the mutant on.
    setupFiles: ['test/mutants/setup.ts', ...[base.test?.setupFiles ?? []].flat()],
    reporters: ['test/mutants/reporter.ts'],
    sequence: { sequencer: InOrder },
    ...(process.env.MUTANT === undefined ? { maxWorkers: 2 } : { maxWorkers: 1, bail: 1 })
  }
}
