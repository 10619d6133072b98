import { AppError } from '../../errors.ts'
import { upstreamRules } from './upstream-rules.ts'
import { startInterceptor } from './interceptor.ts'
import { clientRules } from './client-rules.ts'
import { CannotCheck } from './rule.ts'
import type { Timeouts, Rule } from './rule.ts'
import { sendTo } from './site.ts'
import type { Site } from './site.ts'

/** The result of checking one rule, as `proxy check --json` prints it. */
export type Finding = {
  rule: string
  says: string
  status: 'kept' | 'broken' | 'unchecked'
  /** How the proxy breaks the rule, or why the rule was not checked. */
  problems: string[]
}

export type CheckOptions = {
  /** The proxy's root, such as https://www.example.com/api/secure. */
  root: URL
  /** Listens on this port as the proxy's upstream and forwards to this api_root. Without it, some rules are not checked. */
  intercept?: { port: number; service: URL } | undefined
  /** The names of the rules to check; all by default. */
  rules?: readonly string[]
  /** How long the proxy may wait for its service; default 15 s, and 30 s for a checkout. */
  timeouts?: Timeouts
  /** Called with the interceptor's port before the first request. */
  onListening?: (port: number) => void
}

const allRules = [...clientRules, ...upstreamRules]

export const ruleNames: readonly string[] = allRules.map(({ name }) => name)

/**
 * Checks a running proxy against the rules for proxies. Changes nothing in the shop behind it.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE when the proxy or its service does not answer, or when the proxy does not send
 *   its requests to the interceptor
 */
export async function checkProxy(options: CheckOptions): Promise<Finding[]> {
  const {
    root,
    intercept,
    rules = ruleNames,
    timeouts = { usualMs: 15_000, checkoutMs: 30_000 },
    onListening
  } = options
  const interceptor = intercept === undefined ? undefined : await startInterceptor(intercept.service, intercept.port)
  try {
    if (interceptor !== undefined) onListening?.(interceptor.port)
    const send = sendTo(root)
    const site: Site = { send, interceptor, nonce: await firstNonce(send) }
    if (interceptor !== undefined && interceptor.received.length === 0) throw notRouted(interceptor.port)
    const findings: Finding[] = []
    for (const rule of allRules.filter(({ name }) => rules.includes(name))) {
      findings.push(await evaluate(rule, site, timeouts))
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
    throw new AppError('DEPENDENCY_UNAVAILABLE', 'No server answers at this address.', {}, { cause })
  })
  const { nonce } = reply.data
  if (typeof nonce === 'string') return nonce
  throw new AppError(
    'DEPENDENCY_UNAVAILABLE',
    `GET /nonce returned ${reply.status} without a nonce. Check that this is the proxy's root and that its service is running.`
  )
}

function notRouted(port: number): AppError {
  return new AppError(
    'DEPENDENCY_UNAVAILABLE',
    `The proxy does not send its requests to port ${port}. Set its upstream to http://127.0.0.1:${port} for the check.`
  )
}
