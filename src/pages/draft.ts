import { z } from 'zod'
import type { FieldErrors } from '../errors.ts'
import { hmac, sameBytes } from '../platform/crypto/secrets.ts'
import { cookieValues, serializeCookie } from '../platform/http/cookies.ts'
import type { OrderRow } from '../shop/orders/find.ts'
import type { PageCall } from './page.ts'

/**
 * What this browser typed on an order's page, and the errors that the page shows next. Every submitted form is answered
 * with a redirect, so that Back, Forward and a reload never send it again, and this keeps the input. It is a cookie and
 * not a row, because others who have the link of the order must not see it.
 */
export type Draft = {
  values: Readonly<Record<string, string>>
  errors: FieldErrors
  message: string | null
  /** The email that this browser gave to the order, as its buyer. */
  gaveEmail: string | null
}

export const emptyDraft: Draft = { values: {}, errors: {}, message: null, gaveEmail: null }

type Call = Pick<PageCall, 'app' | 'request'>
type Order = Pick<OrderRow, 'publicToken'>

const maxAgeSeconds = 60 * 60
/** Browsers accept 4096 bytes with the name and the attributes (RFC 6265, 6.1). */
const longestValue = 3600

/** The errors of a form's fields, as a refusal has them in its details. */
export const fieldErrors = z.record(z.string(), z.array(z.string()))

const shape = z.object({
  values: z.record(z.string(), z.string()),
  errors: fieldErrors,
  message: z.string().nullable(),
  gaveEmail: z.string().nullable()
})

/** The draft of this browser for an order; empty if it has none. */
export function readDraft({ app, request }: Call, order: Order): Draft {
  const [sent = '', ...others] = cookieValues(request.headers.get('cookie'), cookieName(app))
  const [payload = '', mac = ''] = sent.split('.')
  // A draft that was planted beside ours could show an address or a message of another person.
  if (others.length > 0 || !sameBytes(Buffer.from(mac), Buffer.from(macOf(app, order, payload)))) return emptyDraft
  const parsed = shape.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')))
  return parsed.success ? parsed.data : emptyDraft
}

/** A Set-Cookie value that keeps a draft for an hour, on the page of this order only. */
export function draftCookie({ app }: Pick<Call, 'app'>, order: Order, draft: Draft): string {
  const payload = encode(draft)
  return serializeCookie(cookieName(app), `${payload}.${macOf(app, order, payload)}`, {
    path: pathOf(order),
    secure: isHttps(app),
    maxAgeSeconds
  })
}

/** The path of the page on which an order is paid. */
export function pathOf({ publicToken }: Order): string {
  return `/checkout/${publicToken}`
}

/** Without the longest values, if the cookie would be too large: valid input is shorter. */
function encode(draft: Draft): string {
  const payload = Buffer.from(JSON.stringify(draft)).toString('base64url')
  if (payload.length <= longestValue) return payload
  const [longest] = Object.entries(draft.values).toSorted(([, a], [, b]) => b.length - a.length)
  if (longest === undefined) return encode(emptyDraft)
  const values = Object.fromEntries(Object.entries(draft.values).filter(([name]) => name !== longest[0]))
  return encode({ ...draft, values })
}

function macOf({ keys }: Call['app'], { publicToken }: Order, payload: string): string {
  return hmac(keys.form, `${publicToken}\0${payload}`).toString('base64url')
}

/** `__Host-` does not allow a path. */
function cookieName(app: Call['app']): string {
  return isHttps(app) ? '__Secure-shopstead_form' : 'shopstead_form'
}

function isHttps({ publicUrl }: Call['app']): boolean {
  return publicUrl().startsWith('https:')
}
