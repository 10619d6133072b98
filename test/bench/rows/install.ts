import { execFile, execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { temporaryFolder } from '../temporary-folder.ts'
import type { Figure, Row } from './row.ts'

/** The time of a first installation, with all files from the network. */
export const installRow: Row = {
  name: 'install',
  about: 'installation with a cold cache',
  async measure(context) {
    await context.clear()
    const folder = temporaryFolder('install')
    return [await fromCheckout(folder), ...(await runtimeAlone(folder, context.packed.folder))]
  }
}

async function fromCheckout(folder: string): Promise<Figure> {
  const checkout = copyOfCheckout(join(folder, 'checkout'))
  const startedAt = performance.now()
  await npm(checkout, 'ci', '--cache', join(folder, 'cache-of-checkout'))
  await firstAnswer(checkout)
  const value = (performance.now() - startedAt) / 1000
  return {
    kind: 'figure',
    name: '`npm ci` to the first response of `npm start`, cold cache',
    value,
    unit: 's',
    max: 60
  }
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
    { kind: 'figure', name, value: seconds, unit: 's', max: 15 },
    { kind: 'figure', name: 'the package alone, on disk', value: megabytesIn(home), unit: 'MB', max: 110 }
  ]
}

/** Copies the tracked files in their current state. */
function copyOfCheckout(to: string): string {
  const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0')
  for (const file of files) if (file !== '' && existsSync(file)) cpSync(file, join(to, file))
  return to
}

async function npm(cwd: string, ...args: string[]): Promise<void> {
  await promisify(execFile)('npm', [...args, '--no-audit', '--no-fund'], { cwd })
}

/** Runs `npm start` on a free port and waits for the first response. */
async function firstAnswer(checkout: string): Promise<void> {
  const args = ['start', '--', '--port', '0', '--json']
  // A separate process group, so that npm's shell and the server end with it.
  const child = spawn('npm', args, { cwd: checkout, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  const ended = new Promise((resolve) => child.once('close', resolve))
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.startsWith('{')) continue
      const { url } = JSON.parse(line) as { url: string }
      const { status } = await fetch(`${url}/api/v1/health`)
      if (status === 200) return
      throw new Error(`/health returned ${status}.`)
    }
    throw new Error('npm start ended without a response.')
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
