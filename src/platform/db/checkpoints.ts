import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { describeError } from '../log.ts'
import type { Logger } from '../log.ts'
import type { Db } from './database.ts'

const everyMs = 500
/** A log that never grew to this size is left to SQLite, so that a small shop needs no thread. */
const leastBytes = 2 * 1024 * 1024

/** The thread: it checkpoints once for each message. PASSIVE waits for no reader and stops no writer. */
const program = `
const { parentPort, workerData } = require('node:worker_threads')
const sqlite = new (require(workerData.driver))(workerData.file)
sqlite.pragma('synchronous = NORMAL')
parentPort.on('message', () => {
  sqlite.pragma('wal_checkpoint(PASSIVE)')
  parentPort.postMessage('done')
})`

/** A running checkpointer. `stop` resolves when its thread has ended. */
export type Checkpoints = { stop(): Promise<void> }

/**
 * Copies the write-ahead log to the database file in a thread of its own, every half second in which something was written.
 * A connection that does it when the log is full blocks requests for 50 to 100 ms.
 */
export function startCheckpoints({ sqlite }: Pick<Db, 'sqlite'>, log: Pick<Logger, 'warn'>): Checkpoints {
  let thread: Worker | undefined
  let busy = false
  let writtenAt = 0
  const start = (): Worker => {
    const driver = createRequire(import.meta.url).resolve('better-sqlite3')
    const started = new Worker(program, { eval: true, workerData: { driver, file: sqlite.name } })
    started.on('message', () => void (busy = false))
    // SQLite checkpoints a log of 16 MB itself; the next look starts another thread.
    started.on('error', (error) => log.warn('the thread for checkpoints failed', { error: describeError(error) }))
    started.on('exit', () => {
      busy = false
      thread = undefined
    })
    started.unref()
    return started
  }
  const timer = setInterval(() => {
    const wal = statSync(`${sqlite.name}-wal`, { throwIfNoEntry: false })
    if (busy || wal === undefined || wal.size < leastBytes || wal.mtimeMs === writtenAt) return
    writtenAt = wal.mtimeMs
    busy = true
    thread ??= start()
    thread.postMessage('checkpoint', [])
  }, everyMs)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await thread?.terminate()
    }
  }
}
