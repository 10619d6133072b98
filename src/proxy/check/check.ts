import { AppError } from '../../errors.ts'
import { betweenRules } from './between-rules.ts'
import { standBetween } from './middle.ts'
import { outsideRules } from './outside-rules.ts'
import { CannotTell } from './rule.ts'
import type { Timeouts, Rule } from './rule.ts'
import { sendTo } from './site.ts'
import type { Site } from './site.ts'

export type Finding = {
  rule: string
  says: string
  status: 'kept' | 'broken' | 'unchecked'
  /** What breaks it, or why it could not be checked. */
  problems: string[]
}

export type CheckOptions = {
  /** The proxy's root, such as https://www.example.com/api/secure. */
  root: URL
  /** Stands between the proxy and its service on this port, handing on to this api_root. */
  between?: { port: number; service: URL } | undefined
  timeouts?: Timeouts
  /** Told where it stands, before anything is sent. */
  onListening?: (port: number) => void
}

export const ruleNames: readonly string[] = [...outsideRules, ...betweenRules].map(({ name }) => name)

/**
 * Holds a running proxy against every rule there is for one. Changes nothing in the shop behind it.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE when there is no proxy, no service behind it, or its requests come by another way
 */
export async function checkProxy({ root, between, timeouts, onListening }: CheckOptions): Promise<Finding[]> {
  const middle = between === undefined ? undefined : await standBetween(between.service, between.port)
  try {
    if (middle !== undefined) onListening?.(middle.port)
    const send = sendTo(root)
    const site: Site = { send, middle, nonce: await firstNonce(send) }
    if (middle !== undefined && middle.arrived.length === 0) throw elsewhere(middle.port)
    const findings: Finding[] = []
    for (const rule of [...outsideRules, ...betweenRules]) {
      findings.push(await judge(rule, site, timeouts ?? { usualMs: 15_000, checkoutMs: 30_000 }))
    }
    return findings
  } finally {
    await middle?.close()
  }
}

async function judge(rule: Rule, site: Site, timeouts: Timeouts): Promise<Finding> {
  const { name, says } = rule
  if (rule.between === true && site.middle === undefined)
    return { rule: name, says, status: 'unchecked', problems: ['needs --listen and --service'] }
  try {
    const problems = await rule.check(site, timeouts)
    return { rule: name, says, status: problems.length === 0 ? 'kept' : 'broken', problems }
  } catch (error) {
    const status = error instanceof CannotTell ? 'unchecked' : 'broken'
    return { rule: name, says, status, problems: [error instanceof Error ? error.message : String(error)] }
  }
}

async function firstNonce(send: Site['send']): Promise<string> {
  const reply = await send('GET', '/nonce').catch((cause: unknown) => {
    throw new AppError('DEPENDENCY_UNAVAILABLE', 'Nothing answers at this address.', {}, { cause })
  })
  const { nonce } = reply.data
  if (typeof nonce === 'string') return nonce
  throw new AppError(
    'DEPENDENCY_UNAVAILABLE',
    `GET /nonce answers ${reply.status} and no nonce: is this the proxy's root, and does the service behind it run?`
  )
}

function elsewhere(port: number): AppError {
  return new AppError(
    'DEPENDENCY_UNAVAILABLE',
    `The proxy does not send its requests to port ${port}: make http://127.0.0.1:${port} its upstream for the check.`
  )
}
