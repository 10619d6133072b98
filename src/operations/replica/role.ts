import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { syncFolderOf, syncToDisk, unfinishedPath } from '../../platform/files.ts'
import { toIso } from '../../platform/iso-time.ts'

/** The folder with the copies that a following machine serves, data/follow. */
export function followFolder(dataDir: string): string {
  return join(dataDir, 'follow')
}

function promotedFile(dataDir: string): string {
  return join(dataDir, 'promoted')
}

/** Whether `promote` has made this data folder the shop. */
export function isPromoted(dataDir: string): boolean {
  return existsSync(promotedFile(dataDir))
}

/** Whether this data folder follows a replica, and is not the shop. */
export function isFollower(dataDir: string): boolean {
  return existsSync(followFolder(dataDir)) && !isPromoted(dataDir)
}

/** Creates the folder for the copies. */
export function beginToFollow(dataDir: string): void {
  mkdirSync(followFolder(dataDir), { recursive: true, mode: 0o700 })
}

/** Takes the mark of `promote` back, because another machine is the shop now. */
export function unmarkPromoted(dataDir: string): void {
  rmSync(promotedFile(dataDir), { force: true })
  syncFolderOf(promotedFile(dataDir))
}

/** Deletes the copies. Only a selling server calls it. */
export function endFollowing(dataDir: string): void {
  rmSync(followFolder(dataDir), { recursive: true, force: true })
}

/** Marks a data folder as the shop, in one step that survives a power cut. */
export function markPromoted(dataDir: string, now: number): void {
  const draft = unfinishedPath(dataDir)
  writeFileSync(draft, `${toIso(now)}\n`, { mode: 0o600 })
  syncToDisk(draft)
  renameSync(draft, promotedFile(dataDir))
  syncFolderOf(promotedFile(dataDir))
}
