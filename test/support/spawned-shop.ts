import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export type SpawnedShop = {
  apiRoot: string
  /** The signal that ended it, when it has ended. */
  died: Promise<NodeJS.Signals | null>
}

/**
 * Starts a shop's server in its own process on a seeded data folder; it ends with the test. At the trigger `moment`
 * (`AFTER INSERT ON orders`) it kills itself.
 */
export async function spawnShop(dataDir: string, moment?: string): Promise<SpawnedShop> {
  const script = fileURLToPath(new URL('./shop-process.ts', import.meta.url))
  const args = moment === undefined ? [script, dataDir] : [script, dataDir, moment]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const died = once(child, 'close').then(([, signal]) => signal as NodeJS.Signals | null)
  const [apiRoot] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { apiRoot, died }
}
