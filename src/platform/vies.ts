import { z } from 'zod'
import { describeError } from './log.ts'

/** The body of a request to VIES, the register of VAT ids of the EU: `POST /check-vat-number` (ec.europa.eu/taxation_customs/vies/#/technical-information). */
export type ViesRequest = {
  countryCode: string
  vatNumber: string
  /** The VAT id of the seller. VIES gives sellers with one a consultation number. */
  requesterMemberStateCode?: string
  requesterNumber?: string
}

/** Sends one request to VIES, or to what stands in for it. It rejects when `signal` aborts. */
export type SendToVies = (request: ViesRequest, signal: AbortSignal) => Promise<string>

/**
 * What VIES says about a VAT id. Some member states, such as Germany and Spain, do not disclose names. Without the seller's
 * own VAT id there is no consultation number. `unavailable` says nothing about the id: VIES, or the member state, did not
 * answer.
 */
export type ViesAnswer =
  | {
      outcome: 'confirmed' | 'not_registered'
      name: string | null
      address: string | null
      consultation: string | null
    }
  | { outcome: 'unavailable'; reason: string }

/** Sends over HTTPS. */
export function viesOver(base: string): SendToVies {
  return async (request, signal) => {
    const response = await fetch(`${base}/check-vat-number`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(request),
      redirect: 'error',
      signal
    })
    return response.text()
  }
}

/**
 * Asks VIES about a VAT id in the form of `readVatId`. It never rejects, and takes at most `timeoutMs`. VIES answers without
 * a consultation number if it does not accept the seller's id.
 */
export async function askVies(
  send: SendToVies,
  { id, requester }: { id: string; requester: string | null },
  timeoutMs: number
): Promise<ViesAnswer> {
  const signal = AbortSignal.timeout(timeoutMs)
  const ask = async (from: string | null): Promise<ViesAnswer> => readReply(await send(toRequest(id, from), signal))
  try {
    const answer = await ask(requester)
    const isRefused = answer.outcome === 'unavailable' && answer.reason === 'INVALID_REQUESTER_INFO'
    return isRefused && requester !== null ? await ask(null) : answer
  } catch (error) {
    const reason = signal.aborted ? `no answer within ${timeoutMs / 1000} s` : describeError(error)
    return { outcome: 'unavailable', reason }
  }
}

function toRequest(id: string, requester: string | null): ViesRequest {
  return {
    countryCode: id.slice(0, 2),
    vatNumber: id.slice(2),
    ...(requester === null
      ? {}
      : { requesterMemberStateCode: requester.slice(0, 2), requesterNumber: requester.slice(2) })
  }
}

/** VIES writes `---` for what a member state does not disclose. */
const disclosed = z
  .string()
  .nullish()
  .transform((text) => {
    const shown = (text ?? '').trim().slice(0, 1000)
    return /^-*$/.test(shown) ? null : shown
  })

/** VIES also reports a failure with `valid: false`, so the error decides. */
const verdict = z.object({
  valid: z.boolean(),
  userError: z.string().optional(),
  name: disclosed,
  address: disclosed,
  requestIdentifier: disclosed
})
const failure = z.object({ errorWrappers: z.array(z.object({ error: z.string().max(100) })).min(1) })

function readReply(text: string): ViesAnswer {
  const json = parseJson(text)
  const failed = failure.safeParse(json)
  const error = failed.data?.errorWrappers[0]?.error
  if (error === 'INVALID_INPUT') return { outcome: 'not_registered', name: null, address: null, consultation: null }
  if (error !== undefined) return { outcome: 'unavailable', reason: error }
  const { data } = verdict.safeParse(json)
  if (data === undefined) return { outcome: 'unavailable', reason: 'an answer that is not one of VIES' }
  const { valid, userError = 'VALID', name, address, requestIdentifier: consultation } = data
  if (userError !== 'VALID' && userError !== 'INVALID') return { outcome: 'unavailable', reason: userError }
  return { outcome: valid ? 'confirmed' : 'not_registered', name, address, consultation }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
