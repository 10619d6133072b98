import type Stripe from 'stripe'
import { answerBankPage, payCheckout } from './checkout-payment.ts'
import type { PageOutcome } from './checkout-payment.ts'
import type { Context } from './context.ts'
import { addFault, clearFaults, listFaults } from './faults.ts'
import type { Fault, FaultRequest } from './faults.ts'
import type { Store } from './store.ts'

export type Ledger = {
  charges: Stripe.Charge[]
  refunds: Stripe.Refund[]
  intents: Stripe.PaymentIntent[]
  sessions: Stripe.Checkout.Session[]
}

/** What the command line and the tests do to the sandbox beside the API. */
export type Controls = {
  /** The newest session of a reference or of metadata, open ones first. */
  findCheckout: (by: CheckoutQuery) => Stripe.Checkout.Session | undefined
  /** Pays as the hosted page's button does. */
  payCheckout: (sessionId: string, paid?: { paymentMethod?: string; email?: string | null }) => PageOutcome
  answerChallenge: (paymentIntentId: string, approved: boolean) => PageOutcome
  addFault: (request: FaultRequest) => Fault
  listFaults: () => Fault[]
  clearFaults: () => void
  /** Everything that ever moved money, oldest first: what tests compare the shop with. */
  ledger: () => Ledger
}

export type CheckoutQuery = { clientReferenceId: string } | { metadata: { key: string; value: string } }
export type Acting = {
  store: Store
  now: () => number
  act: <T>(work: (context: Context) => T) => { result: T; batch: string }
}

export function createControls({ store, act }: Acting): Controls {
  return {
    findCheckout: (by) => findCheckout(store, by),
    payCheckout: (sessionId, paid = {}) =>
      act((context) =>
        payCheckout(context, sessionId, {
          paymentMethod: paid.paymentMethod ?? 'pm_card_visa',
          email: paid.email ?? null
        })
      ).result,
    answerChallenge: (intentId, approved) => act((context) => answerBankPage(context, intentId, approved)).result,
    addFault: (request) => addFault(store, request),
    listFaults: () => listFaults(store),
    clearFaults: () => clearFaults(store),
    ledger: () => ({
      charges: all(store, 'charge'),
      refunds: all(store, 'refund'),
      intents: all(store, 'payment_intent'),
      sessions: all(store, 'checkout.session')
    })
  }
}

function findCheckout(store: Store, by: CheckoutQuery): Stripe.Checkout.Session | undefined {
  const filter =
    'metadata' in by
      ? { field: `metadata.${by.metadata.key}`, value: by.metadata.value }
      : { field: 'client_reference_id', value: by.clientReferenceId }
  const { objects } = store.list('checkout.session', [filter])
  return objects.find(({ status }) => status === 'open') ?? objects[0]
}

function all<K extends 'charge' | 'refund' | 'payment_intent' | 'checkout.session'>(store: Store, kind: K) {
  return store.list(kind, [], { limit: 1_000_000 }).objects.reverse()
}
