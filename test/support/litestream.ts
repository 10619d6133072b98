import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { until } from './until.ts'

const here = createRequire(createRequire(import.meta.url).resolve('@flydotio/litestream'))

/** Whether npm has Litestream for this machine. */
export const hasLitestream = folderOrUndefined() !== undefined

function folderOrUndefined(): string | undefined {
  try {
    return dirname(here.resolve(`@flydotio/litestream-${process.platform}-${process.arch}/litestream`))
  } catch {
    return undefined
  }
}

function litestreamFolder(): string {
  const folder = folderOrUndefined()
  if (folder === undefined) throw new Error(`npm has no Litestream for ${process.platform} on ${process.arch}`)
  return folder
}

/** PATH with that program, for processes that look for it. */
export function pathWithLitestream(): string {
  return `${litestreamFolder()}:${process.env['PATH'] ?? ''}`
}

export type Replication = {
  child: ChildProcess
  log: () => string
  /** Makes a change and waits until the replica has it. */
  copy: (change: () => unknown) => Promise<void>
  end: (signal: NodeJS.Signals) => Promise<void>
}

/** Starts Litestream with a configuration that `shopstead replicate` printed, and waits for its first copy. */
export async function startReplication(
  folder: string,
  configuration: string,
  env: Record<string, string> = {}
): Promise<Replication> {
  const file = join(folder, 'litestream.yml')
  writeFileSync(file, configuration)
  const program = join(litestreamFolder(), 'litestream')
  const child = spawn(program, ['replicate', '-config', file], { env: { ...process.env, ...env } })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => void (log += part.toString()))
  const copies = (): number => log.split('wal segment written').length - 1
  const untilMoreThan = async (before: number): Promise<void> => {
    await until('a copy by Litestream', () => child.exitCode !== null || copies() > before)
  }
  await untilMoreThan(0)
  return {
    child,
    log: () => log,
    async copy(change) {
      const before = copies()
      await change()
      await untilMoreThan(before)
    },
    async end(signal) {
      child.kill(signal)
      await ended
    }
  }
}

/** The generation that Litestream writes for a data folder; null before the first. */
export function generationOf(dataDir: string): string | null {
  const file = join(dataDir, '.shopstead.db-litestream', 'generation')
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null
}
