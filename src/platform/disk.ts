import { closeSync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

/** Brings a file, or the names in a folder, to the disk: a power cut does not take them back. */
export function syncToDisk(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

export function syncFolderOf(path: string): void {
  syncToDisk(dirname(path))
}
