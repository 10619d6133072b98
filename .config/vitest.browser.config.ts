import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    environment: 'node',
    globalSetup: ['test/support/migrated-database.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A busy machine takes more than the second that vitest waits otherwise.
    expect: { poll: { timeout: 15_000 } },
    reporters: [process.stdout.isTTY ? 'dot' : 'minimal'],
    silent: 'passed-only',
    // Each file starts its own shop and browser.
    maxWorkers: 2
  }
})
