import type Stripe from 'stripe'
import { AppError } from '../../errors.ts'
import { renewSubscription } from '../billing/billing.ts'
import type { Renewal } from '../billing/billing.ts'
import { answerBankPage, payCheckout } from '../checkout/checkout-payment.ts'
import type { PageOutcome } from '../checkout/checkout-payment.ts'
import { getStored } from '../http/context.ts'
import type { Context } from '../http/context.ts'
import { awaitDelivery } from '../events/deliveries.ts'
import { decideDispute, openDispute } from '../payments/disputes.ts'
import { StripeRefusal } from '../http/errors.ts'
import { addFault, clearFaults, listFaults } from '../http/faults.ts'
import type { Fault, FaultRequest } from '../http/faults.ts'
import { idOf } from '../store/ids.ts'
import type { Kind, Objects } from '../store/objects.ts'
import { payOut } from '../payments/payouts.ts'
import { routeNames } from '../http/routes.ts'
import type { Store } from '../store/object-store.ts'

/** All objects that record money, oldest first. */
export type Ledger = {
  charges: Stripe.Charge[]
  refunds: Stripe.Refund[]
  disputes: Stripe.Dispute[]
  invoices: Stripe.Invoice[]
  payments: Stripe.InvoicePayment[]
  intents: Stripe.PaymentIntent[]
  sessions: Stripe.Checkout.Session[]
  subscriptions: Stripe.Subscription[]
}

export type CheckoutQuery = { clientReferenceId: string } | { metadata: { key: string; value: string } }

/**
 * What the command line and the tests can do besides calling the API.
 *
 * @throws AppError NOT_FOUND for an unknown id, CONFLICT for anything else that Stripe refuses
 */
export type Controls = {
  /** The newest open session with a reference or metadata value, else the newest one. */
  findCheckout: (by: CheckoutQuery) => Stripe.Checkout.Session | undefined
  /**
   * Pays a session as the hosted page's button does. Resolves when the shop has answered the webhooks, which this or
   * another process sends, or after `waitMs`; `delivered` is false after a timeout.
   */
  payCheckout: (
    sessionId: string,
    paid?: { paymentMethod?: string; email?: string | null; waitMs?: number }
  ) => Promise<{ outcome: PageOutcome; delivered: boolean }>
  /** Approves or refuses a 3-D Secure authentication. */
  answerChallenge: (paymentIntentId: string, approved: boolean) => PageOutcome
  /** Disputes a payment as the buyer's bank does; `amount` in minor units, by default all that is not refunded. */
  openDispute: (paymentIntentId: string, by?: { reason?: string; amount?: number }) => Stripe.Dispute
  decideDispute: (disputeId: string, outcome: 'won' | 'lost') => Stripe.Dispute
  /** Ends the current period now. The card decides whether the next one is paid, unless `forced` does. */
  renewSubscription: (subscriptionId: string, forced?: Renewal) => Stripe.Subscription
  /** Pays out what the account has earned since the last payout. */
  payOut: () => Stripe.Payout
  addFault: (request: FaultRequest) => Fault
  listFaults: () => Fault[]
  clearFaults: () => void
  ledger: () => Ledger
}

export type ControlParts = {
  store: Store
  now: () => number
  act: <T>(work: (context: Context) => T) => { result: T; batch: string }
}

const defaultWaitMs = 5_000

/** Creates the control functions over a store; `act` runs one transaction of the sandbox. */
export function createControls({ store, act: actAsStripe, now }: ControlParts): Controls {
  const act: ControlParts['act'] = (work) => asAppErrors(() => actAsStripe(work))
  return {
    findCheckout: (by) => findCheckout(store, by),
    payCheckout: async (sessionId, { paymentMethod = 'pm_card_visa', email = null, waitMs = defaultWaitMs } = {}) => {
      const { result, batch } = act((context) => payCheckout(context, sessionId, { paymentMethod, email }))
      return { outcome: result, delivered: await awaitDelivery(store, batch, now(), waitMs) }
    },
    answerChallenge: (intentId, approved) => act((context) => answerBankPage(context, intentId, approved)).result,
    openDispute: (intentId, { reason = 'fraudulent', ...by } = {}) =>
      act((context) => dispute(context, intentId, { reason, ...by })).result,
    decideDispute: (id, outcome) =>
      act((context) => decideDispute(context, getStored(context, 'dispute', id).object, outcome)).result,
    renewSubscription: (id, forced) => act((context) => renewSubscription(context, id, forced)).result,
    payOut: () => act(payOut).result,
    addFault: (request) => addFault(store, request, routeNames),
    listFaults: () => listFaults(store),
    clearFaults: () => clearFaults(store),
    ledger: () => ({
      charges: oldestFirst(store, 'charge'),
      refunds: oldestFirst(store, 'refund'),
      disputes: oldestFirst(store, 'dispute'),
      invoices: oldestFirst(store, 'invoice'),
      payments: oldestFirst(store, 'invoice_payment'),
      intents: oldestFirst(store, 'payment_intent'),
      sessions: oldestFirst(store, 'checkout.session'),
      subscriptions: oldestFirst(store, 'subscription')
    })
  }
}

/** Converts a StripeRefusal to an AppError, which the command line can print. */
function asAppErrors<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof StripeRefusal)) throw error
    throw new AppError(error.body.code === 'resource_missing' ? 'NOT_FOUND' : 'CONFLICT', error.message)
  }
}

function dispute(context: Context, intentId: string, by: { reason: string; amount?: number }): Stripe.Dispute {
  const intent = getStored(context, 'payment_intent', intentId).object
  const charge = getStored(context, 'charge', idOf(intent.latest_charge) ?? '').object
  return openDispute(context, charge, by)
}

function findCheckout(store: Store, by: CheckoutQuery): Stripe.Checkout.Session | undefined {
  const filter =
    'metadata' in by
      ? { field: `metadata.${by.metadata.key}`, value: by.metadata.value }
      : { field: 'client_reference_id', value: by.clientReferenceId }
  const { objects } = store.list('checkout.session', [filter])
  return objects.find(({ status }) => status === 'open') ?? objects[0]
}

function oldestFirst<K extends Kind>(store: Store, kind: K): Objects[K][] {
  return store.list(kind, [], { limit: Number.MAX_SAFE_INTEGER - 1 }).objects.reverse()
}
