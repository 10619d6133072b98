import { execFile, execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { temporaryFolder } from '../temporary-folder.ts'
import type { Figure, Row } from './row.ts'

/** What somebody waits for who has never seen this package: every file comes over the network. */
export const installRow: Row = {
  name: 'install',
  about: 'installing with a cold cache',
  async measure(field) {
    await field.clear()
    const folder = temporaryFolder('install')
    return [await fromCheckout(folder), ...(await runtimeAlone(folder, field.packed.folder))]
  }
}

async function fromCheckout(folder: string): Promise<Figure> {
  const checkout = copyOfCheckout(join(folder, 'checkout'))
  const startedAt = performance.now()
  await npm(checkout, 'ci', '--cache', join(folder, 'cache-of-checkout'))
  await firstAnswer(checkout)
  const value = (performance.now() - startedAt) / 1000
  return { kind: 'figure', name: '`npm ci` to the first answer of `npm start`, cold cache', value, unit: 's', most: 60 }
}

async function runtimeAlone(folder: string, packedIn: string): Promise<Figure[]> {
  const home = join(folder, 'home')
  mkdirSync(home)
  const tarball = readdirSync(packedIn).find((name) => name.endsWith('.tgz')) ?? ''
  const startedAt = performance.now()
  await npm(home, 'install', join(packedIn, tarball), '--cache', join(folder, 'cache-of-package'))
  const seconds = (performance.now() - startedAt) / 1000
  const name = 'the package alone, installed with a cold cache'
  return [
    { kind: 'figure', name, value: seconds, unit: 's', most: 15 },
    { kind: 'figure', name: 'the package alone, on disk', value: megabytesIn(home), unit: 'MB', most: 110 }
  ]
}

/** What git knows of, as it stands now. */
function copyOfCheckout(to: string): string {
  const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0')
  for (const file of files) if (file !== '' && existsSync(file)) cpSync(file, join(to, file))
  return to
}

async function npm(cwd: string, ...args: string[]): Promise<void> {
  await promisify(execFile)('npm', [...args, '--no-audit', '--no-fund'], { cwd })
}

/** `npm start` as one types it, but on a free port and told to say where. */
async function firstAnswer(checkout: string): Promise<void> {
  const args = ['start', '--', '--port', '0', '--json']
  // A group of its own, so that npm's shell and the server end with it.
  const child = spawn('npm', args, { cwd: checkout, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  const ended = new Promise((resolve) => child.once('close', resolve))
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.startsWith('{')) continue
      const { url } = JSON.parse(line) as { url: string }
      const { status } = await fetch(`${url}/api/v1/health`)
      if (status === 200) return
      throw new Error(`/health answered ${status}.`)
    }
    throw new Error('npm start ended without an answer.')
  } finally {
    child.stdout.resume()
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM')
    await ended
  }
}

function megabytesIn(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0) / 1e6
}
