import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** What is measured has a core of its own, and what sends the load another one. */
const cores = { server: '0', load: '1' } as const

const hasTaskset = spawnSync('taskset', ['--version']).status === 0
export const isPinned = hasTaskset && availableParallelism() > 1

/** A command that keeps to its core, where the machine can do that. */
export function pinned(core: keyof typeof cores, program: string, ...args: string[]): [string, ...string[]] {
  return isPinned ? ['taskset', '-c', cores[core], program, ...args] : [program, ...args]
}

/** USER_HZ, in which Linux counts for whoever asks (proc(5)). */
const ticksASecond = 100

/** Seconds of CPU that a process has used so far, all of its threads together. */
export function cpuSecondsOf(pid: number): number {
  // The name of the program may hold spaces and brackets; utime and stime are the 12th and 13th field behind it.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksASecond
}

/** Resident memory of a process. */
export function residentMegabytesOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return (Number(kilobytes) * 1024) / 1e6
}
