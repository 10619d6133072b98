import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Packed } from '../support/packed.ts'

export type LaunchOptions = {
  dataDir: string
  env?: Record<string, string>
  /** A program and its arguments that start the process, such as `['strace', '-f']`. */
  wrapper?: readonly string[]
  /** Receives the process id of a command. */
  onStart?: (pid: number | undefined) => void
}

export type PackedServer = {
  child: ChildProcess
  url: string
  apiRoot: string
  /** The lines on its standard error, which include its log. */
  errors: string[]
  /** Resolves with its exit code or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals | null>
  /** Sends the signal (default SIGTERM) and waits for the end. */
  end(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals | null>
}

const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))

function environmentOf({ dataDir, env }: LaunchOptions): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env
  return {
    PATH,
    HOME,
    SHOPSTEAD_ENV: 'development',
    SHOPSTEAD_LOG: 'warn',
    SHOPSTEAD_DATA_DIR: dataDir,
    NO_COLOR: '1',
    ...env
  }
}

function command(packed: Packed, { wrapper = [] }: LaunchOptions, ...words: string[]): [string, ...string[]] {
  const [program, ...args] = [...wrapper, process.execPath, packed.program, ...words]
  return [program ?? process.execPath, ...args]
}

/** Starts `shopstead serve` of the installed package, by default on a free port, and waits until it listens. */
export async function servePacked(packed: Packed, launch: LaunchOptions): Promise<PackedServer> {
  const [program, ...args] = command(packed, launch)
  const port = launch.env?.['SHOPSTEAD_PORT'] ?? '0'
  const child = spawn(program, [...args, 'serve', '--port', port, '--json'], {
    cwd: packed.home,
    env: environmentOf(launch),
    stdio: ['ignore', 'pipe', 'pipe']
  })
  running.add(child)
  const errors: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line))
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once('exit', (code, signal) => {
      running.delete(child)
      resolve(code ?? signal)
    })
  )
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdout.resume()
    const { url, apiRoot } = JSON.parse(line) as { url: string; apiRoot: string }
    const end = (signal: NodeJS.Signals = 'SIGTERM') => {
      child.kill(signal)
      return ended
    }
    return { child, url, apiRoot, errors, ended, end }
  }
  throw new Error(`the server ended before it listened (${String(await ended)}): ${errors.join('\n')}`)
}

export type CommandResult = { exitCode: number; stdout: string; stderr: string }

/** Runs a command of the installed package. Resolves for every exit code. */
export function runPacked(packed: Packed, launch: LaunchOptions, ...words: string[]): Promise<CommandResult> {
  const [program, ...args] = command(packed, launch, ...words)
  const execOptions = { cwd: packed.home, env: environmentOf(launch), maxBuffer: 2 ** 28 }
  return new Promise((resolve) => {
    const child = execFile(program, args, execOptions, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ exitCode, stdout, stderr })
    })
    launch.onStart?.(child.pid)
  })
}
