import type Stripe from 'stripe'
import { recordMovement } from './balance.ts'
import { getStored, route, save } from '../http/context.ts'
import type { Context, Route } from '../http/context.ts'
import { newId } from '../store/ids.ts'
import { filtersOf, listPage, pageShape } from '../http/lists.ts'
import { choice } from '../http/params.ts'

/** Pays out everything that no earlier payout paid out, as Stripe's automatic schedule does. */
export function payOut(context: Context): Stripe.Payout {
  const { objects } = context.store.list('balance_transaction', [{ field: 'status', value: 'pending' }], {
    limit: Number.MAX_SAFE_INTEGER - 1
  })
  const amount = objects.reduce((sum, { net }) => sum + net, 0)
  const currency = objects[0]?.currency ?? 'eur'
  const id = newId('po')
  for (const transaction of objects) save(context, 'balance_transaction', { ...transaction, status: 'available' })
  const own = recordMovement(context, { type: 'payout', amount: -amount, currency, source: id })
  const payout = {
    id,
    object: 'payout',
    amount,
    application_fee: null,
    application_fee_amount: null,
    arrival_date: context.now,
    automatic: true,
    balance_transaction: own,
    created: context.now,
    currency,
    description: 'STRIPE PAYOUT',
    destination: null,
    failure_balance_transaction: null,
    failure_code: null,
    failure_message: null,
    livemode: false,
    metadata: {},
    method: 'standard',
    original_payout: null,
    payout_method: null,
    reconciliation_status: 'completed',
    reversed_by: null,
    source_type: 'card',
    statement_descriptor: null,
    status: 'paid',
    trace_id: null,
    type: 'bank_account'
  } satisfies Stripe.Payout
  return save(context, 'payout', payout, { transactions: [...objects.map((transaction) => transaction.id), own] })
}

const listShape = { ...pageShape, status: choice('canceled', 'failed', 'in_transit', 'paid', 'pending') }

export const payoutRoutes: readonly Route[] = [
  route('payouts.list', 'GET /v1/payouts', listShape, (context, params) =>
    listPage(context, 'payout', params, '/v1/payouts', filtersOf(params, 'status'))
  ),
  route(
    'payouts.retrieve',
    'GET /v1/payouts/:id',
    {},
    (context, _params, id) => getStored(context, 'payout', id).object
  )
]
