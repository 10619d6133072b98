import type Stripe from 'stripe'
import { formatMoney } from '../../platform/money.ts'
import { recordMovement } from './balance.ts'
import { getStored, route, save } from '../http/context.ts'
import type { Context, Route } from '../http/context.ts'
import { badParameter, badState } from '../http/errors.ts'
import { emit } from '../events/events.ts'
import { idOf, newId } from '../store/ids.ts'
import { filtersOf, listPage, pageShape } from '../http/lists.ts'
import { choice, integer, mergeMetadata, metadata, text } from '../http/params.ts'
import type { Values } from '../http/params.ts'
import { methodOf } from './payment-methods.ts'
import { setTimer } from '../timers.ts'

/** How long the delayed refund of a test card takes to finish. */
const finishDelayMs = 5_000

const createShape = {
  amount: integer({ min: 1 }),
  charge: text({ max: 255 }),
  payment_intent: text({ max: 255 }),
  metadata: metadata(),
  reason: choice('duplicate', 'fraudulent', 'requested_by_customer')
}
type Params = Values<typeof createShape>

/** Refunds a charge in whole or in part. All refunds together never exceed the charge. */
function createRefund(context: Context, params: Params): Stripe.Refund {
  const charge = chargeToRefund(context, params)
  const left = charge.amount - charge.amount_refunded
  if (charge.disputed && !isRefundable(context, charge)) {
    throw badState(`Charge ${charge.id} has been charged back; cannot issue a refund.`, { code: 'charge_disputed' })
  }
  if (left === 0) {
    throw badState(`Charge ${charge.id} has already been refunded.`, {
      code: 'charge_already_refunded',
      charge: charge.id
    })
  }
  const amount = params.amount ?? left
  if (amount > left) {
    const money = (minor: number): string => formatMoney(minor, charge.currency.toUpperCase())
    const message = `Refund amount (${money(amount)}) is greater than unrefunded amount on charge (${money(left)})`
    throw badState(message, { param: 'amount' })
  }
  const ending = methodOf(context, charge.payment_method ?? '').card.refund
  const id = newId('re')
  const { currency } = charge
  const refund = {
    id,
    object: 'refund',
    amount,
    balance_transaction: recordMovement(context, { type: 'refund', amount: -amount, currency, source: id }),
    charge: charge.id,
    created: context.now,
    currency: charge.currency,
    customer: idOf(charge.customer),
    customer_account: null,
    destination_details: {
      card: { reference_status: 'pending', reference_type: 'acquirer_reference_number', type: 'refund' },
      type: 'card'
    },
    metadata: mergeMetadata({}, params.metadata),
    payment_intent: idOf(charge.payment_intent),
    payment_method: charge.payment_method,
    reason: params.reason ?? null,
    receipt_number: null,
    source_transfer_reversal: null,
    status: ending === 'pending' ? 'pending' : 'succeeded',
    transfer_reversal: null
  } satisfies Stripe.Refund
  save(context, 'refund', refund)
  const refunded = addRefunded(context, charge, amount)
  emit(context, 'refund.created', refund)
  emit(context, 'charge.refunded', refunded)
  if (ending) setTimer(context, refund.id, 'settle_refund', context.nowMs + finishDelayMs)
  return refund
}

/**
 * Finishes the delayed refund of a test card: a pending refund succeeds; a succeeded one fails, and its amount counts as
 * paid again. Emits the events.
 */
export function finishRefund(context: Context, id: string): void {
  const refund = context.store.find('refund', id)?.object
  const charge = refund && context.store.find('charge', idOf(refund.charge) ?? '')?.object
  if (!refund || !charge) return
  if (refund.status === 'pending') {
    const succeeded = save(context, 'refund', { ...refund, status: 'succeeded' })
    emit(context, 'refund.updated', succeeded)
    emit(context, 'charge.refund.updated', succeeded)
    return
  }
  const { amount, currency } = refund
  const failed = save(context, 'refund', {
    ...refund,
    status: 'failed',
    failure_reason: 'expired_or_canceled_card',
    failure_balance_transaction: recordMovement(context, { type: 'refund_failure', amount, currency, source: id })
  })
  addRefunded(context, charge, -refund.amount)
  emit(context, 'refund.failed', failed)
  emit(context, 'charge.refund.updated', failed)
}

function addRefunded(context: Context, charge: Stripe.Charge, amount: number): Stripe.Charge {
  const amount_refunded = charge.amount_refunded + amount
  return save(context, 'charge', { ...charge, amount_refunded, refunded: amount_refunded === charge.amount })
}

function chargeToRefund(context: Context, params: Params): Stripe.Charge {
  if (params.charge !== undefined) return succeeded(getStored(context, 'charge', params.charge, 'charge').object)
  if (params.payment_intent === undefined) {
    throw badParameter('One of the following params should be provided for this request: payment_intent or charge.', {
      code: 'parameter_missing',
      param: 'payment_intent'
    })
  }
  const intent = getStored(context, 'payment_intent', params.payment_intent, 'payment_intent').object
  const charge =
    intent.status === 'succeeded' ? context.store.find('charge', idOf(intent.latest_charge) ?? '')?.object : undefined
  if (!charge) throw badState(`This PaymentIntent (${intent.id}) does not have a successful charge to refund.`)
  return charge
}

function succeeded(charge: Stripe.Charge): Stripe.Charge {
  if (charge.status === 'succeeded') return charge
  throw badState(`Charge ${charge.id} did not succeed and cannot be refunded.`)
}

function isRefundable(context: Context, charge: Stripe.Charge): boolean {
  const disputes = context.store.list('dispute', [{ field: 'charge', value: charge.id }]).objects
  return disputes.every((dispute) => dispute.is_charge_refundable || dispute.status === 'won')
}

const listShape = { ...pageShape, charge: text({ max: 255 }), payment_intent: text({ max: 255 }) }

export const refundRoutes: readonly Route[] = [
  route('refunds.create', 'POST /v1/refunds', createShape, createRefund),
  route(
    'refunds.retrieve',
    'GET /v1/refunds/:id',
    {},
    (context, _params, id) => getStored(context, 'refund', id).object
  ),
  route('refunds.update', 'POST /v1/refunds/:id', { metadata: metadata() }, (context, params, id) => {
    const { object } = getStored(context, 'refund', id)
    return save(context, 'refund', { ...object, metadata: mergeMetadata(object.metadata, params.metadata) })
  }),
  route('refunds.list', 'GET /v1/refunds', listShape, (context, params) =>
    listPage(context, 'refund', params, '/v1/refunds', filtersOf(params, 'charge', 'payment_intent'))
  )
]
