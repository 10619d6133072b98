import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Creates a folder that is deleted after the test, or when another `onEnd` says so. */
export function temporaryFolder(onEnd: (end: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-test-'))
  onEnd(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
