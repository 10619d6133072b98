import { readdirSync, readFileSync, statSync } from 'node:fs'
import { NotSupported } from './part.ts'

const mega = 2 ** 20

/** Memory and open files of another process, read from /proc. */
export class ProcessStats {
  private readonly pid: number
  private peakMb = 0
  private readonly timer

  /** @throws NotSupported without /proc */
  constructor(pid: number | undefined) {
    if (process.platform !== 'linux' || pid === undefined) throw new NotSupported('reading memory requires /proc')
    this.pid = pid
    this.timer = setInterval(() => void this.residentMb(), 50)
    this.timer.unref()
  }

  /** Current resident memory. */
  residentMb(): number {
    const [, pages = '0'] = readFileSync(`/proc/${this.pid}/statm`, 'utf8').split(' ')
    const mb = (Number(pages) * 4096) / mega
    this.peakMb = Math.max(this.peakMb, mb)
    return mb
  }

  /** The peak of the resident memory since the last call. */
  takePeakMb(): number {
    const peak = Math.max(this.peakMb, this.residentMb())
    this.peakMb = 0
    return peak
  }

  /** The processor time of the main thread, which runs the event loop, since its start. */
  mainThreadMs(): number {
    const [onCpuNs = '0'] = readFileSync(`/proc/${this.pid}/task/${this.pid}/schedstat`, 'utf8').split(' ')
    return Number(onCpuNs) / 1e6
  }

  openFiles(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length
  }

  stop(): void {
    clearInterval(this.timer)
  }
}

/** The size of a file; 0 if it does not exist. */
export function sizeMb(file: string): number {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) / mega
}

/** The value below which a share (0 to 1) of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
