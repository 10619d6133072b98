import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../platform/package-root.ts'

/**
 * Makes a process of root act as the owner of the data folder, so that the files it makes there belong to that user: the
 * server of that user could not write files of root. Nothing changes for a folder that root owns or that is missing.
 *
 * @returns a warning for the operator; undefined if nothing changed
 */
export function actAsOwner(dataDir: string): string | undefined {
  const folder = statSync(dataDir, { throwIfNoEntry: false })
  if (folder === undefined || folder.uid === 0) return undefined
  const { uid, gid } = folder
  if (!canWork(uid, gid, dataDir))
    return (
      `This command runs as root on the data folder of user ${uid}, who cannot reach it or the program. Files that it ` +
      `makes belong to root: run "chown -R ${uid}:${gid} ${dataDir}" afterwards.`
    )
  process.setgroups?.([gid])
  process.setgid?.(gid)
  process.setuid?.(uid)
  return `This command was started by root. It runs as user ${uid}, who owns ${dataDir}.`
}

/** Whether that user reaches the data folder and the program: a checkout in /root is closed to other users. */
function canWork(uid: number, gid: number, dataDir: string): boolean {
  process.setegid?.(gid)
  process.seteuid?.(uid)
  try {
    // Not access(2), which asks for the real user: that is still root.
    readdirSync(dataDir)
    readdirSync(join(packageRoot, 'docs'))
    return true
  } catch {
    return false
  } finally {
    process.seteuid?.(0)
    process.setegid?.(0)
  }
}
