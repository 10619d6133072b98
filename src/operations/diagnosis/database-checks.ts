import { existsSync, statSync } from 'node:fs'
import type { App } from '../../app.ts'
import { databaseFile } from '../../app.ts'
import { migrationStatus, otherPrograms } from '../../platform/db/migrate.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import { isBusy, isDamage } from '../../platform/db/storage-errors.ts'
import { shopIdOf } from '../../platform/db/database-id.ts'
import { findOtherShop, missingShopAdvice } from '../../platform/shop-id.ts'
import { describeError } from '../../platform/log.ts'
import { failed, megabytes, ok, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

/** Reading a database takes 12 s for each gigabyte, and the report should not take longer than the operator waits. */
const quicklyReadBytes = 100 * 1024 * 1024
const largeWalBytes = 256 * 1024 * 1024
const restoreAdvice = 'Stop the server and run "shopstead backup restore FILE" with the newest backup.'

/** Reads all of the database, or of a large one only that it opens: each backup reads all of it, too. */
export const databaseCheck = ({ isDeep }: { isDeep: boolean }): Check => ({
  name: 'database',
  run({ db, config }) {
    const bytes = statSync(databaseFile(config)).size
    if (bytes > quicklyReadBytes && !isDeep)
      return ok(`Opens, ${megabytes(bytes)}. "shopstead health --deep" reads all of it, and so does each backup.`)
    const verdict = db.sqlite.pragma('integrity_check(1)', { simple: true })
    if (verdict !== 'ok') return failed(`The database is damaged: ${String(verdict)}`, restoreAdvice)
    const orphans = db.sqlite.pragma('foreign_key_check')
    if (Array.isArray(orphans) && orphans.length > 0)
      return failed(`${orphans.length} rows refer to rows that do not exist.`, restoreAdvice)
    return ok(`Intact, ${megabytes(bytes)}.`)
  }
})

export const databaseChecks: readonly Check[] = [
  {
    name: 'shop',
    run({ db, config }) {
      const id = shopIdOf(db)
      const other = findOtherShop(config, id)
      if (id === null) return failed('The database is empty: it has no shop.', missingShopAdvice(config))
      if (other === null) return ok(`The shop ${id}.`)
      return failed(
        `The database belongs to the shop ${id}, but ${other}.`,
        'Mount the right disk, or restore a backup of this shop: the server does not start with the database of another one.'
      )
    }
  },
  {
    name: 'durability',
    run({ db }) {
      const journal = String(db.sqlite.pragma('journal_mode', { simple: true }))
      const synchronous = Number(db.sqlite.pragma('synchronous', { simple: true }))
      const foreignKeys = Number(db.sqlite.pragma('foreign_keys', { simple: true }))
      if (journal === 'wal' && synchronous === 2 && foreignKeys === 1)
        return ok('WAL mode; every commit is synced to disk; foreign keys are enforced.')
      return failed(
        `journal_mode ${journal}, synchronous ${synchronous}, foreign_keys ${foreignKeys}.`,
        'Move the data folder to a local disk where SQLite can lock files.'
      )
    }
  },
  { name: 'writes', run: checkWrites },
  {
    name: 'migrations',
    run({ db }) {
      const { version, pending, other } = migrationStatus(db)
      if (other !== null) return failed(`${otherPrograms[other].problem}.`, otherPrograms[other].advice)
      if (pending.length > 0)
        return failed(`${pending.length} migrations are pending.`, 'Stop the server and run "shopstead migrate".')
      return ok(`Up to date (${version ?? 'no migrations'}).`)
    }
  },
  {
    name: 'write-ahead log',
    run({ config }) {
      const file = `${databaseFile(config)}-wal`
      const bytes = existsSync(file) ? statSync(file).size : 0
      if (bytes <= largeWalBytes) return ok(`${megabytes(bytes)}.`)
      return warning(
        `${megabytes(bytes)}, which is too large.`,
        'A long read blocks its checkpoint: restart the server and the programs that have the database open.'
      )
    }
  }
]

/** Commits a write that changes nothing: only a commit proves that the shop can store an order. */
async function checkWrites({ db, config }: App): Promise<Finding> {
  try {
    await writeWhenFree(db, ({ sqlite }) => {
      sqlite.pragma(`user_version = ${Number(sqlite.pragma('user_version', { simple: true }))}`)
    })
    return ok('The database accepts writes.')
  } catch (error) {
    if (isBusy(error))
      return failed(
        'Another process has locked the database: the shop cannot take orders.',
        `Wait for its import or migration to end. "fuser -v ${databaseFile(config)}" shows the process.`
      )
    const advice = /readonly|permission/i.test(describeError(error))
      ? 'Give the files to the user of the server (see "file owners"), and check that the disk is not mounted read-only.'
      : 'Free disk space, and look for disk errors in "dmesg".'
    return failed(`The database rejects writes: ${describeError(error)}.`, isDamage(error) ? restoreAdvice : advice)
  }
}
