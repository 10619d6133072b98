import { join } from 'node:path'
import { listFolder } from '../../platform/files.ts'

/** Why a backup was made. Only scheduled backups are deleted automatically. */
export type BackupKind = 'manual' | 'scheduled' | 'before-migration'

/** A file name that sorts by time, without the colons that some file systems reject: `2026-01-15T12-00-00.000Z.db`. */
export function backupName(kind: BackupKind, now: number): string {
  const time = new Date(now).toISOString().replaceAll(':', '-')
  return kind === 'manual' ? `${time}.db` : `${time}-${kind}.db`
}

/** When the backup of this name was made, in epoch milliseconds; NaN for a file with a name of its own. */
export function timeOf(name: string): number {
  const [, day, hours, rest] = /(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d-\d\d\.\d{3}Z)[^/]*$/.exec(name) ?? []
  return Date.parse(`${day}${hours}:${rest?.replace('-', ':')}`)
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
 * The folders of a data folder that backups do not contain, because their files rarely change: `downloads`, the files that
 * buyers download, `mail-templates`, the operator's texts of emails, and `media`, the pictures of products. Empty and
 * missing folders are left out.
 */
export function notIncluded(dataDir: string): string[] {
  return ['downloads', 'mail-templates', 'media'].filter((name) => listFolder(join(dataDir, name)).length > 0)
}
