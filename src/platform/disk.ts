import { closeSync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

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
