import { sendRequest } from '../http-client.ts'
import { percentile } from '../process-stats.ts'
import type { ProcessStats } from '../process-stats.ts'

/** A server's figures while it is idle, after a number of requests. */
export type Reading = {
  requests: number
  heapMb: number
  residentMb: number
  openFiles: number
  handles: number
  timers: number
}

/** Reads the server's metrics and its process statistics. */
export async function read(stats: ProcessStats, metricsUrl: string, requests: number): Promise<Reading> {
  const { text } = await sendRequest(metricsUrl)
  const value = (name: string): number => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1])
  return {
    requests,
    heapMb: value('nodejs_heap_size_used_bytes') / 2 ** 20,
    residentMb: stats.residentMb(),
    openFiles: stats.openFiles(),
    handles: valuesOf(text, 'nodejs_active_handles').reduce((sum, count) => sum + count, 0),
    timers: Number(/^nodejs_active_resources\{type="Timeout"\} (\d+)$/m.exec(text)?.[1] ?? 0)
  }
}

/** The values of a metric with each of its labels. */
function valuesOf(text: string, name: string): number[] {
  return [...text.matchAll(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'gm'))].map(([, value]) => Number(value))
}

export type Trend = { first: number; last: number; perThousand: number }

/**
 * The trend of one figure: its medians in the second and in the last quarter, and the rise between them per thousand
 * requests. The first quarter is the warm-up.
 */
export function trendOf(readings: readonly Reading[], figure: keyof Reading): Trend {
  const quarter = Math.floor(readings.length / 4)
  const second = readings.slice(quarter, 2 * quarter)
  const last = readings.slice(-quarter)
  const [from, to] = [median(second, figure), median(last, figure)]
  const thousands = (median(last, 'requests') - median(second, 'requests')) / 1000
  return { first: from, last: to, perThousand: (to - from) / thousands }
}

function median(readings: readonly Reading[], figure: keyof Reading): number {
  return percentile(
    readings.map((reading) => reading[figure]),
    0.5
  )
}
