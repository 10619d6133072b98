import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfig } from '../../src/platform/config/config.ts'
import { createPasswordHasher } from '../../src/platform/crypto/passwords.ts'
import { deriveKeys } from '../../src/platform/crypto/secrets.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { openRateLimiter } from '../../src/platform/limits.ts'
import { createLogger } from '../../src/platform/log.ts'
import { sandboxVies } from '../../src/sandbox/vies.ts'
import type { ShopContext } from '../../src/shop/context.ts'
import { createBeside, createMigratedDatabase } from './migrated-database.ts'
import { lowestCost } from './password-cost.ts'

export type TestClock = { now(): number; set(epochMs: number): void; advance(ms: number): void }

export type TestShop = ShopContext & {
  readonly clock: TestClock
  readonly dataDir: string
  [Symbol.dispose](): void
}

/** A clock that moves only when a test sets or advances it. */
export function testClock(start: number = Date.UTC(2026, 0, 15, 12)): TestClock {
  let time = start
  return {
    now: () => time,
    set: (epochMs) => void (time = epochMs),
    advance: (ms) => void (time += ms)
  }
}

/**
 * Opens a shop without a server: a migrated database on disk, the real hasher and limiter, and a clock that only the test
 * moves. `using shop = openTestShop()` closes it and deletes its files.
 */
export function openTestShop(env: Record<string, string> = {}): TestShop {
  const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-test-'))
  const config = parseConfig({ SHOPSTEAD_ENV: 'test', SHOPSTEAD_DATA_DIR: dataDir, SHOPSTEAD_LOG: 'silent', ...env })
  const file = join(dataDir, 'shopstead.db')
  createBeside(dataDir, ['limits.db'])
  createMigratedDatabase(file)
  const db = openDatabase(file)
  const limiter = openRateLimiter(join(dataDir, 'limits.db'))
  return {
    config,
    db,
    clock: testClock(),
    log: createLogger({ env: 'test', level: config.log }),
    keys: deriveKeys(config.secret ?? 'a secret for tests, of forty characters.'),
    passwords: createPasswordHasher({ cost: lowestCost }),
    limiter,
    cards: null,
    vies: sandboxVies,
    publicUrl: () => 'http://localhost:3000',
    dataDir,
    [Symbol.dispose]() {
      limiter.close()
      db.sqlite.close()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
}
