import { AppError } from '../../errors.ts'
import type { PublicCode } from '../answers/error-codes.ts'
import type { Route } from '../route.ts'

/** Codes with several statuses. */
const manyStatuses: Partial<Record<PublicCode, readonly number[]>> = { CHECKOUT_FAILED: [402, 502, 504] }

/** All error codes of a route by status: its own, and those that follow from its entry in the table. */
export function refusalsOf(route: Route): Map<number, PublicCode[]> {
  const byStatus = new Map<number, PublicCode[]>()
  for (const code of new Set([...route.refuses, ...impliedBy(route)])) {
    for (const status of statusesOf(route, code)) byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return new Map([...byStatus].toSorted(([a], [b]) => a - b))
}

function impliedBy(route: Route): PublicCode[] {
  const mutates = route.method !== 'GET'
  const asksNonce = route.nonce === 'always' || route.proxy?.nonce === true
  const codes: [applies: boolean, code: PublicCode][] = [
    [true, 'VALIDATION_FAILED'],
    [route.session === 'required', 'NOT_AUTHENTICATED'],
    [asksNonce || (mutates && route.crossSite !== 'allowed'), 'CSRF_FAILED'],
    // A client may send a body even if the route needs none.
    [true, 'PAYLOAD_TOO_LARGE'],
    [route.body !== undefined, 'UNSUPPORTED_MEDIA_TYPE'],
    [true, route.unforeseen ?? 'INTERNAL_SERVER_ERROR'],
    [route.proxy !== null, 'DEPENDENCY_UNAVAILABLE']
  ]
  return codes.flatMap(([applies, code]) => (applies ? [code] : []))
}

function statusesOf(route: Route, code: PublicCode): readonly number[] {
  if (code === 'VALIDATION_FAILED') return [route.invalid]
  return manyStatuses[code] ?? [new AppError(code, '').status]
}
