import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Reported } from './reporter.ts'

/** Git ignores it: the plan, the copy of the project and the results, with which the next run continues. */
export const folder = resolve('coverage/mutants')
export const copy = join(folder, 'copy')

/** The values that a file of the state holds, one on a line. */
export function readLines<T>(name: string): T[] {
  const file = join(folder, name)
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as T)
}

export function addLine(name: string, value: object): void {
  appendFileSync(join(folder, name), `${JSON.stringify(value)}\n`)
}

/** Runs test files in the copy and returns what they reported, and whether they took too long. */
export async function runTests(
  files: readonly string[],
  seconds: number,
  env: { MUTANT?: string; MUTANTS_REACHED?: string }
): Promise<{ reported: Reported[]; isLate: boolean }> {
  const name = `run-${env.MUTANT ?? 'cover'}`
  const order = join(folder, `${name}.json`)
  const report = `${name}.jsonl`
  writeFileSync(order, JSON.stringify(files))
  rmSync(join(folder, report), { force: true })
  const isLate = await vitest(seconds, { ...env, MUTANTS_FILES: order, MUTANTS_REPORT: join(folder, report) })
  const reported = readLines<Reported>(report)
  rmSync(order)
  rmSync(join(folder, report), { force: true })
  return { reported, isLate }
}

function vitest(seconds: number, env: Record<string, string>): Promise<boolean> {
  const program = resolve('node_modules/vitest/vitest.mjs')
  const args = [program, 'run', '--config', '.config/vitest.mutants.config.ts', '--root', '.']
  // A group of its own, so that its workers end with it.
  const child = spawn(process.execPath, args, {
    cwd: copy,
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, ...env }
  })
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    end()
  }, seconds * 1000)
  process.once('exit', end)
  return new Promise((done) =>
    child.once('close', () => {
      clearTimeout(timer)
      process.off('exit', end)
      end()
      done(isLate)
    })
  )
}
