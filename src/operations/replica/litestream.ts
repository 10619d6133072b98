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
  /** When its first copy was made, in epoch milliseconds, to the second. */
  startedAt: number
  /** When its newest change was stored, in epoch milliseconds, to the second. */
  updatedAt: number
}

/** A list of the changes of a day in a bucket takes seconds. The snapshots are read while a server waits to start. */
const answerWithinMs: Readonly<Record<string, number>> = { generations: 30_000, snapshots: 3_000 }

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
 * The generations at a replica, the one that began last first. It is the line to continue: a lost machine that comes back
 * may add to an older one.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE when Litestream is not installed, or cannot read the replica
 */
export async function listGenerations(config: Pick<Config, 'litestreamEnv'>, replica: Replica): Promise<Generation[]> {
  const rows = await list(config, replica, 'generations', /^\S+ +([0-9a-f]{16}) +\S+ +(\d\S+) +(\d\S+)$/gm)
  const generations = rows.map(([id = '', start = '', end = '']) => ({
    id,
    startedAt: Date.parse(start),
    updatedAt: Date.parse(end)
  }))
  // The time of a generation without a snapshot is in the year 1: nothing can be restored from it.
  return generations.filter(({ updatedAt }) => updatedAt > 0).toSorted((a, b) => b.startedAt - a.startedAt)
}

/**
 * The snapshots at a replica, each with its generation and its time. Unlike the generations, they are few.
 *
 * @throws AppError as listGenerations
 */
export async function listSnapshots(
  config: Pick<Config, 'litestreamEnv'>,
  replica: Replica
): Promise<{ generation: string; createdAt: number }[]> {
  const rows = await list(config, replica, 'snapshots', /^\S+ +([0-9a-f]{16}) +\S+ +\S+ +(\d\S+)$/gm)
  return rows.map(([generation = '', created = '']) => ({ generation, createdAt: Date.parse(created) }))
}

async function list(
  config: Pick<Config, 'litestreamEnv'>,
  replica: Replica,
  command: string,
  row: RegExp
): Promise<string[][]> {
  const printed = await runLitestream(config, replica, [command])
  const rows = [...printed.matchAll(row)].map(([, ...fields]) => fields)
  // Litestream reports a replica that it cannot read in its log, and succeeds.
  const failure = /level=ERROR .*error="?(.*?)"?$/m.exec(printed)?.[1]
  if (rows.length === 0 && failure !== undefined) throw unreadable(replica, failure)
  return rows
}

/**
 * Restores the newest state of a generation to a new file.
 *
 * @param signal ends Litestream
 * @throws AppError DEPENDENCY_UNAVAILABLE when Litestream is not installed, or cannot restore
 */
export async function restoreReplica(
  config: Pick<Config, 'litestreamEnv'>,
  replica: Replica,
  { id, file, signal }: { id: string; file: string; signal?: AbortSignal }
): Promise<void> {
  await runLitestream(config, replica, ['restore', '-generation', id, '-o', file], signal)
}

/** Runs a command of Litestream about a replica and returns what it printed. */
async function runLitestream(
  config: Pick<Config, 'litestreamEnv'>,
  replica: Replica,
  [command = '', ...options]: string[],
  signal?: AbortSignal
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
    const args = [command, '-config', file, ...options, database]
    return await run(replica, program, args, { env: config.litestreamEnv, ...(signal && { signal }) })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function run(
  replica: Replica,
  program: string,
  args: string[],
  options: { env: Readonly<Record<string, string>>; signal?: AbortSignal }
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const timeout = answerWithinMs[args[0] ?? ''] ?? 0
  execFile(program, args, { ...options, timeout, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
    if (error === null) return resolve(stdout + stderr)
    const said = /error="?(.*?)"?$/m.exec(stdout + stderr)?.[1] ?? error.message
    const reason = error.killed ? `no answer within ${timeout / 1000} s` : said
    reject(unreadable(replica, reason))
  })
  return promise
}

function unreadable({ address }: Replica, reason: string): AppError {
  return new AppError('DEPENDENCY_UNAVAILABLE', `The replica ${address} cannot be read: ${reason}.`)
}
