import { setTimeout as after } from 'node:timers/promises'
import type { SendToVies, ViesRequest } from '../platform/vies.ts'

// The VAT ids with answers of their own, as VIES gives them on a bad day; all have a valid check digit. The stand-in
// confirms every other id without a name, as VIES does for German ids.
//
//     ATU10000005  not registered
//     ATU20000004  registered to Registered Elsewhere GmbH
//     ATU30000003  the member state does not answer (MS_UNAVAILABLE)
//     ATU40000002  the member state answers too many requests (MS_MAX_CONCURRENT_REQ)
//     ATU50000001  the answer takes a minute
//     ATU60000000  an error page of the server instead of an answer
//     ATU70000009  VIES does not accept the id of the seller (INVALID_REQUESTER_INFO)

const slowMs = 60_000

/** Stands in for VIES without a network connection: the same requests, answers and failures. */
export const sandboxVies: SendToVies = async (request, signal) => {
  const id = request.countryCode + request.vatNumber
  if (id === 'ATU50000001') await after(slowMs, undefined, { signal })
  if (id === 'ATU60000000') return '<!doctype html><title>503 Service Unavailable</title>'
  return JSON.stringify(answerTo(id, request))
}

function answerTo(id: string, { requesterNumber, ...request }: ViesRequest): object {
  const isNumbered = requesterNumber !== undefined
  switch (id) {
    case 'ATU30000003':
      return failed('MS_UNAVAILABLE')
    case 'ATU40000002':
      return failed('MS_MAX_CONCURRENT_REQ')
    case 'ATU70000009':
      if (isNumbered) return failed('INVALID_REQUESTER_INFO')
  }
  const { countryCode, vatNumber } = request
  const isKnown = id !== 'ATU10000005'
  const isElsewhere = id === 'ATU20000004'
  return {
    countryCode,
    vatNumber,
    requestDate: new Date().toISOString(),
    valid: isKnown,
    // VIES gives sellers with a VAT id a consultation number.
    requestIdentifier: isNumbered ? `WAPIAAAA${id}` : '',
    name: isElsewhere ? 'Registered Elsewhere GmbH' : '---',
    address: isElsewhere ? 'Ringstraße 1\n1010 Wien' : '---',
    traderNameMatch: 'NOT_PROCESSED'
  }
}

function failed(error: string): object {
  return { actionSucceed: false, errorWrappers: [{ error }] }
}
