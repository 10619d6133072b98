import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

export type Running = {
  pid: number
  /** The first line on its standard output. */
  firstLine: string
  end(): Promise<void>
}

const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))

/** Starts a program and waits for its first line, which says that it is ready. Discards its standard error. */
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
  const firstLine = await readFirstLine(child)
  if (firstLine === undefined || child.pid === undefined)
    throw new Error(`${program} ${args.join(' ')} ended without output`)
  const end = (): Promise<void> => {
    child.kill('SIGTERM')
    return ended
  }
  return { pid: child.pid, firstLine, end }
}

/** Reads the first line of the output; the rest is discarded. */
function readFirstLine(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', () => resolve(undefined))
    if (child.stdout !== null) createInterface({ input: child.stdout }).once('line', resolve)
  })
}
