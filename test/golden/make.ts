/**
 * Makes the golden database of the current schema version: the demo shop, and a row in each table that it leaves empty.
 * Run it once for each new migration, before anything else changes: node test/golden/make.ts. An existing golden database
 * never changes; it stands for the shops that run on that version.
 */
import crypto from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { fillEmptyTables } from './fill-empty-tables.ts'

const moment = Date.UTC(2026, 10, 20, 12)

/** Chance and time are fixed before the shop's code is loaded, so that every run makes the same rows. */
function fixChance(): void {
  let drawn = 0
  const bytes = (size: number): Buffer => {
    drawn += 1
    return Buffer.from(crypto.hkdfSync('sha256', `golden ${drawn}`, '', '', size))
  }
  Object.assign(crypto, {
    randomBytes: bytes,
    randomFillSync: (buffer: Buffer) => bytes(buffer.length).copy(buffer),
    randomInt: (from: number, to?: number) => {
      const [low, high] = to === undefined ? [0, from] : [from, to]
      return low + (bytes(6).readUIntBE(0, 6) % (high - low))
    },
    randomUUID: () =>
      bytes(16)
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  })
  Date.now = () => moment
  Math.random = () => bytes(4).readUInt32BE() / 2 ** 32
  syncBuiltinESMExports()
}

async function makeGolden(): Promise<string> {
  const { createApp } = await import('../../src/app.ts')
  const { seedDemo } = await import('../../src/operations/seeding/demo.ts')
  const { parseConfig } = await import('../../src/platform/config/config.ts')
  const { migrateDatabase } = await import('../../src/platform/db/migrate.ts')
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-golden-'))
  try {
    const config = parseConfig({
      SHOPSTEAD_ENV: 'test',
      SHOPSTEAD_DATA_DIR: folder,
      SHOPSTEAD_SECRET: 'the golden secret, of forty-one letters.'
    })
    const app = createApp(config, { database: 'create' }, { clock: { now: () => moment } })
    const { version } = migrateDatabase(app.db)
    const file = join(import.meta.dirname, `${version}.db.gz`)
    if (existsSync(file)) throw new Error(`${file} is there already, and is not made again.`)
    const passwords = { ...app.passwords, hash: async () => '$argon2id$v=19$m=19456,t=2,p=1$Z29sZGVu$Z29sZGVu' }
    await seedDemo({ ...app, passwords }, moment)
    fillEmptyTables(app.db.sqlite, moment)
    const copy = join(folder, 'golden.db')
    app.db.sqlite.prepare('VACUUM INTO ?').run(copy)
    app.close()
    toRollbackMode(copy)
    writeFileSync(file, gzipSync(readFileSync(copy), { level: 9 }))
    return file
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function toRollbackMode(file: string): void {
  const sqlite = new Database(file)
  sqlite.pragma('journal_mode = DELETE')
  sqlite.close()
}

fixChance()
process.stdout.write(`${await makeGolden()}\n`)
