import { accessSync, constants, existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../platform/config/config.ts'
import { failed, megabytes, ok, warning } from './check.ts'
import type { Check } from './check.ts'

const fewBytesFree = 1024 ** 3
const tooFewBytesFree = 100 * 1024 ** 2

/** The checks that do not need an open shop. */
export const folderChecks: readonly Check<Config>[] = [
  {
    name: 'data folder',
    run({ dataDir }) {
      if (!existsSync(dataDir))
        return failed(
          `The folder ${dataDir} does not exist.`,
          'Pass the data folder with --data-dir, or create it with "shopstead migrate".'
        )
      try {
        accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
        return ok(dataDir)
      } catch {
        return failed(
          `The data folder ${dataDir} is not writable.`,
          'Make the user that runs Shopstead its owner (chown), or mount its disk writable.'
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
      if (free < tooFewBytesFree)
        return failed(message, 'Free disk space now: the shop cannot take orders when the disk is full.')
      if (free < Math.max(fewBytesFree, 2 * database))
        return warning(message, 'Free disk space: making and verifying a backup needs twice the size of the database.')
      return ok(message)
    }
  },
  {
    name: 'file modes',
    run({ dataDir }) {
      const open = privatePaths(dataDir).filter((path) => (statSync(path).mode & 0o077) !== 0)
      if (open.length === 0) return ok('Only the owner can read the folder, the secret key and the backups.')
      return warning(
        `Other users can read: ${open.map((path) => path.slice(dataDir.length + 1) || '.').join(', ')}.`,
        `Run "chmod -R go= ${dataDir}".`
      )
    }
  },
  {
    name: 'file owners',
    run({ dataDir }) {
      const { uid, gid } = statSync(dataDir)
      const stats = readdirSync(dataDir).map((name) => ({ name, ...ownerOf(join(dataDir, name)) }))
      const foreign = stats.filter((file) => file.uid !== undefined && file.uid !== uid).map(({ name }) => name)
      if (foreign.length > 0)
        return failed(
          `The folder belongs to user ${uid}, but these files do not: ${foreign.join(', ')}.`,
          `Run "chown -R ${uid}:${gid} ${dataDir}" as root, then start the server again.`
        )
      const locked = stats.filter(({ mode }) => mode !== undefined && (mode & 0o600) !== 0o600).map(({ name }) => name)
      if (locked.length > 0)
        return failed(
          `Their owner cannot read and write: ${locked.join(', ')}.`,
          `Run "chmod -R u+rwX ${dataDir}", then start the server again.`
        )
      return ok(`User ${uid} owns the folder and the files in it.`)
    }
  },
  {
    name: 'secret',
    run({ secret, dataDir }) {
      if (secret !== null) return ok('From SHOPSTEAD_SECRET.')
      const file = join(dataDir, 'secret.key')
      if (!existsSync(file))
        return failed(
          'The file secret.key is missing.',
          'Copy it back, or restore a backup, which contains it ("shopstead backup restore FILE"). Otherwise the next start makes a new key: links in sent emails stop working, and the shop no longer knows its payments at Stripe.'
        )
      if (readFileSync(file, 'utf8').trim().length < 32)
        return failed(
          'secret.key has fewer than 32 characters.',
          'Restore it from a backup. If you delete it, Shopstead creates a new key.'
        )
      return ok('In secret.key; each backup contains it.')
    }
  }
]

/** Nothing for a file that has just been deleted, such as a temporary one. */
function ownerOf(path: string): { uid?: number; mode?: number } {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? {} : { uid: stat.uid, mode: stat.mode }
}

/** The paths in the data folder that only the owner may read. */
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
