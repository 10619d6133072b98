import { accessSync, constants, existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../platform/config/config.ts'
import { failed, megabytes, ok, warning } from './check.ts'
import type { Check } from './check.ts'

const fewBytesFree = 1024 ** 3
const tooFewBytesFree = 100 * 1024 ** 2

/** What can be looked at without opening the shop. */
export const folderChecks: readonly Check<Config>[] = [
  {
    name: 'data folder',
    run({ dataDir }) {
      if (!existsSync(dataDir))
        return failed(`There is no folder ${dataDir}.`, 'Name it with --data-dir, or make it with "shopstead migrate".')
      try {
        accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
        return ok(dataDir)
      } catch {
        return failed(
          `${dataDir} cannot be written.`,
          'Give it to the user that runs Shopstead (chown), or mount its disk writable.'
        )
      }
    }
  },
  {
    name: 'disk',
    run({ dataDir }) {
      const { bavail, bsize } = statfsSync(dataDir)
      const free = bavail * bsize
      const database = statSync(join(dataDir, 'shopstead.db'), { throwIfNoEntry: false })?.size ?? 0
      const message = `${free < 10 * fewBytesFree ? megabytes(free) : `${Math.round(free / 1024 ** 3)} GB`} free.`
      if (free < tooFewBytesFree) return failed(message, 'Make room now: on a full disk no order can be taken.')
      if (free < Math.max(fewBytesFree, 2 * database))
        return warning(message, 'Make room: a backup and its trial take twice what the database does.')
      return ok(message)
    }
  },
  {
    name: 'file modes',
    run({ dataDir }) {
      const open = privatePaths(dataDir).filter((path) => (statSync(path).mode & 0o077) !== 0)
      if (open.length === 0) return ok("Folder, secret key and backups are their owner's alone.")
      return warning(
        `Others may read: ${open.map((path) => path.slice(dataDir.length + 1) || '.').join(', ')}.`,
        `Run "chmod -R go= ${dataDir}".`
      )
    }
  },
  {
    name: 'secret',
    run({ secret, dataDir }) {
      if (secret !== null) return ok('From SHOPSTEAD_SECRET.')
      const file = join(dataDir, 'secret.key')
      if (!existsSync(file))
        return failed('There is no secret.key.', 'Restore it from a backup; without one, a start makes a new one.')
      if (readFileSync(file, 'utf8').trim().length < 32)
        return failed('secret.key holds fewer than 32 characters.', 'Restore it from a backup, or remove it.')
      return ok('In secret.key, which each backup holds too.')
    }
  }
]

/** What nobody else on the machine may read. */
function privatePaths(dataDir: string): string[] {
  const inside = (folder: string, wanted: RegExp): string[] =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => wanted.test(name))
          .map((name) => join(folder, name))
      : []
  const backups = join(dataDir, 'backups')
  return [dataDir, ...inside(dataDir, /^(secret\.key|backups$|mail$)/), ...inside(backups, /\.db$/)]
}
