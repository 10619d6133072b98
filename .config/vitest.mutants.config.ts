import { defineConfig } from 'vitest/config'
import { lastingPool } from './mutants/lasting-worker.ts'
import { NearFirst } from './mutants/near-first.ts'

/**
 * The tests that Stryker runs against each mutant: those of the mutated folders and of what stands on them, all in the
 * process of the runner. A test that starts a process would never meet the mutant; one that floods the shop would be
 * repeated for thousands of them.
 */
export default defineConfig({
  plugins: [
    {
      name: 'lasting-pool',
      configureVitest({ project }) {
        // Stryker knows the pools of vitest by their names only.
        Object.assign(project.config, { pool: lastingPool.name, poolRunner: lastingPool, isolate: false })
      }
    }
  ],
  test: {
    // A narrower choice, for a run over a file or two: MUTANTS_TESTS='test/shop/payments/*.test.ts'
    include: process.env.MUTANTS_TESTS?.split(' ') ?? [
      'test/shop/{accounts,affiliates,checkout,orders,payments}/**/*.test.ts',
      'test/api/{checkout,checkout-*,nonce,sessions,session-cookie,identity,cross-site,affiliates}.test.ts',
      'test/platform/http/{cookies,csrf,cross-site}.test.ts'
    ],
    exclude: ['test/shop/accounts/login.test.ts'],
    setupFiles: ['.config/mutants/no-mutant-yet.ts'],
    sequence: { sequencer: NearFirst },
    environment: 'node',
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
