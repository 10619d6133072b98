import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { sendRequest } from '../http-client.ts'

const everyMs = 250

/** The highest values of an attack: bytes of request bodies, and further units of stock that unpaid orders hold. */
export type Peaks = { bodyBytes: number; stockHeld: number }

/** Reads the server's metrics while `work` runs. */
export async function withPeaks<T>(metricsPort: number, work: () => Promise<T>): Promise<{ result: T; peaks: Peaks }> {
  const heldBefore = (await readMetrics(metricsPort)).stockHeld
  const peaks = { bodyBytes: 0, stockHeld: 0 }
  const end = new AbortController()
  const watch = async (): Promise<void> => {
    while (!end.signal.aborted) {
      const { bodyBytes, stockHeld } = await readMetrics(metricsPort)
      peaks.bodyBytes = Math.max(peaks.bodyBytes, bodyBytes)
      peaks.stockHeld = Math.max(peaks.stockHeld, stockHeld - heldBefore)
      await sleep(everyMs)
    }
  }
  const watching = watch()
  try {
    return { result: await work(), peaks }
  } finally {
    end.abort()
    await watching
  }
}

async function readMetrics(port: number): Promise<Peaks> {
  const { text } = await sendRequest(`http://127.0.0.1:${port}/metrics`)
  return {
    bodyBytes: valueOf(text, 'shopstead_http_body_bytes'),
    stockHeld: valueOf(text, 'shopstead_stock_held')
  }
}

function valueOf(metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1] ?? Number.NaN)
}

/** The rows in all tables of the shop. */
export function countRows(dataDir: string): number {
  const sqlite = new Database(join(dataDir, 'shopstead.db'), { readonly: true })
  try {
    const tables = sqlite
      .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'`)
      .pluck()
      .all()
    const count = (table: string): number =>
      sqlite.prepare<[], number>(`SELECT count(*) FROM "${table}"`).pluck().get() ?? 0
    return tables.reduce((sum, table) => sum + count(table), 0)
  } finally {
    sqlite.close()
  }
}
