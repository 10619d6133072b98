import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**'],
    environment: 'node',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Real servers, SQLite files and argon2 share the machine's cores.
    maxWorkers: 2
  }
})
