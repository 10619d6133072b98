import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { randomToken } from './crypto/secrets.ts'
import { listFolder } from './list-folder.ts'

const draftPrefix = '.unfinished-'
const staleAfterMs = 24 * 60 * 60_000

/** A hidden path in `folder` for an unfinished file or folder; its name contains this process's id. */
export function draftName(folder: string): string {
  return join(folder, `${draftPrefix}${process.pid}-${randomToken(6)}`)
}

/** Deletes unfinished files whose process has ended, or that are older than a day. */
export function deleteStaleDrafts(folder: string): void {
  for (const name of listFolder(folder)) {
    if (!name.startsWith(draftPrefix)) continue
    const path = join(folder, name)
    const pid = Number(name.slice(draftPrefix.length).split('-')[0])
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) continue
    if (!isAlive(pid) || Date.now() - stat.mtimeMs > staleAfterMs) rmSync(path, { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
