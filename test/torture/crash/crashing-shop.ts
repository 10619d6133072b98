import { randomInt } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Packed } from '../../support/packed.ts'
import { runPacked, servePacked } from '../packed-shop.ts'
import type { PackedServer, CommandResult } from '../packed-shop.ts'

/** The time until `/health` was ok, and the part of it in which the server and this process waited for a processor. */
export type Restart = { tookMs: number; cpuWaitMs: number }

/** The packed server at a fixed address, which is killed and restarted on the same data. */
export class CrashingShop {
  readonly url: string
  readonly apiRoot: string
  private readonly packed: Packed
  private readonly launch: { dataDir: string; env: Record<string, string> }
  private server: PackedServer | undefined
  private waiting: (() => void)[] = []
  private wasKilled = false

  constructor(packed: Packed, place: { dataDir: string; port: number; env: Record<string, string> }) {
    this.packed = packed
    this.url = `http://127.0.0.1:${place.port}`
    this.apiRoot = `${this.url}/api/v1`
    const env = { ...place.env, SHOPSTEAD_PORT: String(place.port), SHOPSTEAD_PUBLIC_URL: this.url }
    this.launch = { dataDir: place.dataDir, env }
  }

  /** Starts the server and requests `/health` when it listens. */
  async start(): Promise<Restart> {
    const started = performance.now()
    const cpuWaitBefore = cpuWaitMs('self')
    const server = await servePacked(this.packed, this.launch)
    const health = await fetch(`${this.apiRoot}/health`)
    const tookMs = performance.now() - started
    if (health.status !== 200) throw new Error(`/health returned ${health.status}: ${await health.text()}`)
    const cpuWait = cpuWaitMs('self') - cpuWaitBefore + cpuWaitMs(server.child.pid)
    this.server = server
    this.wasKilled = false
    for (const proceed of this.waiting.splice(0)) proceed()
    return { tookMs, cpuWaitMs: cpuWait }
  }

  /** Starts the server and kills it after that many milliseconds, during its start. */
  async startAndKill(killAfterMs: number): Promise<void> {
    const wrapper = ['timeout', '--signal=KILL', String(killAfterMs / 1000)]
    await runPacked(this.packed, { ...this.launch, wrapper }, 'serve', '--json')
  }

  /** Resolves immediately if the server runs, else after its restart. */
  whenRunning(): Promise<void> {
    return this.server === undefined ? new Promise((resolve) => this.waiting.push(resolve)) : Promise.resolve()
  }

  /** Sends SIGKILL and does not wait for its effect. */
  kill(): void {
    this.wasKilled = true
    this.server?.child.kill('SIGKILL')
  }

  /** Resolves when the server has ended. `byKill` is false if it ended without `kill`, which is a violation. */
  async died(): Promise<{ byKill: boolean }> {
    await this.server?.ended
    return { byKill: this.wasKilled }
  }

  /** The last lines of its standard error. */
  lastErrors(): string {
    return this.server?.errors.slice(-5).join('\n') ?? ''
  }

  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    const { server } = this
    if (server === undefined) return null
    this.server = undefined
    return server.end(signal)
  }

  /** Runs a command on the same data. `killAfterMs` kills it, as the loss of its terminal does. */
  run(words: readonly string[], killAfterMs?: number): Promise<CommandResult> {
    const wrapper =
      killAfterMs === undefined ? {} : { wrapper: ['timeout', '--signal=KILL', String(killAfterMs / 1000)] }
    return runPacked(this.packed, { ...this.launch, ...wrapper }, ...words, '--json')
  }
}

/**
 * A free port below the range of ephemeral ports. While no server listens on a port of that range, a connection to it may
 * get the same port as its source, and so connect to itself.
 */
export async function stablePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** The time that a process has waited for a processor (proc(5), schedstat); 0 if unknown. */
function cpuWaitMs(pid: number | 'self' | undefined): number {
  const file = `/proc/${pid}/schedstat`
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split(' ')[1]) / 1e6 : 0
}
