import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openGateway, stripeEnv } from '../../faults/shop-and-gateway.ts'
import type { Gateway } from '../../faults/shop-and-gateway.ts'
import { stablePort } from '../crash/crashing-shop.ts'
import type { Trial } from '../part.ts'
import { runPacked, servePacked } from '../packed-shop.ts'
import type { PackedServer, CommandResult, LaunchOptions } from '../packed-shop.ts'

export type HealthCheck = { name: string; status: 'ok' | 'warning' | 'failed'; message: string; advice: string }

/** A packed shop in a folder of its own, and the gateway that it pays with, which nothing happens to. */
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

  /** A shop with one kind of goods, and without limits on how often one address may ask; it does not run yet. */
  static async found(trial: Trial, dataDir: string): Promise<ShopAtRisk> {
    const port = await stablePort()
    const shop = new ShopAtRisk(trial, dataDir, port, await openGateway(() => `http://127.0.0.1:${port}`))
    const catalogue = join(trial.packed.folder, 'storage.json')
    writeFileSync(catalogue, JSON.stringify({ products: [{ slug: 'mug', name: 'Mug', price: '12.50' }] }))
    const limits = ['register_ip', 'login_ip', 'checkout_ip', 'checkout_decline']
    const commands = [
      ['migrate'],
      ['seed', catalogue],
      ...limits.map((bucket) => ['settings', 'set', `limits.${bucket}`, 'off'])
    ]
    for (const words of commands) {
      const { exitCode, stderr } = await shop.run(...words)
      if (exitCode !== 0) throw new Error(`shopstead ${words.join(' ')}: ${stderr}`)
    }
    return shop
  }

  async start(): Promise<PackedServer> {
    return (this.server = await servePacked(this.trial.packed, this.launch))
  }

  /** A start that is expected to fail; null when it does not within a minute. */
  async startInVain(): Promise<CommandResult | null> {
    const wrapper = ['timeout', '--signal=KILL', '60']
    const ran = await runPacked(this.trial.packed, { ...this.launch, wrapper }, 'serve', '--json')
    return ran.stdout.includes('apiRoot') ? null : ran
  }

  get pid(): number {
    const pid = this.server?.child.pid
    if (pid === undefined) throw new Error('the shop does not run')
    return pid
  }

  /** Whether it is still the process that was started: what is over must be over without a restart. */
  get stands(): boolean {
    return this.server !== undefined && this.server.child.exitCode === null && this.server.child.signalCode === null
  }

  async stop(): Promise<void> {
    const { server } = this
    this.server = undefined
    if (server === undefined) return
    const ended = await server.end()
    if (ended !== 0) this.trial.violation(`told to stop, the server ended with ${String(ended)}`)
  }

  async close(): Promise<void> {
    await this.server?.end('SIGKILL')
    await this.gateway.close()
  }

  run(...words: string[]): Promise<CommandResult> {
    return runPacked(this.trial.packed, this.launch, ...words)
  }

  /** What `shopstead health` says, by the names of its checks. */
  async health(): Promise<Map<string, HealthCheck>> {
    const { stdout, exitCode } = await this.run('health', '--json')
    const { status, checks } = JSON.parse(stdout) as { status: string; checks: HealthCheck[] }
    if (exitCode !== (status === 'failed' ? 1 : 0))
      this.trial.violation(`health found "${status}" and ended with ${exitCode}`)
    return new Map(checks.map((check) => [check.name, check]))
  }
}
