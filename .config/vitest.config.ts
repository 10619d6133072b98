import { defineConfig } from 'vitest/config'

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
    // For two cores: the tests wait for the disk a third of their time.
    maxWorkers: 3
  }
})
