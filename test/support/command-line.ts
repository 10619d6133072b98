import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export type Ended<Json> = { exitCode: number; stdout: string; stderr: string; json: Json }

type Options = { env?: Record<string, string>; uid?: number }

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts `shopstead ARGS` on a data folder as a process of its own, that does not know it is tested. */
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

/** Runs `shopstead ARGS` to its end; `json` is its standard output when `--json` was asked for. */
export function runShopstead<Json = Record<string, unknown>>(
  dataDir: string,
  args: readonly string[],
  options: Options = {}
): Promise<Ended<Json>> {
  const argv = ['bin/shopstead.js', ...args, '--data-dir', dataDir]
  const { env = {}, uid } = options
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      argv,
      { env: { ...plainEnvironment(), ...env }, maxBuffer: 64 * 1024 * 1024, ...(uid === undefined ? {} : { uid }) },
      (error, stdout, stderr) => {
        const json = (args.includes('--json') ? JSON.parse(stdout || 'null') : undefined) as Json
        resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr, json })
      }
    )
  })
}

function plainEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || /^(SHOPSTEAD_.*|TEST|CI|NODE_ENV)$/.test(name) ? [] : [[name, value]]
    )
  )
}

export function exitOf(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)))
}
