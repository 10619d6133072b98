import { join } from 'node:path'
import { AppError } from '../errors.ts'
import { isLockHeld, takeLock } from '../platform/process-lock.ts'
import type { ProcessLock } from '../platform/process-lock.ts'

/** `shopstead health` takes the lock for a moment, and a server that was told to stop may take one to end. */
const waitMs = 2_000

/**
 * Makes this process the only server of a data folder. A server expects that no other one sends its emails, makes its
 * backups and works on its open payments. Commands do not take this lock, except `migrate`.
 *
 * @throws AppError CONFLICT while another server runs on the folder, or a migration
 */
export function lockServer(dataDir: string): ProcessLock {
  const lock = takeLock(lockFile(dataDir), waitMs)
  if (lock !== undefined) return lock
  throw new AppError(
    'CONFLICT',
    `A server or a migration already uses the data folder ${dataDir}. Stop it first ("systemctl stop shopstead").`
  )
}

/** Whether a server runs on the data folder. */
export function isServerRunning(dataDir: string): boolean {
  return isLockHeld(lockFile(dataDir))
}

function lockFile(dataDir: string): string {
  return join(dataDir, 'server.lock')
}
