import { readdirSync } from 'node:fs'

/** The names in a folder; none if it does not exist, or if it is a file. */
export function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}
