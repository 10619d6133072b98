import { realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { codeOf } from '../../platform/typed.ts'

export type DownloadFile = { path: string; sizeBytes: number; modifiedAt: number }

/** The error codes for a path without a file. */
const absent = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE'])

/**
 * The regular file at `file` inside `data/downloads`; undefined if there is none. It compares real paths, so neither
 * `..` nor a symbolic link can leave the folder (ASVS 5.0, 5.3.2).
 */
export async function findDownloadFile(dataDir: string, file: string): Promise<DownloadFile | undefined> {
  try {
    const folder = await realpath(join(dataDir, 'downloads'))
    const path = await realpath(join(folder, file))
    if (!path.startsWith(folder + sep)) return undefined
    const found = await stat(path)
    return found.isFile() ? { path, sizeBytes: found.size, modifiedAt: found.mtimeMs } : undefined
  } catch (error) {
    if (absent.has(codeOf(error) ?? '')) return undefined
    throw error
  }
}
