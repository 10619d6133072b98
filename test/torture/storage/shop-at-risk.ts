import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openGateway, stripeEnv } from '../../faults/shop-and-gateway.ts'
import type { Gateway } from '../../faults/shop-and-gateway.ts'
import { stablePort } from '../crash/crashing-shop.ts'
import type { Trial } from '../part.ts'
import { runPacked, servePacked } from '../packed-shop.ts'
import { commandsWithoutHoldLimits } from '../../support/hold-limits.ts'
import type { PackedServer, CommandResult, LaunchOptions } from '../packed-shop.ts'

export type HealthCheck = { name: string; status: 'ok' | 'warning' | 'failed'; message: string; advice: string }

/** A packed shop whose storage fails, and its gateway, which has no faults. */
export class ShopAtRisk {
  readonly trial: Trial
  readonly dataDir: string
  readonly file: string
  readonly apiRoot: string
  readonly gateway: Gateway
  private readonly launch: LaunchOptions
  private server: PackedServer | undefined

  private constructor(trial: Trial, dataDir: string, port: number, gateway: Gateway) {
    this.trial = trial
    this.dataDir = dataDir
    this.file = join(dataDir, 'shopstead.db')
    this.apiRoot = `http://127.0.0.1:${port}/api/v1`
    this.gateway = gateway
    this.launch = { dataDir, env: { ...stripeEnv(gateway.origin), SHOPSTEAD_PORT: String(port) } }
  }

  /** Creates a shop with one product and without rate limits. Does not start it. */
  static async create(trial: Trial, dataDir: string): Promise<ShopAtRisk> {
    const port = await stablePort()
    const shop = new ShopAtRisk(trial, dataDir, port, await openGateway(() => `http://127.0.0.1:${port}`))
    const catalog = join(trial.packed.folder, 'storage.json')
    writeFileSync(catalog, JSON.stringify({ products: [{ slug: 'mug', name: 'Mug', price: '12.50' }] }))
    const limits = ['register_ip', 'login_ip', 'checkout_ip', 'checkout_decline']
    const commands = [
      ['init'],
      ['seed', catalog],
      ...limits.map((bucket) => ['settings', 'set', `limits.${bucket}`, 'off']),
      ...commandsWithoutHoldLimits
    ]
    for (const args of commands) {
      const { exitCode, stderr } = await shop.run(...args)
      if (exitCode !== 0) throw new Error(`shopstead ${args.join(' ')}: ${stderr}`)
    }
    return shop
  }

  async start(): Promise<PackedServer> {
    return (this.server = await servePacked(this.trial.packed, this.launch))
  }

  /** Starts the server, which is expected to fail. Null if it starts. */
  async startExpectingFailure(): Promise<CommandResult | null> {
    const wrapper = ['timeout', '--signal=KILL', '60']
    const ran = await runPacked(this.trial.packed, { ...this.launch, wrapper }, 'serve', '--json')
    return ran.stdout.includes('apiRoot') ? null : ran
  }

  get pid(): number {
    const pid = this.server?.child.pid
    if (pid === undefined) throw new Error('the shop is not running')
    return pid
  }

  /** Whether the started process is still running. */
  get isRunning(): boolean {
    return this.server !== undefined && this.server.child.exitCode === null && this.server.child.signalCode === null
  }

  async stop(): Promise<void> {
    const { server } = this
    this.server = undefined
    if (server === undefined) return
    const ended = await server.end()
    if (ended !== 0) this.trial.violation(`after SIGTERM the server ended with ${String(ended)}`)
  }

  async close(): Promise<void> {
    await this.server?.end('SIGKILL')
    await this.gateway.close()
  }

  run(...args: string[]): Promise<CommandResult> {
    return runPacked(this.trial.packed, this.launch, ...args)
  }

  /** The checks of `shopstead health` by name. */
  async health(): Promise<Map<string, HealthCheck>> {
    const { stdout, exitCode } = await this.run('health', '--deep', '--json')
    const { status, checks } = JSON.parse(stdout) as { status: string; checks: HealthCheck[] }
    if (exitCode !== (status === 'failed' ? 1 : 0))
      this.trial.violation(`health reported "${status}", but ended with ${exitCode}`)
    return new Map(checks.map((check) => [check.name, check]))
  }
}
