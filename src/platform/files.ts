import { rmSync, statSync, closeSync, fsyncSync, openSync, readdirSync } from 'node:fs'
import { join, dirname } from 'node:path'
import { randomBytes } from 'node:crypto'
import { codeOf } from './typed.ts'

const prefix = '.unfinished-'
const staleAfterMs = 24 * 60 * 60_000

/** A hidden path in `folder` for an unfinished file or folder; its name contains this process's id. */
export function unfinishedPath(folder: string): string {
  return join(folder, `${prefix}${process.pid}-${randomBytes(6).toString('base64url')}`)
}

/** Deletes unfinished files whose process has ended, or that are older than a day. */
export function deleteUnfinished(folder: string): void {
  for (const name of listFolder(folder)) {
    if (!name.startsWith(prefix)) continue
    const path = join(folder, name)
    const pid = Number(name.slice(prefix.length).split('-')[0])
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) continue
    if (!isAlive(pid) || Date.now() - stat.mtimeMs > staleAfterMs) rmSync(path, { recursive: true, force: true })
  }
}

/** Whether a process runs on this machine. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** Syncs a file, or the names in a folder, to disk, so that a power cut does not undo the change. */
export function syncToDisk(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Syncs the folder of `path`, so that a new name in it survives a power cut. */
export function syncFolderOf(path: string): void {
  syncToDisk(dirname(path))
}

/** The names in a folder; none if it does not exist, or if it is a file. */
export function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return []
    throw error
  }
}
