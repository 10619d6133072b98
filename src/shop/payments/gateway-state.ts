import type Stripe from 'stripe'
import type { AttemptRow } from './rows.ts'

/** What the gateway itself says of one attempt, reduced to what the shop decides by. */
export type GatewayState = {
  objectId: string
  paymentIntentId: string | null
  /** `open`: the buyer can still pay; `waiting`: the bank decides; `action`: the buyer has to confirm at the bank. */
  verdict: 'paid' | 'open' | 'waiting' | 'action' | 'failed' | 'expired'
  /** The gateway's own word. */
  status: string
  amountMinor: number
  currency: string
  livemode: boolean
  /** The attempt's token as the object carries it. */
  token: string | null
  email: string | null
  /** Where the buyer confirms at the bank. */
  redirectUrl: string | null
  url: string | null
  subscriptionId: string | null
}

const intentVerdicts: Readonly<Record<Stripe.PaymentIntent.Status, GatewayState['verdict']>> = {
  succeeded: 'paid',
  processing: 'waiting',
  requires_capture: 'waiting',
  requires_action: 'action',
  requires_confirmation: 'open',
  requires_payment_method: 'failed',
  canceled: 'failed'
}

export function stateOfIntent(intent: Stripe.PaymentIntent): GatewayState {
  return {
    objectId: intent.id,
    paymentIntentId: intent.id,
    verdict: intentVerdicts[intent.status] ?? 'waiting',
    status: intent.status,
    amountMinor: intent.status === 'succeeded' ? intent.amount_received : intent.amount,
    currency: intent.currency.toUpperCase(),
    livemode: intent.livemode,
    token: intent.metadata?.attempt ?? null,
    email: intent.receipt_email,
    redirectUrl: intent.next_action?.redirect_to_url?.url ?? null,
    url: null,
    subscriptionId: null
  }
}

export function stateOfSession(session: Stripe.Checkout.Session): GatewayState {
  return {
    objectId: session.id,
    paymentIntentId: idOf(session.payment_intent),
    verdict: sessionVerdict(session),
    status: session.payment_status === 'paid' ? 'paid' : (session.status ?? session.payment_status),
    amountMinor: session.amount_total ?? 0,
    currency: (session.currency ?? '').toUpperCase(),
    livemode: session.livemode,
    token: session.metadata?.attempt ?? null,
    email: session.customer_details?.email ?? session.customer_email,
    redirectUrl: null,
    url: session.url,
    subscriptionId: idOf(session.subscription)
  }
}

function sessionVerdict(session: Stripe.Checkout.Session): GatewayState['verdict'] {
  if (session.payment_status === 'paid' || session.payment_status === 'no_payment_required') return 'paid'
  if (session.status === 'expired') return 'expired'
  return session.status === 'complete' ? 'waiting' : 'open'
}

function idOf(reference: string | { id: string } | null): string | null {
  return typeof reference === 'string' ? reference : (reference?.id ?? null)
}

/** Why an object cannot be this attempt's payment, in words for the operator; undefined when it fits. */
export function mismatch(attempt: AttemptRow, state: GatewayState): string | undefined {
  if (state.token !== attempt.token) return 'it does not carry the token of this payment'
  if (state.livemode !== attempt.livemode)
    return state.livemode ? 'it is a live payment in a test shop' : 'it is a test payment in a live shop'
  if (state.currency !== attempt.currency) return `it is in ${state.currency}, the order in ${attempt.currency}`
  if (state.amountMinor !== attempt.amountMinor)
    return `it is over ${state.amountMinor}, the order over ${attempt.amountMinor} (minor units)`
  return undefined
}
