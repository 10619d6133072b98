import { spawn, spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Starts a process that holds the write lock of a database until it is released. */
export async function holdLock(file: string): Promise<{ release(): Promise<void> }> {
  const script = `
    const Database = require('better-sqlite3')
    const db = new Database(process.argv[1], { timeout: 60_000 })
    db.exec('BEGIN IMMEDIATE')
    console.log('held')
    process.stdin.on('end', () => { db.exec('COMMIT'); db.close() }).resume()`
  const child = spawn(process.execPath, ['-e', script, file], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await new Promise<void>((resolve) => createInterface({ input: child.stdout }).once('line', () => resolve()))
  return {
    release() {
      child.stdin.end()
      return ended
    }
  }
}

/** Mounts a small disk in memory; undefined if mounting is not permitted. */
export function mountDisk(at: string, megabytes: number): Disk | undefined {
  mkdirSync(at, { recursive: true })
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', at])
  return status === 0 ? new Disk(at) : undefined
}

export class Disk {
  private readonly at: string
  private readonly filler: string

  constructor(at: string) {
    this.at = at
    this.filler = join(at, 'filler')
  }

  /** Fills all free space. */
  fill(): void {
    const file = openSync(this.filler, 'a')
    for (const size of [1 << 20, 4096]) {
      const block = Buffer.alloc(size, 1)
      try {
        while (writeSync(file, block) === size) continue
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
    closeSync(file)
  }

  free(): void {
    rmSync(this.filler, { force: true })
  }

  /** False while a file is open for writing. */
  remount(mode: 'ro' | 'rw'): boolean {
    return spawnSync('mount', ['-o', `remount,${mode}`, this.at]).status === 0
  }

  unmount(): void {
    spawnSync('umount', ['-l', this.at])
  }
}

/**
 * Makes a process's writes to a database fail with strace, as they do on a failed disk or on one that the kernel made
 * read-only. A remount cannot do this while files are open.
 *
 * @returns undefined if strace is missing or not allowed to trace
 */
export async function breakDisk(
  pid: number,
  file: string,
  faults: readonly string[]
): Promise<{ repair(): Promise<void> } | undefined> {
  const paths = [file, `${file}-wal`].flatMap((path) => ['-P', path])
  const injections = faults.flatMap((fault) => ['-e', `inject=${fault}`])
  const calls = ['-e', `trace=${faults.map((fault) => fault.split(':')[0]).join(',')}`]
  const args = ['-f', '-p', String(pid), ...paths, ...calls, ...injections, '-o', '/dev/null']
  const child = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = new Promise<'ended'>((resolve) => {
    child.once('exit', () => resolve('ended'))
    child.once('error', () => resolve('ended'))
  })
  const attached = new Promise<'attached'>((resolve) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (line.includes('attached')) resolve('attached')
    })
  })
  if ((await Promise.race([attached, ended])) === 'ended') return undefined
  return {
    async repair() {
      child.kill('SIGINT')
      await ended
    }
  }
}
