import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import type { Ran } from './command-line.ts'

type Options = {
  env?: Record<string, string>
  uid?: number
  input?: string
  /** The folder of the program, if it is not this checkout. */
  program?: string
}

/** Starts `shopstead ARGS` on a data folder in its own process, without the environment variables of the test runner. */
export function spawnShopstead(
  dataDir: string,
  args: readonly string[],
  { env = {}, uid }: Options = {}
): ChildProcess {
  return spawn(process.execPath, ['bin/shopstead.js', ...args, '--data-dir', dataDir], {
    env: { ...plainEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid })
  })
}

/** Runs `shopstead ARGS` in its own process until it exits; `json` is its standard output if it ran with `--json`. */
export function runShopstead<Json = Record<string, unknown>>(
  dataDir: string,
  args: readonly string[],
  { env = {}, uid, input = '', program = '.' }: Options = {}
): Promise<Ran<Json>> {
  const options = {
    env: { ...plainEnvironment(), ...env },
    maxBuffer: 64 * 1024 * 1024,
    ...(uid === undefined ? {} : { uid })
  }
  const { promise, resolve } = Promise.withResolvers<Ran<Json>>()
  const argv = [join(program, 'bin/shopstead.js'), ...args, '--data-dir', dataDir]
  const child = execFile(process.execPath, argv, options, (error, stdout, stderr) => {
    const json = (args.includes('--json') ? JSON.parse(stdout || 'null') : {}) as Json
    resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr, json })
  })
  child.stdin?.on('error', () => undefined).end(input)
  return promise
}

/**
 * The environment of a person at a terminal: without what a test runner or CI sets. Node shows no colours where CI is
 * set, and consola writes nothing below warnings where TEST or NODE_ENV=test is.
 */
export function plainEnvironment(): Record<string, string> {
  const environment = Object.entries({ ...process.env, TERM: 'xterm' }).flatMap(([name, value]) =>
    value === undefined || /^(SHOPSTEAD_.*|TEST|CI|NODE_ENV|NO_COLOR|FORCE_COLOR)$/.test(name) ? [] : [[name, value]]
  )
  return Object.fromEntries(environment) as Record<string, string>
}

/** The exit code or signal of a process, when it has ended. */
export function exitOf(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)))
}
