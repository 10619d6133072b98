import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Creates a temporary folder that is removed when the process exits. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `shopstead-${name}-`))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
