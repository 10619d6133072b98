import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'
import { defineConfig } from 'vitest/config'

/** The files that take longest for their size, which is what vitest goes by without an earlier run. */
const longest = [
  'kinds/added-value',
  'platform/db/query-plans',
  'docs/snippets',
  'mutants/mutants',
  'cli/seed',
  'faults/year'
]

/** Begins with the files that take longest, so that no worker waits for one of them at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      longest.some((name) => moduleId.endsWith(`test/${name}.test.ts`))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

/** The tests that a contributor runs after each change: they start no other process and do not wait in real time. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/processes/**', 'test/browser/**', '**/*.process.test.ts'],
    environment: 'node',
    // Files of one worker share its modules: each starts half a second sooner. No test leaves anything in them.
    isolate: false,
    globalSetup: ['test/support/migrated-database.ts', 'test/support/bystanders/prepare.ts'],
    setupFiles: ['test/support/bystanders/setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A busy machine takes more than the second that vitest waits otherwise.
    expect: { poll: { timeout: 15_000 } },
    // Failures and a summary, with a dot for each test on a terminal.
    reporters: [process.stdout.isTTY ? 'dot' : 'minimal'],
    silent: 'passed-only',
    sequence: { sequencer: LongestFirst },
    // For two cores: the tests wait for the disk, for emails and for timers half of their time.
    maxWorkers: 4
  }
})
