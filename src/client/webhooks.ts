import type { WebhookData } from './api-types.ts'

export type WebhookType = keyof WebhookData

/** An event as the shop sends it: the type of `data` follows from `type`. A later version may send other types. */
export type WebhookEvent = {
  [Type in WebhookType]: { type: Type; timestamp: string; data: WebhookData[Type] }
}[WebhookType]

/** An event that the shop has sent. `id` is the same each time the shop sends it: handle each id once. */
export type VerifiedEvent = WebhookEvent & { id: string }

/** The headers of a request: those of `Request`, or those of node:http. */
export type WebhookHeaders = Pick<Headers, 'get'> | { readonly [name: string]: string | readonly string[] | undefined }

export type VerifyOptions = {
  /** How old a request may be, and how far the clocks may differ; 300 by default. */
  toleranceSeconds?: number
  /** The current time in epoch milliseconds; for tests. */
  now?: number
}

/** Why a request is not an event of the shop. */
export type WebhookProblem = 'missing_header' | 'too_old' | 'wrong_signature' | 'malformed'

/** A request that the shop has not sent, or that is too old. Answer it with 400. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly reason: WebhookProblem

  constructor(reason: WebhookProblem, message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * Checks that the shop has sent a webhook, and returns its event. It works in Node and in worker runtimes.
 *
 * @param body the body as it was received, before any parser
 * @param secret the secret of the webhook (`whsec_…`), or several while you replace one
 * @throws WebhookError for a request that is not an event of the shop; TypeError for a parsed body or an invalid secret
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {}
): Promise<VerifiedEvent> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError('Pass the raw body as text or bytes, before a JSON parser reads it.')
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => header(headers, `webhook-${name}`))
  if (!id || !timestamp || !signatures)
    throw new WebhookError('missing_header', 'A header of Standard Webhooks is missing.')
  const ageSeconds = Math.abs((options.now ?? Date.now()) / 1000 - Number(timestamp))
  // The comparison is false for a timestamp that is not a number.
  if (!(ageSeconds <= (options.toleranceSeconds ?? 300)))
    throw new WebhookError('too_old', 'The timestamp of the webhook is too old or too new.')
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
  for (const one of typeof secret === 'string' ? [secret] : secret)
    if (await isSigned(signed, signatures, await importKey(one))) return { id, ...parse(text) }
  throw new WebhookError('wrong_signature', 'The signature of the webhook does not match the secret.')
}

type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

function header(headers: WebhookHeaders, name: string): string | undefined {
  const value = typeof headers.get === 'function' ? headers.get(name) : (headers as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : undefined
}

function importKey(secret: string): Promise<HmacKey> {
  const key = decode(secret.replace(/^whsec_/, ''))
  if (key === undefined || key.length === 0)
    throw new TypeError('The secret of a webhook is whsec_ and base64, as "shopstead webhooks add" printed it.')
  return crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** Whether one of the space-separated signatures is by this key. WebCrypto compares them in constant time. */
async function isSigned(signed: Uint8Array<ArrayBuffer>, signatures: string, key: HmacKey): Promise<boolean> {
  for (const signature of signatures.split(' ').slice(0, 10)) {
    const [version, value = ''] = signature.split(',')
    const bytes = version === 'v1' ? decode(value) : undefined
    if (bytes !== undefined && (await crypto.subtle.verify('HMAC', key, bytes, signed))) return true
  }
  return false
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function parse(text: string): WebhookEvent {
  try {
    return JSON.parse(text) as WebhookEvent
  } catch {
    throw new WebhookError('malformed', 'The body of the webhook is not JSON.')
  }
}
