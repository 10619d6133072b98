import { existsSync, statSync } from 'node:fs'
import type { App } from '../../app.ts'
import { databaseFile } from '../../app.ts'
import { migrationStatus } from '../../platform/db/migrate.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import { isBusy, isDamage } from '../../platform/db/storage-errors.ts'
import { describeError } from '../../platform/log.ts'
import { failed, megabytes, ok, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

const largeWalBytes = 256 * 1024 * 1024
const restoreAdvice = 'Stop the server and run "shopstead backup restore FILE" with the newest backup.'

export const databaseChecks: readonly Check[] = [
  {
    name: 'database',
    run({ db, config }) {
      const verdict = db.sqlite.pragma('integrity_check(1)', { simple: true })
      if (verdict !== 'ok') return failed(`The database is damaged: ${String(verdict)}`, restoreAdvice)
      const orphans = db.sqlite.pragma('foreign_key_check')
      if (Array.isArray(orphans) && orphans.length > 0)
        return failed(`${orphans.length} rows point at rows that are not there.`, restoreAdvice)
      return ok(`Sound, ${megabytes(statSync(databaseFile(config)).size)}.`)
    }
  },
  {
    name: 'durability',
    run({ db }) {
      const journal = String(db.sqlite.pragma('journal_mode', { simple: true }))
      const synchronous = Number(db.sqlite.pragma('synchronous', { simple: true }))
      const foreignKeys = Number(db.sqlite.pragma('foreign_keys', { simple: true }))
      if (journal === 'wal' && synchronous === 2 && foreignKeys === 1)
        return ok('WAL, every commit is synced to the disk, foreign keys hold.')
      return failed(
        `journal_mode ${journal}, synchronous ${synchronous}, foreign_keys ${foreignKeys}.`,
        'Move the data folder to a local disk on which SQLite can lock files.'
      )
    }
  },
  { name: 'writes', run: checkWrites },
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
      if (bytes <= largeWalBytes) return ok(`${megabytes(bytes)}.`)
      return warning(
        `${megabytes(bytes)}, which is much.`,
        'A reader that never ends keeps it from being folded in: restart what has the database open.'
      )
    }
  }
]

/** Commits something that changes nothing: only that shows that an order could be. */
async function checkWrites({ db, config }: App): Promise<Finding> {
  try {
    await writeWhenFree(db, ({ sqlite }) => {
      sqlite.pragma(`user_version = ${Number(sqlite.pragma('user_version', { simple: true }))}`)
    })
    return ok('A change could be committed.')
  } catch (error) {
    if (isBusy(error))
      return failed(
        'Another process keeps the database to itself: no order can be taken.',
        `Let its import or migration end. "fuser -v ${databaseFile(config)}" names it.`
      )
    const advice = 'Make room on the disk, see that it is not read-only, and look at "dmesg" for its errors.'
    return failed(`No change can be committed: ${describeError(error)}.`, isDamage(error) ? restoreAdvice : advice)
  }
}
