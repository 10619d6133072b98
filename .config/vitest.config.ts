import { defineConfig } from 'vitest/config'

/** What a contributor runs after each change: everything that needs no other process and no real waiting. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/processes/**', 'test/browser/**', '**/*.process.test.ts'],
    environment: 'node',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Failures and a summary; a dot for each test where a person watches.
    reporters: [process.stdout.isTTY ? 'dot' : 'minimal'],
    silent: 'passed-only',
    // Real servers, SQLite files and argon2 share the machine's cores.
    maxWorkers: 2
  }
})
