import { existsSync, statSync } from 'node:fs'
import { databaseFile } from '../../app.ts'
import { migrationStatus } from '../../platform/db/migrate.ts'
import { failed, ok, warning } from './check.ts'
import type { Check } from './check.ts'

const largeWalBytes = 256 * 1024 * 1024

export const databaseChecks: readonly Check[] = [
  {
    name: 'database',
    run({ db, config }) {
      const verdict = db.sqlite.pragma('integrity_check(1)', { simple: true })
      if (verdict !== 'ok')
        return failed(`The database is damaged: ${String(verdict)}`, 'Stop the server and restore the newest backup.')
      const orphans = db.sqlite.pragma('foreign_key_check')
      if (Array.isArray(orphans) && orphans.length > 0) {
        return failed(
          `${orphans.length} rows point at rows that are not there.`,
          'Restore the newest backup, or report this.'
        )
      }
      return ok(`Sound, ${megabytes(statSync(databaseFile(config)).size)}.`)
    }
  },
  {
    name: 'durability',
    run({ db }) {
      const journal = db.sqlite.pragma('journal_mode', { simple: true })
      const synchronous = db.sqlite.pragma('synchronous', { simple: true })
      if (journal === 'wal' && synchronous === 2) return ok('WAL, every commit is synced to the disk.')
      return failed(
        `journal_mode ${String(journal)}, synchronous ${String(synchronous)}.`,
        'Move the data folder to a local disk that SQLite can lock.'
      )
    }
  },
  {
    name: 'migrations',
    run({ db }) {
      const { version, pending, newer } = migrationStatus(db)
      if (newer) return failed('The database is newer than this program.', 'Install the newer Shopstead again.')
      if (pending.length > 0) return failed(`${pending.length} pending.`, 'Run "shopstead migrate".')
      return ok(`At ${version ?? 'nothing'}.`)
    }
  },
  {
    name: 'write-ahead log',
    run({ config }) {
      const file = `${databaseFile(config)}-wal`
      const bytes = existsSync(file) ? statSync(file).size : 0
      if (bytes <= largeWalBytes) return ok(megabytes(bytes))
      return warning(
        `${megabytes(bytes)} and growing.`,
        'A long-running reader keeps it from being folded in: restart what holds the database open.'
      )
    }
  }
]

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
