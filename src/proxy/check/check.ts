import { AppError } from '../../errors.ts'
import { upstreamRules } from './upstream-rules.ts'
import { startInterceptor } from './interceptor.ts'
import { clientRules } from './client-rules.ts'
import { CannotCheck } from './rule.ts'
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
  intercept?: { port: number; service: URL } | undefined
  timeouts?: Timeouts
  /** Told where it stands, before anything is sent. */
  onListening?: (port: number) => void
}

export const ruleNames: readonly string[] = [...clientRules, ...upstreamRules].map(({ name }) => name)

/**
 * Holds a running proxy against every rule there is for one. Changes nothing in the shop behind it.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE when there is no proxy, no service behind it, or its requests come by another way
 */
export async function checkProxy({ root, intercept, timeouts, onListening }: CheckOptions): Promise<Finding[]> {
  const interceptor = intercept === undefined ? undefined : await startInterceptor(intercept.service, intercept.port)
  try {
    if (interceptor !== undefined) onListening?.(interceptor.port)
    const send = sendTo(root)
    const site: Site = { send, interceptor, nonce: await firstNonce(send) }
    if (interceptor !== undefined && interceptor.received.length === 0) throw notRouted(interceptor.port)
    const findings: Finding[] = []
    for (const rule of [...clientRules, ...upstreamRules]) {
      findings.push(await evaluate(rule, site, timeouts ?? { usualMs: 15_000, checkoutMs: 30_000 }))
    }
    return findings
  } finally {
    await interceptor?.close()
  }
}

async function evaluate(rule: Rule, site: Site, timeouts: Timeouts): Promise<Finding> {
  const { name, says } = rule
  if (rule.needsInterceptor === true && site.interceptor === undefined)
    return { rule: name, says, status: 'unchecked', problems: ['needs --listen and --service'] }
  try {
    const problems = await rule.check(site, timeouts)
    return { rule: name, says, status: problems.length === 0 ? 'kept' : 'broken', problems }
  } catch (error) {
    const status = error instanceof CannotCheck ? 'unchecked' : 'broken'
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

function notRouted(port: number): AppError {
  return new AppError(
    'DEPENDENCY_UNAVAILABLE',
    `The proxy does not send its requests to port ${port}: make http://127.0.0.1:${port} its upstream for the check.`
  )
}
