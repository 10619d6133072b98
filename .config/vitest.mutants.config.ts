import { defineConfig } from 'vitest/config'
import { lastingPool } from './mutants/lasting-worker.ts'
import { NearFirst } from './mutants/near-first.ts'

/**
 * The tests that Stryker runs against each mutant: those of the mutated folders and of the code that uses them. All run
 * in the runner's process, because a test that starts a process would not see the mutant. Slow tests that flood the shop
 * are excluded, because they would run for thousands of mutants.
 */
export default defineConfig({
  plugins: [
    {
      name: 'lasting-pool',
      configureVitest({ project }) {
        // Stryker recognises vitest's pools only by name.
        Object.assign(project.config, { pool: lastingPool.name, poolRunner: lastingPool, isolate: false })
      }
    }
  ],
  test: {
    // MUTANTS_TESTS selects other tests, for a run over a file or two: MUTANTS_TESTS='test/shop/payments/*.test.ts'
    include: process.env.MUTANTS_TESTS?.split(' ') ?? [
      'test/shop/{accounts,affiliates,checkout,orders,payments}/**/*.test.ts',
      'test/api/{checkout,checkout-*,nonce,sessions,session-cookie,identity,cross-site,affiliates}.test.ts',
      'test/platform/http/{cookies,csrf,cross-site}.test.ts'
    ],
    exclude: ['test/shop/accounts/login.test.ts'],
    setupFiles: ['.config/mutants/no-mutant-yet.ts'],
    sequence: { sequencer: NearFirst },
    environment: 'node',
    globalSetup: ['test/support/migrated-database.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
