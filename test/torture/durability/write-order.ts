import type { SystemCall } from './trace.ts'

/** A write that was answered with 2xx, and the data that must be in the write-ahead log by then. */
export type Acknowledged = {
  /** The request's correlation id, which identifies it in the trace. */
  id: string
  /** Text that no other request writes. */
  marker: string
  what: string
}

type Findings = {
  /** The number of 2xx responses by kind that were sent after the write and its sync. */
  verified: Map<string, number>
  gatewayCalls: number
  violations: string[]
}

type OpenRequest = { what: string; marker: string; writtenAt: number | null }

const sending: ReadonlySet<string> = new Set(['write', 'writev', 'sendto', 'sendmsg'])
const receiving: ReadonlySet<string> = new Set(['read', 'readv', 'recvfrom'])

/**
 * Verifies the order of the server's system calls. When the first bytes of a 2xx are sent, the request's data must be in
 * the log, and a sync of the log must have returned. The same applies to a request to the gateway, because it may move
 * money.
 */
export class WriteOrderChecker {
  readonly findings: Findings = { verified: new Map(), gatewayCalls: 0, violations: [] }
  /** The writes whose request is not in the trace yet. */
  private readonly missing: Map<string, Acknowledged>
  private readonly shopPort: number
  private readonly gatewayPort: number
  /** The current request of each connection. */
  private readonly open = new Map<string, OpenRequest>()
  /** Positions in the trace: the last write to the log, and the last sync that covers all earlier writes. */
  private writtenAt = 0
  private syncedAt = 0

  constructor(acknowledged: readonly Acknowledged[], ports: { shop: number; gateway: number }) {
    this.missing = new Map(acknowledged.map((each) => [each.id, each]))
    this.shopPort = ports.shop
    this.gatewayPort = ports.gateway
  }

  process(call: SystemCall): void {
    if (call.target.endsWith('/shopstead.db-wal')) this.onLogCall(call)
    else if (call.target.includes(`:${this.shopPort}->`)) this.onRequestCall(call)
    else if (call.target.endsWith(`:${this.gatewayPort}]`) && sending.has(call.name)) this.onGatewayCall(call)
  }

  /** The findings. A write that is missing in the trace is a violation. */
  finish(): Findings {
    for (const { id, what } of this.missing.values()) this.findings.violations.push(`${what} ${id} is not in the trace`)
    return this.findings
  }

  private onLogCall(call: SystemCall): void {
    if (call.name === 'fsync' || call.name === 'fdatasync') {
      // A sync covers only writes that ended before it started.
      if (call.result === 0 && call.startedAt > this.writtenAt) this.syncedAt = call.endedAt
      return
    }
    this.writtenAt = call.endedAt
    for (const open of this.open.values())
      if (open.writtenAt === null && call.text.includes(open.marker)) open.writtenAt = call.endedAt
  }

  private onRequestCall(call: SystemCall): void {
    const { target, name, text } = call
    if (receiving.has(name)) {
      const open = this.parseRequest(text)
      if (open !== undefined) this.open.set(target, open)
      return
    }
    const open = this.open.get(target)
    if (open === undefined || !sending.has(name)) return
    this.open.delete(target)
    if (!/"HTTP\/1\.1 2\d\d /.test(text)) return
    this.verify(`a 2xx to ${open.what}`, open, call)
    this.findings.verified.set(open.what, (this.findings.verified.get(open.what) ?? 0) + 1)
  }

  private parseRequest(text: string): OpenRequest | undefined {
    if (!text.includes('"POST /') && !text.includes('"PATCH /')) return undefined
    const webhook = /POST \S+\/webhooks\/stripe [\s\S]*?\\"id\\":\s*\\"(evt_\w+)/.exec(text)?.[1]
    if (webhook !== undefined) return { what: 'webhook', marker: webhook, writtenAt: null }
    const id = /x-correlation-id: ([\w-]+)/i.exec(text)?.[1] ?? ''
    const known = this.missing.get(id)
    if (known === undefined) return undefined
    this.missing.delete(id)
    return { what: known.what, marker: known.marker, writtenAt: null }
  }

  private onGatewayCall(call: SystemCall): void {
    if (!call.text.includes('"POST /v1/')) return
    this.findings.gatewayCalls += 1
    const [only, ...others] = [...this.open.values()].filter(({ what }) => what.startsWith('checkout'))
    if (only !== undefined && others.length === 0) this.verify('a call to the gateway', only, call)
    else if (this.isLogOpen(call)) this.findings.violations.push(`the gateway was called before the log was synced`)
  }

  private verify(event: string, { what, marker, writtenAt }: OpenRequest, call: SystemCall): void {
    if (writtenAt === null) this.findings.violations.push(`${event} left, but nothing of ${what} ${marker} was written`)
    else if (this.syncedAt < writtenAt || this.isLogOpen(call))
      this.findings.violations.push(`${event} left before the sync of ${what} ${marker} had endedAt`)
  }

  /** Whether the log contains data that may not be on disk when a call starts. */
  private isLogOpen({ startedAt }: SystemCall): boolean {
    return this.syncedAt < this.writtenAt || this.syncedAt > startedAt
  }
}
