import type { Reply, Site } from './site.ts'

/** One rule for proxies. */
export type Rule = {
  /** Its name in reports. */
  name: string
  /** What a proxy must do. */
  says: string
  /** The rule can be checked only with an interceptor between the proxy and the service. */
  needsInterceptor?: true
  /** Returns one line for each violation. */
  check(site: Site, timeouts: Timeouts): Promise<string[]>
}

/** How long a proxy may wait for its service, in general and for a checkout. */
export type Timeouts = { usualMs: number; checkoutMs: number }

/** Thrown by a rule that cannot be checked with this shop's settings. */
export class CannotCheck extends Error {
  override readonly name = 'CannotCheck'
}

/** Compares a refusal's status, code and reason with the expected ones. Returns one line if they differ. */
export function expectRefusal(
  what: string,
  reply: Reply,
  expected: { status: number; code: string; reason?: string }
): string[] {
  const reason = reply.error?.details['reason']
  const same =
    reply.status === expected.status &&
    reply.error?.code === expected.code &&
    (expected.reason === undefined || reason === expected.reason)
  return same ? [] : [`${what}: expected ${describe(expected)}, got ${describeReply(reply)}`]
}

/** Compares a status with the expected ones. Returns one line if it is another. */
export function expectStatus(what: string, reply: Reply, ...expected: number[]): string[] {
  if (expected.includes(reply.status)) return []
  return [`${what}: expected ${expected.join(' or ')}, got ${describeReply(reply)}`]
}

/** The status, code and reason of a reply, in a few words. */
export function describeReply(reply: Reply): string {
  const reason = reply.error?.details['reason']
  const { status } = reply
  return describe({
    status,
    code: reply.error?.code ?? '',
    ...(typeof reason === 'string' ? { reason } : {})
  })
}

function describe({ status, code, reason }: { status: number; code: string; reason?: string }): string {
  return [String(status), code, reason === undefined ? '' : `(${reason})`].filter((part) => part !== '').join(' ')
}

/** The names of the fields that a refusal reports; empty for any other reply. */
export function fieldsOf(reply: Reply): string[] {
  const fields = reply.error?.details['fieldErrors']
  return typeof fields === 'object' && fields !== null ? Object.keys(fields) : []
}
