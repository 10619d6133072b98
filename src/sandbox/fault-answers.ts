import type { ApiOutcome } from './outcome.ts'
import type { Answer } from './context.ts'
import type { ErrorBody } from './errors.ts'
import type { Fault } from './faults.ts'

const errors: Readonly<Record<string, ErrorBody>> = {
  '401': { type: 'invalid_request_error', message: 'Invalid API Key provided.' },
  '402': {
    type: 'card_error',
    code: 'card_declined',
    decline_code: 'generic_decline',
    message: 'Your card was declined.'
  },
  '409': {
    type: 'idempotency_error',
    code: 'idempotency_key_in_use',
    message: 'There is currently another in-progress request using this idempotent key.'
  },
  '429': { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many requests hit the API too quickly.' },
  '500': { type: 'api_error', message: 'An unknown error occurred.' },
  '503': { type: 'api_error', message: 'The service is temporarily unavailable.' }
}

/** The outcome of a request with a fault. `answer` is the real answer; undefined if the request was not executed. */
export function applyFault<T>(
  fault: Fault,
  answer: Answer | undefined,
  respond: (answer: Answer) => T,
  kill: () => void
): T | ApiOutcome {
  const error = errors[fault.fault]
  if (error) return respond({ status: Number(fault.fault), body: { error } })
  const body = JSON.stringify(answer?.body ?? { id: 'unfinished' }, null, 2)
  const json = {
    status: 200,
    headers: { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
  }
  switch (fault.fault) {
    case 'truncated':
    case 'stalled':
      return { kind: fault.fault, ...json, body: body.slice(0, body.length >> 1) }
    case 'html':
      return {
        kind: 'answer',
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: '<!doctype html><title>Gateway</title>'
      }
    case 'timeout':
      return { kind: 'timeout' }
    case 'kill':
      kill()
      return { kind: 'reset' }
    default:
      return { kind: 'reset' }
  }
}
