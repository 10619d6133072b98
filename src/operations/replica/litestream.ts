import { execFile } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/config.ts'
import { replicaVariables } from '../../platform/config/replica.ts'
import type { Replica } from '../../platform/config/replica.ts'
import { toIso } from '../../platform/iso-time.ts'

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

/** The times of a replica come from one clock, to the second. */
const precisionMs = 2_000

/**
 * The generations that got changes after the newest one began. One machine leaves none behind, because Litestream ends a
 * generation before it begins the next. So these are another machine's.
 *
 * @param generations the one that began last first, as `listGenerations` returns them
 */
export function findRivals(generations: readonly Generation[]): Generation[] {
  const [newest, ...others] = generations
  return others.filter(({ updatedAt }) => updatedAt > (newest?.startedAt ?? 0) + precisionMs)
}

/**
 * The generation to restore: the wanted one, or the one that began last.
 *
 * @throws AppError NOT_FOUND when the replica does not have it; CONFLICT without a wanted one when two machines have
 *   written to the replica
 */
export function chooseGeneration(
  { address }: Replica,
  generations: readonly Generation[],
  wanted: string | null
): Generation {
  const chosen = wanted === null ? generations[0] : generations.find(({ id }) => id === wanted)
  if (chosen === undefined) {
    const what = wanted === null ? 'copy of a shop' : `generation ${wanted}`
    throw new AppError('NOT_FOUND', `There is no ${what} at ${address}.${listedGenerations(generations)}`)
  }
  if (wanted !== null || findRivals(generations).length === 0) return chosen
  throw new AppError(
    'CONFLICT',
    `Two machines have written to ${address}, so it is not known which one has the shop. Stop both, and pass ` +
      `--generation with the one to restore:${listedGenerations(generations)}`
  )
}

/** A line for each generation; empty without one. */
export function listedGenerations(generations: readonly Generation[]): string {
  return generations
    .map(({ id, startedAt, updatedAt }) => `\n${id}: began ${toIso(startedAt)}, last change ${toIso(updatedAt)}`)
    .join('')
}

const { accessKeyId, secretAccessKey, keyFile } = replicaVariables

/**
 * Litestream's configuration (version 0.3) for a shop's database. It has no secrets: Litestream reads them from the
 * variables that it names.
 *
 * Litestream looks for changes every 200 ms and sends them every 500 ms, so a lost machine loses less than a second. A
 * snapshot every 6 hours limits what a restore has to replay.
 *
 * @throws AppError USAGE when the path of the database means something in Litestream's configuration
 */
export function litestreamConfig(database: string, replica: Replica): string {
  if (/["$\\\n]/.test(database))
    throw new AppError('USAGE', 'Litestream cannot use a data folder with a quote, $ or \\ in its path.')
  const place = placeOf(replica).map(([key, value]) => `        ${key}: ${value}`)
  return `${[
    'dbs:',
    `  - path: "${database}"`,
    '    monitor-interval: 200ms',
    '    replicas:',
    `      - type: ${replica.type}`,
    ...place,
    '        sync-interval: 500ms',
    '        snapshot-interval: 6h',
    '        retention: 24h',
    '        retention-check-interval: 1h'
  ].join('\n')}\n`
}

/** What says where the replica is, as YAML. */
function placeOf(replica: Replica): [key: string, value: string][] {
  const path: [string, string] = ['path', `"${replica.path}"`]
  if (replica.type === 'file') return [path]
  if (replica.type === 'sftp')
    return [['host', `"${replica.host}"`], ['user', `"${replica.user}"`], path, ['key-path', `'\${${keyFile}}'`]]
  return [
    ['bucket', `"${replica.bucket}"`],
    path,
    ...(replica.endpoint === null ? [] : [['endpoint', `"${replica.endpoint}"`] satisfies [string, string]]),
    ...(replica.region === null ? [] : [['region', `"${replica.region}"`] satisfies [string, string]]),
    ['access-key-id', `'\${${accessKeyId}}'`],
    ['secret-access-key', `'\${${secretAccessKey}}'`]
  ]
}
