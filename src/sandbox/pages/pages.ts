import { readFileSync } from 'node:fs'
import { assetPath } from '../../platform/package-root.ts'
import { answerBankPage, payCheckout, successUrl } from '../checkout/checkout-payment.ts'
import type { PageOutcome } from '../checkout/checkout-payment.ts'
import { expireSession } from '../checkout/checkout-completion.ts'
import { bankPage, checkoutPage, messagePage, pageStyle, field, readForm, respond, seeOther } from './page-html.ts'
import type { Page, PageParts } from './page-html.ts'
import { serveBillingPage } from './billing-pages.ts'
import type { Stored } from '../store/object-store.ts'
import { offeredCards } from '../payments/test-cards.ts'

type Session = Stored<'checkout.session'>

/** Answers a request for a hosted page (docs/contract.md A6); undefined for any other path. */
export async function servePage(parts: PageParts, request: Request): Promise<Response | undefined> {
  const { pathname } = new URL(request.url)
  if (pathname === '/sandbox/style.css') return file(request, pageStyle, 'text/css')
  if (pathname === '/sandbox/stripe.js') return file(request, formScript(), 'text/javascript')
  const billing = await serveBillingPage(parts, request)
  if (billing !== undefined) return billing
  const [, kind, id = '', verb] = /^\/sandbox\/(checkout|3ds)\/(\w{1,255})(?:\/(cancel))?$/.exec(pathname) ?? []
  if (kind === undefined || (kind === '3ds' && verb !== undefined)) return undefined
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (verb !== undefined ? request.method !== 'POST' : !isRead && request.method !== 'POST') {
    return new Response(null, { status: 405, headers: { allow: verb === undefined ? 'GET, HEAD, POST' : 'POST' } })
  }
  if (isRead) return respond(kind === 'checkout' ? showCheckout(parts, id, request) : showBank(parts, id))
  if (verb !== undefined) return cancel(parts, id)
  const form = await readForm(request)
  if (!form)
    return respond({ status: 415, html: messagePage('Unsupported request', 'Send an HTML form of at most 16 KiB.') })
  const result = await (kind === 'checkout' ? pay(parts, id, form) : answerBank(parts, id, form))
  return result instanceof Response ? result : outcome(parts, result, request)
}

function showCheckout(parts: PageParts, id: string, request: Request): Page {
  const session = loadSession(parts, id)
  if (!session) return notFound()
  const { object } = session
  if (object.status === 'expired') return expired(object.cancel_url)
  if (object.status === 'complete') {
    return {
      status: 200,
      html: messagePage('This order is paid', "You don't need to do anything else.", successUrl(object))
    }
  }
  const wasDeclined = new URL(request.url).searchParams.has('declined')
  return checkout(200, session, wasDeclined ? declineMessage(parts, session) : undefined)
}

function declineMessage({ store }: PageParts, { hidden }: Session): string {
  const intent = hidden.intentId === null ? undefined : store.find('payment_intent', hidden.intentId)?.object
  return intent?.last_payment_error?.message ?? 'The payment did not go through.'
}

async function pay(parts: PageParts, id: string, form: FormData): Promise<PageOutcome> {
  const paymentMethod = field(form, 'payment_method') ?? 'pm_card_visa'
  const { result, batch } = parts.act((context) =>
    payCheckout(context, id, { paymentMethod, email: field(form, 'email') })
  )
  await parts.deliver(batch)
  return result
}

async function answerBank(parts: PageParts, id: string, form: FormData): Promise<PageOutcome | Response> {
  const answer = field(form, 'outcome')
  if (answer !== 'approve' && answer !== 'fail') return respond({ ...showBank(parts, id), status: 422 })
  const { result, batch } = parts.act((context) => answerBankPage(context, id, answer === 'approve'))
  await parts.deliver(batch)
  return result
}

function outcome(parts: PageParts, result: PageOutcome, request: Request): Response {
  switch (result.kind) {
    case 'complete':
    case 'challenge':
      return seeOther(result.url)
    case 'declined': {
      const session = result.sessionId === null ? undefined : parts.store.find('checkout.session', result.sessionId)
      if (session && isNavigation(request)) return seeOther(`/sandbox/checkout/${session.object.id}?declined`)
      if (session) return respond(checkout(402, session, result.message))
      return seeOther(result.url ?? '/')
    }
    case 'email_needed': {
      const session = parts.store.find('checkout.session', result.sessionId)
      return respond(session ? checkout(422, session, 'Enter an email address for the receipt.') : notFound())
    }
    case 'expired':
      return respond(expired(null))
    default:
      return respond(notFound())
  }
}

/**
 * Whether a browser opens the response as a page. It gets a redirect after a decline, so that Back, Forward and a reload do
 * not send the card again; a program gets 402 (docs/contract.md A6).
 */
function isNavigation({ headers }: Request): boolean {
  return headers.get('sec-fetch-mode') === 'navigate'
}

function cancel(parts: PageParts, id: string): Response {
  const session = loadSession(parts, id)
  if (!session) return respond(notFound())
  const { status, cancel_url } = session.object
  if (status === 'complete') return seeOther(successUrl(session.object))
  if (status === 'expired') return respond(expired(cancel_url))
  if (cancel_url !== null) return seeOther(cancel_url)
  return respond({
    status: 200,
    html: messagePage('Payment canceled', 'You have not been charged. You can go back to this page to pay later.')
  })
}

function showBank(parts: PageParts, id: string): Page {
  const stored = parts.store.find('payment_intent', id)
  if (!stored) return notFound()
  const { object: intent, hidden } = stored
  if (intent.status !== 'requires_action') {
    return {
      status: 410,
      html: messagePage('Nothing to confirm', 'This payment does not need confirmation.', hidden.returnUrl)
    }
  }
  return { status: 200, html: bankPage(intent), leadsToSite: true }
}

/** The session as of now: an open one past its `expires_at` is expired first. */
function loadSession(parts: PageParts, id: string): Session | undefined {
  const session = parts.store.find('checkout.session', id)
  if (session?.object.status !== 'open') return session
  return parts.act((context) => {
    if (session.object.expires_at > context.now) return session
    return { object: expireSession(context, id), hidden: session.hidden }
  }).result
}

function checkout(status: number, session: Session, message?: string): Page {
  const { object, hidden } = session
  return {
    status,
    html: checkoutPage({ session: object, lineItems: hidden.lineItems, message }),
    leadsToSite: true
  }
}

function expired(backUrl: string | null): Page {
  return {
    status: 410,
    html: messagePage('This payment page has expired', 'Go back to the shop and check out again.', backUrl)
  }
}

function notFound(): Page {
  return { status: 404, html: messagePage('Page not found', 'There is no payment at this address.') }
}

/** The stand-in for Stripe.js, which sites load from another origin. */
function formScript(): string {
  const script = readFileSync(assetPath('sandbox', 'pages', 'stripe.js'), 'utf8')
  return `{\nconst cards = ${JSON.stringify(offeredCards)}\n${script}}\n`
}

function file(request: Request, text: string, type: string): Response {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } })
  return new Response(text, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'max-age=3600',
      'x-content-type-options': 'nosniff'
    }
  })
}
