import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { createConnection } from 'mysql2/promise'
import { AppError } from '../../../errors.ts'

/** A private MariaDB with the content of a dump; disposing of it stops the server and deletes its files. */
export type LoadedDump = { url: string } & AsyncDisposable

/**
 * Loads a SQL dump, plain or packed with gzip, into a MariaDB of its own. The server listens on a socket in a private folder
 * only.
 *
 * @throws AppError NOT_FOUND for a file that cannot be read; DEPENDENCY_UNAVAILABLE without MariaDB; VALIDATION_FAILED for a
 *   file that is not a dump
 */
export async function loadDump(path: string): Promise<LoadedDump> {
  if (!existsSync(path)) throw new AppError('NOT_FOUND', `The dump ${path} does not exist.`)
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-dump-'))
  const stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  try {
    const socket = await startServer(folder, stack)
    await load(resolve(path), socket)
    const taken = stack.move()
    return { url: urlOf(socket), [Symbol.asyncDispose]: () => taken.disposeAsync() }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

const database = 'wordpress'

function urlOf(socket: string): string {
  return `mysql://root@localhost/${database}?socketPath=${encodeURIComponent(socket)}`
}

/** The server's user may not be root, unless it is named. */
const asRoot = process.geteuid?.() === 0 ? ['--user=root'] : []

async function startServer(folder: string, stack: AsyncDisposableStack): Promise<string> {
  const data = join(folder, 'data')
  const socket = join(folder, 'socket')
  // In a shared folder, a server that starts deletes the temporary files of the others.
  const common = ['--no-defaults', `--datadir=${data}`, `--tmpdir=${folder}`, ...asRoot]
  await run('mariadb-install-db', [...common, '--auth-root-authentication-method=normal', '--skip-test-db'])
  // The dump can be loaded again, so nothing has to be safe on the disk.
  const fast = [
    '--innodb-flush-log-at-trx-commit=0',
    '--innodb-buffer-pool-size=64M',
    '--sql-mode=',
    '--max-allowed-packet=64M'
  ]
  const server = spawn('mariadbd', [...common, `--socket=${socket}`, '--skip-networking', ...fast], {
    stdio: ['ignore', 'ignore', 'pipe']
  })
  const ended = once(server, 'exit')
  stack.defer(async () => {
    server.kill('SIGTERM')
    await ended
  })
  let log = ''
  await new Promise<void>((ready, fail) => {
    const stop = (): void => fail(unavailable('mariadbd', log))
    server.once('error', stop).once('exit', stop)
    server.stderr.on('data', (part: Buffer) => {
      log = (log + part.toString()).slice(-4000)
      if (log.includes('ready for connections')) ready()
    })
  })
  return socket
}

async function load(path: string, socket: string): Promise<void> {
  const connection = await createConnection({ socketPath: socket, user: 'root' })
  await connection.query(`CREATE DATABASE ${database} CHARACTER SET utf8mb4`)
  await connection.end()
  const args = ['--no-defaults', `--socket=${socket}`, '--user=root', '--default-character-set=utf8mb4', database]
  const client = spawn('mariadb', args, { stdio: ['pipe', 'ignore', 'pipe'] })
  let problem = ''
  client.stderr.on('data', (part: Buffer) => (problem = (problem + part.toString()).slice(-1000)))
  const ended = once(client, 'exit')
  const failed = once(client, 'error').then(([error]) => Promise.reject(error))
  const unpack = path.endsWith('.gz') ? [createGunzip()] : []
  const fed = pipeline([createReadStream(path), ...unpack, client.stdin]).catch((error: unknown) => error)
  const [code] = await Promise.race([ended, failed])
  const broken = await fed
  if (code === 0 && broken === undefined) return
  const reason = problem.trim() || (broken instanceof Error ? broken.message : 'it ended early')
  throw new AppError('VALIDATION_FAILED', `The dump cannot be loaded: ${reason}`)
}

async function run(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (log = (log + part.toString()).slice(-4000)))
  const code = await new Promise<number | null>((done, fail) => {
    child.once('error', () => fail(unavailable(program, log))).once('close', done)
  })
  if (code !== 0) throw unavailable(program, log)
}

function unavailable(program: string, log: string): AppError {
  const remedy =
    'A dump is read with MariaDB: install it (Debian: apt install mariadb-server), or pass the address of the database.'
  const lines = log.trim().split('\n')
  const reason = lines.find((line) => line.includes('ERROR')) ?? lines.at(-1) ?? ''
  return new AppError('DEPENDENCY_UNAVAILABLE', `${program} did not start. ${remedy} ${reason}`.trim())
}
