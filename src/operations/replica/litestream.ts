import { execFile } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Replica } from '../../platform/config/replica.ts'
import { litestreamConfig } from './litestream-config.ts'

/** One unbroken sequence of changes at a replica. Litestream begins another one when it cannot continue the last. */
export type Generation = {
  id: string
  /** When its newest change was stored, in epoch milliseconds, to the second. */
  updatedAt: number
}

/** A list of the changes of three days in a bucket takes seconds. */
const answerWithinMs = 30_000

/** What to install, for messages. */
export const installLitestream = 'Install Litestream 0.3.13 (see "shopstead guide operating", A replica).'

/** The path of the program `litestream`; undefined when it is not installed. */
export function findLitestream({ litestreamEnv }: Pick<Config, 'litestreamEnv'>): string | undefined {
  const paths = (litestreamEnv['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'litestream'))
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/**
 * The generations at a replica, the newest first.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE when Litestream is not installed, or cannot read the replica
 */
export async function listGenerations(config: Pick<Config, 'litestreamEnv'>, replica: Replica): Promise<Generation[]> {
  const printed = await runLitestream(config, replica, ['generations'])
  // Litestream reports a replica that it cannot read in its log, and succeeds.
  const failure = /level=ERROR .*error="?(.*?)"?$/m.exec(printed)?.[1]
  const rows = printed.matchAll(/^\S+ +([0-9a-f]{16}) +\S+ +\S+ +(\d\S+)$/gm)
  const generations = [...rows].map(([, id = '', end = '']) => ({ id, updatedAt: Date.parse(end) }))
  if (generations.length === 0 && failure !== undefined) throw unreadable(replica, failure)
  // The time of a generation without a snapshot is in the year 1: nothing can be restored from it.
  return generations.filter(({ updatedAt }) => updatedAt > 0).toSorted((a, b) => b.updatedAt - a.updatedAt)
}

/**
 * Restores the newest state of a replica to a new file.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE when Litestream is not installed, or cannot restore
 */
export async function restoreReplica(
  config: Pick<Config, 'litestreamEnv'>,
  replica: Replica,
  file: string
): Promise<void> {
  await runLitestream(config, replica, ['restore', '-o', file])
}

/** Runs a command of Litestream about a replica and returns what it printed. */
async function runLitestream(
  config: Pick<Config, 'litestreamEnv'>,
  replica: Replica,
  [command = '', ...options]: string[]
): Promise<string> {
  const program = findLitestream(config)
  if (program === undefined)
    throw new AppError('DEPENDENCY_UNAVAILABLE', `Litestream is not installed. ${installLitestream}`)
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-replica-'))
  try {
    // Litestream wants a database, and only reads the time of its file here.
    const database = join(folder, 'shopstead.db')
    const file = join(folder, 'litestream.yml')
    writeFileSync(database, '')
    writeFileSync(file, litestreamConfig(database, replica))
    return await run(replica, program, [command, '-config', file, ...options, database], config.litestreamEnv)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function run(
  replica: Replica,
  program: string,
  args: string[],
  env: Readonly<Record<string, string>>
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const timeout = args[0] === 'restore' ? 0 : answerWithinMs
  execFile(program, args, { env, timeout, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
    if (error === null) return resolve(stdout + stderr)
    const said = /error="?(.*?)"?$/m.exec(stdout + stderr)?.[1] ?? error.message
    const reason = error.killed ? `no answer within ${answerWithinMs / 1000} s` : said
    reject(unreadable(replica, reason))
  })
  return promise
}

function unreadable({ address }: Replica, reason: string): AppError {
  return new AppError('DEPENDENCY_UNAVAILABLE', `The replica ${address} cannot be read: ${reason}.`)
}
