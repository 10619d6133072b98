import { defineConfig } from 'vitest/config'

/** The tests that start, kill or wait for processes. */
export default defineConfig({
  test: {
    include: ['test/processes/**/*.test.ts', 'test/**/*.process.test.ts'],
    environment: 'node',
    globalSetup: ['test/support/migrated-database.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // A busy machine takes more than the second that vitest waits otherwise.
    expect: { poll: { timeout: 15_000 } },
    // Failures and a summary, with a dot for each test on a terminal.
    reporters: [process.stdout.isTTY ? 'dot' : 'minimal'],
    silent: 'passed-only',
    maxWorkers: 2
  }
})
