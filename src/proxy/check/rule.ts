import type { Reply, Site } from './site.ts'

/** One rule for proxies. `check` tells what breaks it, in a line each; nothing when it is kept. */
export type Rule = {
  /** By which it is called in reports. */
  name: string
  /** What a proxy has to do. */
  says: string
  /** Can only be judged from between the proxy and the service. */
  needsInterceptor?: true
  check(site: Site, timeouts: Timeouts): Promise<string[]>
}

/** How long a proxy may wait for its service before it gives up. */
export type Timeouts = { usualMs: number; checkoutMs: number }

/** Thrown by a rule that this shop, as it is set up, cannot show. */
export class CannotCheck extends Error {
  override readonly name = 'CannotCheck'
}

/** A refusal as it should be, compared by status, code and reason; a line that says what came instead. */
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

export function expectStatus(what: string, reply: Reply, ...expected: number[]): string[] {
  if (expected.includes(reply.status)) return []
  return [`${what}: expected ${expected.join(' or ')}, got ${describeReply(reply)}`]
}

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

/** The field errors of a refusal; none in any other answer. */
export function fieldsOf(reply: Reply): string[] {
  const fields = reply.error?.details['fieldErrors']
  return typeof fields === 'object' && fields !== null ? Object.keys(fields) : []
}
