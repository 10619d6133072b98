import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NotSupported } from '../part.ts'

/** A limit of the memory of some processes together, with the pages of files that they read. */
export type MemoryLimit = {
  /** A program and its arguments that start a process within the limit. */
  wrapper: readonly string[]
  /** The most memory that the processes had at once. */
  peakMb(): number
  /** How often the kernel ended a process. */
  kills(): number
  remove(): void
}

const mega = 2 ** 20

/** The files of a control group in both versions of the kernel's interface. */
const versions = [
  {
    root: '/sys/fs/cgroup/memory',
    limit: 'memory.limit_in_bytes',
    peak: 'memory.max_usage_in_bytes',
    events: 'memory.oom_control'
  },
  { root: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak', events: 'memory.events' }
] as const

/**
 * Limits the memory with a control group of the kernel.
 *
 * @throws NotSupported if this process may not create one
 */
export function limitMemory(megabytes: number): MemoryLimit {
  const version = versions.find(({ root, limit }) => existsSync(root) && create(root, limit, megabytes) !== undefined)
  if (version === undefined)
    throw new NotSupported('limiting the memory requires root and a control group for memory (cgroups)')
  const folder = folderIn(version.root)
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8')
  return {
    wrapper: ['sh', '-c', `echo $$ > ${join(folder, 'cgroup.procs')} && exec "$@"`, 'sh'],
    peakMb: () => Number(read(version.peak)) / mega,
    kills: () => Number(/^oom_kill (\d+)$/m.exec(read(version.events))?.[1] ?? 0),
    remove: () => rmdirSync(folder)
  }
}

const folderIn = (root: string): string => join(root, `shopstead-${process.pid}`)

/** The folder of a new control group; undefined if it cannot have the limit. */
function create(root: string, limit: string, megabytes: number): string | undefined {
  const folder = folderIn(root)
  try {
    mkdirSync(folder)
    writeFileSync(join(folder, limit), String(megabytes * mega))
    return folder
  } catch {
    if (existsSync(folder)) rmdirSync(folder)
    return undefined
  }
}
