import type { Call } from './trace.ts'

/** A write that was answered with 2xx, and what of it must be in the log by then. */
export type Acknowledged = {
  /** Sent as its correlation id, so that it is found in the trace. */
  id: string
  /** Text that nobody else writes. */
  marker: string
  what: string
}

type Findings = {
  /** Answers of whose request something was written and synced first. */
  proved: Map<string, number>
  gatewayCalls: number
  violations: string[]
}

type Open = { what: string; marker: string; writtenAt: number | null }

const sending: ReadonlySet<string> = new Set(['write', 'writev', 'sendto', 'sendmsg'])
const receiving: ReadonlySet<string> = new Set(['read', 'readv', 'recvfrom'])

/**
 * Follows the server's system calls in their order: when the first bytes of a 2xx leave, what its request wrote must be
 * in the log and the log synced, by a call that has come back. The same holds for what the gateway is told, since money
 * may move then.
 */
export class OrderOfEvents {
  readonly findings: Findings = { proved: new Map(), gatewayCalls: 0, violations: [] }
  /** Whose request has not been seen yet. */
  private readonly unseen: Map<string, Acknowledged>
  private readonly shopPort: number
  private readonly gatewayPort: number
  /** Requests under way, by connection. */
  private readonly open = new Map<string, Open>()
  /** When the log was last written to, and last synced after that, as places in the trace. */
  private writtenAt = 0
  private syncedAt = 0

  constructor(acknowledged: readonly Acknowledged[], ports: { shop: number; gateway: number }) {
    this.unseen = new Map(acknowledged.map((each) => [each.id, each]))
    this.shopPort = ports.shop
    this.gatewayPort = ports.gateway
  }

  take(call: Call): void {
    if (call.target.endsWith('/shopstead.db-wal')) this.takeLog(call)
    else if (call.target.includes(`:${this.shopPort}->`)) this.takeRequest(call)
    else if (call.target.endsWith(`:${this.gatewayPort}]`) && sending.has(call.name)) this.takeGateway(call)
  }

  /** Answers that were never seen in the trace prove nothing. */
  finish(): Findings {
    for (const { id, what } of this.unseen.values()) this.findings.violations.push(`${what} ${id} is not in the trace`)
    return this.findings
  }

  private takeLog(call: Call): void {
    if (call.name === 'fsync' || call.name === 'fdatasync') {
      // Only what was written before it began is sure to be on the disk when it has ended.
      if (call.result === 0 && call.begun > this.writtenAt) this.syncedAt = call.ended
      return
    }
    this.writtenAt = call.ended
    for (const open of this.open.values())
      if (open.writtenAt === null && call.text.includes(open.marker)) open.writtenAt = call.ended
  }

  private takeRequest(call: Call): void {
    const { target, name, text } = call
    if (receiving.has(name)) {
      const open = this.arrival(text)
      if (open !== undefined) this.open.set(target, open)
      return
    }
    const open = this.open.get(target)
    if (open === undefined || !sending.has(name)) return
    this.open.delete(target)
    if (!/"HTTP\/1\.1 2\d\d /.test(text)) return
    this.judge(`a 2xx to ${open.what}`, open, call)
    this.findings.proved.set(open.what, (this.findings.proved.get(open.what) ?? 0) + 1)
  }

  private arrival(text: string): Open | undefined {
    if (!text.includes('"POST /') && !text.includes('"PATCH /')) return undefined
    const webhook = /POST \S+\/webhooks\/stripe [\s\S]*?\\"id\\":\s*\\"(evt_\w+)/.exec(text)?.[1]
    if (webhook !== undefined) return { what: 'webhook', marker: webhook, writtenAt: null }
    const id = /x-correlation-id: ([\w-]+)/i.exec(text)?.[1] ?? ''
    const known = this.unseen.get(id)
    if (known === undefined) return undefined
    this.unseen.delete(id)
    return { what: known.what, marker: known.marker, writtenAt: null }
  }

  private takeGateway(call: Call): void {
    if (!call.text.includes('"POST /v1/')) return
    this.findings.gatewayCalls += 1
    const [only, ...others] = [...this.open.values()].filter(({ what }) => what.startsWith('checkout'))
    if (only !== undefined && others.length === 0) this.judge('a call to the gateway', only, call)
    else if (this.isLogOpen(call)) this.findings.violations.push(`the gateway was called before the log was synced`)
  }

  private judge(event: string, { what, marker, writtenAt }: Open, call: Call): void {
    if (writtenAt === null) this.findings.violations.push(`${event} left, but nothing of ${what} ${marker} was written`)
    else if (this.syncedAt < writtenAt || this.isLogOpen(call))
      this.findings.violations.push(`${event} left before the sync of ${what} ${marker} had ended`)
  }

  /** Whether something in the log is not known to be on the disk when a call begins. */
  private isLogOpen({ begun }: Call): boolean {
    return this.syncedAt < this.writtenAt || this.syncedAt > begun
  }
}
