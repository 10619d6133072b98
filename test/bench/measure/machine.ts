import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** The cores of the measured server and of the load generator. */
const cores = { server: '0', load: '1' } as const

const hasTaskset = spawnSync('taskset', ['--version']).status === 0
export const isPinned = hasTaskset && availableParallelism() > 1

/** The command pinned to its core with taskset; unchanged if that is not possible. */
export function pinned(core: keyof typeof cores, program: string, ...args: string[]): [string, ...string[]] {
  return isPinned ? ['taskset', '-c', cores[core], program, ...args] : [program, ...args]
}

/** USER_HZ, the unit of times in /proc (proc(5)). */
const ticksASecond = 100

/** The CPU time in seconds that a process has used, with all its threads. */
export function cpuSecondsOf(pid: number): number {
  // The program's name may contain spaces and brackets. utime and stime are the 12th and 13th fields after it.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksASecond
}

/** The resident memory of a process. */
export function residentMegabytesOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return (Number(kilobytes) * 1024) / 1e6
}
