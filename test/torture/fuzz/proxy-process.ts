import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { once } from 'node:events'
import type { Packed } from '../../support/packed.ts'

export type ProxyProcess = {
  pid: number
  url: string
  proxyRoot: string
  errors: string[]
  hasEnded(): boolean
  end(): Promise<void>
}

/** Starts `shopstead proxy` of the installed package in front of a server. */
export async function startProxy(packed: Packed, upstream: string): Promise<ProxyProcess> {
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [packed.program, 'proxy', '--upstream', upstream, '--port', '0', '--json'], {
    cwd: packed.home,
    env: { PATH, HOME, NO_COLOR: '1', SHOPSTEAD_LOG: 'info' },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const errors: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line))
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const { url, proxyRoot } = JSON.parse(line) as { url: string; proxyRoot: string }
  const ended = once(child, 'exit')
  return {
    pid: child.pid ?? 0,
    url,
    proxyRoot,
    errors,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async end() {
      child.kill('SIGTERM')
      await ended
    }
  }
}
