import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

export type Running = {
  pid: number
  /** The first line that it printed. */
  said: string
  end(): Promise<void>
}

const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))

/** Starts a program that says in its first line that it is ready. What it writes to standard error is thrown away. */
export async function start(
  [program = '', ...args]: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string } = {}
): Promise<Running> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'ignore'] })
  running.add(child)
  const ended = new Promise<void>((resolve) =>
    child.once('close', () => {
      running.delete(child)
      resolve()
    })
  )
  const said = await firstLine(child)
  if (said === undefined || child.pid === undefined)
    throw new Error(`${program} ${args.join(' ')} ended without a word`)
  const end = (): Promise<void> => {
    child.kill('SIGTERM')
    return ended
  }
  return { pid: child.pid, said, end }
}

/** What follows it is read and thrown away. */
function firstLine(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', () => resolve(undefined))
    if (child.stdout !== null) createInterface({ input: child.stdout }).once('line', resolve)
  })
}
