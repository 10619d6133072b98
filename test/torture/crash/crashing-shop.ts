import { randomInt } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Packed } from '../../support/packed.ts'
import { runPacked, servePacked } from '../packed-shop.ts'
import type { PackedServer, CommandResult } from '../packed-shop.ts'

/** How long it took until `/health` was ok, and how much of that it and its asker stood in line for a processor. */
export type Restart = { tookMs: number; starvedMs: number }

/** The packed server at one address, to be killed and started again on the same data. */
export class CrashingShop {
  readonly url: string
  readonly apiRoot: string
  private readonly packed: Packed
  private readonly launch: { dataDir: string; env: Record<string, string> }
  private server: PackedServer | undefined
  private waiting: (() => void)[] = []
  private isStruck = false

  constructor(packed: Packed, place: { dataDir: string; port: number; env: Record<string, string> }) {
    this.packed = packed
    this.url = `http://127.0.0.1:${place.port}`
    this.apiRoot = `${this.url}/api/v1`
    const env = { ...place.env, SHOPSTEAD_PORT: String(place.port), SHOPSTEAD_PUBLIC_URL: this.url }
    this.launch = { dataDir: place.dataDir, env }
  }

  /** Starts it, and asks for `/health` as soon as it listens. */
  async start(): Promise<Restart> {
    const started = performance.now()
    const starvedBefore = starvedMs('self')
    const server = await servePacked(this.packed, this.launch)
    const health = await fetch(`${this.apiRoot}/health`)
    const tookMs = performance.now() - started
    if (health.status !== 200) throw new Error(`/health answered ${health.status}: ${await health.text()}`)
    const starved = starvedMs('self') - starvedBefore + starvedMs(server.child.pid)
    this.server = server
    this.isStruck = false
    for (const proceed of this.waiting.splice(0)) proceed()
    return { tookMs, starvedMs: starved }
  }

  /** Starts it and kills it that many milliseconds later, whatever it is at by then. */
  async startInVain(killAfterMs: number): Promise<void> {
    const wrapper = ['timeout', '--signal=KILL', String(killAfterMs / 1000)]
    await runPacked(this.packed, { ...this.launch, wrapper }, 'serve', '--json')
  }

  /** Resolves at once while it stands, else when it has been started again. */
  standing(): Promise<void> {
    return this.server === undefined ? new Promise((resolve) => this.waiting.push(resolve)) : Promise.resolve()
  }

  /** Sends SIGKILL without waiting for its effect, as whatever kills a process does. */
  strike(): void {
    this.isStruck = true
    this.server?.child.kill('SIGKILL')
  }

  /** Resolves when it is dead, with whether it died of a strike; a life that ends by itself is a finding. */
  async dead(): Promise<{ byStrike: boolean }> {
    await this.server?.ended
    return { byStrike: this.isStruck }
  }

  /** The end of what it wrote to standard error. */
  lastWords(): string {
    return this.server?.errors.slice(-5).join('\n') ?? ''
  }

  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    const { server } = this
    if (server === undefined) return null
    this.server = undefined
    return server.end(signal)
  }

  /** A command of the operator's beside it, on the same data; `killAfterMs` ends it like a lost terminal. */
  run(words: readonly string[], killAfterMs?: number): Promise<CommandResult> {
    const wrapper =
      killAfterMs === undefined ? {} : { wrapper: ['timeout', '--signal=KILL', String(killAfterMs / 1000)] }
    return runPacked(this.packed, { ...this.launch, ...wrapper }, ...words, '--json')
  }
}

/**
 * A free port below those that outgoing connections are given: while nobody listens there, a connection to one of those
 * may be given the same port as its own, and then talks to itself.
 */
export async function lastingPort(): Promise<number> {
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

/** What the kernel says of the time a process stood in line for a processor; 0 where it does not say. */
function starvedMs(pid: number | 'self' | undefined): number {
  const file = `/proc/${pid}/schedstat`
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split(' ')[1]) / 1e6 : 0
}
