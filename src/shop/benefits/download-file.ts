import { realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'

export type DownloadFile = { path: string; sizeBytes: number; modifiedAt: number }

/** What a path can be that simply leads nowhere. */
const absent = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE'])

/**
 * The regular file that `file` names inside `data/downloads`, by its real path: neither `..` nor a symbolic link leads
 * out of the folder (ASVS 5.0, 5.3.2). Undefined when there is none.
 */
export async function findDownloadFile(dataDir: string, file: string): Promise<DownloadFile | undefined> {
  try {
    const folder = await realpath(join(dataDir, 'downloads'))
    const path = await realpath(join(folder, file))
    if (!path.startsWith(folder + sep)) return undefined
    const found = await stat(path)
    return found.isFile() ? { path, sizeBytes: found.size, modifiedAt: found.mtimeMs } : undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && absent.has(String(error.code))) return undefined
    throw error
  }
}
