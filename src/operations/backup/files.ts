import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { randomToken } from '../../platform/crypto/secrets.ts'

/** Why a backup was made. Only scheduled backups are deleted automatically. */
export type BackupKind = 'manual' | 'scheduled' | 'before-migration'

const draftPrefix = '.unfinished-'
const staleAfterMs = 24 * 60 * 60_000

/** A file name that sorts by time, without the colons that some file systems reject: `2026-01-15T12-00-00.000Z.db`. */
export function backupName(kind: BackupKind, now: number): string {
  const time = new Date(now).toISOString().replaceAll(':', '-')
  return kind === 'manual' ? `${time}.db` : `${time}-${kind}.db`
}

/** The kind that `backupName` wrote into a file name. */
export function kindOf(name: string): BackupKind {
  return name.endsWith('-scheduled.db')
    ? 'scheduled'
    : name.endsWith('-before-migration.db')
      ? 'before-migration'
      : 'manual'
}

/** The paths of the finished backups in a folder, newest first. */
export function backupFiles(folder: string): string[] {
  return listFolder(folder)
    .filter((name) => name.endsWith('.db') && !name.startsWith('.'))
    .toSorted()
    .reverse()
    .map((name) => join(folder, name))
}

/**
 * The folders of a data folder that backups do not contain, because their files are large and rarely change: `downloads`,
 * the files that buyers download, and `media`, the pictures of products. Empty and missing folders are left out.
 */
export function notIncluded(dataDir: string): string[] {
  return ['downloads', 'media'].filter((name) => listFolder(join(dataDir, name)).length > 0)
}

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

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
