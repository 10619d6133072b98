import { statSync } from 'node:fs'
import { databaseFile } from '../app.ts'
import type { App } from '../app.ts'

const everyMs = 500

export type FileWatch = {
  /** Resolves when the database file is no longer the one that this process has open. */
  readonly replaced: Promise<void>
  isReplaced(): boolean
  stop(): void
}

/**
 * Watches the database file: a disk that was unmounted, or a copy that was put in its place, leaves this process with a
 * file that no later start finds. What it sells then is lost.
 */
export function watchDatabaseFile({ config }: Pick<App, 'config'>): FileWatch {
  const file = databaseFile(config)
  const opened = identityOf(file)
  const { promise, resolve } = Promise.withResolvers<void>()
  let replaced = false
  const timer = setInterval(() => {
    if (identityOf(file) === opened) return
    replaced = true
    clearInterval(timer)
    resolve()
  }, everyMs)
  timer.unref()
  return { replaced: promise, isReplaced: () => replaced, stop: () => clearInterval(timer) }
}

/** The device and inode of a file, in text; another text for a missing one. */
function identityOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat === undefined ? 'missing' : `${stat.dev} ${stat.ino}`
}
