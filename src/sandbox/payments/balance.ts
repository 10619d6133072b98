import type Stripe from 'stripe'
import { getStored, route, save } from '../http/context.ts'
import type { Context, Route } from '../http/context.ts'
import { badParameter } from '../http/errors.ts'
import { newId } from '../store/ids.ts'
import { filtersOf, listPage, pageShape } from '../http/lists.ts'
import { text } from '../http/params.ts'
import type { Values } from '../http/params.ts'

/** Stripe's standard price for European cards: 1.5 % and 0.25, in basis points and minor units. */
const feeBps = 150
const feeMinor = 25
/** The fee of a dispute in minor units, whether it is won or lost. */
const disputeFeeMinor = 2_000
const availableAfterSeconds = 7 * 86_400

export type Movement = {
  type: 'charge' | 'refund' | 'refund_failure' | 'adjustment' | 'payout'
  /** Negative for money that leaves the balance. */
  amount: number
  currency: string
  /** The id of the charge, refund, dispute or payout. */
  source: string
  category?: 'dispute' | 'dispute_reversal'
}

/** Records a movement of the account's balance with its fee, and returns its id. */
export function recordMovement(context: Context, movement: Movement): string {
  const { type, amount, currency, source, category } = movement
  const fee = feeOf(movement)
  const details = {
    amount: fee,
    application: null,
    currency,
    description: 'Stripe processing fees',
    type: 'stripe_fee'
  }
  const transaction = {
    id: newId('txn'),
    object: 'balance_transaction',
    amount,
    available_on: context.now + availableAfterSeconds,
    balance_type: 'payments',
    created: context.now,
    currency,
    description: null,
    exchange_rate: null,
    fee,
    fee_details: fee === 0 ? [] : [details],
    net: amount - fee,
    reporting_category: category ?? type,
    source,
    status: type === 'payout' ? 'available' : 'pending',
    type
  } satisfies Stripe.BalanceTransaction
  return save(context, 'balance_transaction', transaction).id
}

function feeOf({ type, category, amount }: Movement): number {
  if (category === 'dispute') return disputeFeeMinor
  return type === 'charge' ? Math.round((amount * feeBps) / 10_000) + feeMinor : 0
}

/** The transactions of a charge, refund, dispute or payout, oldest first. */
export function transactionsOf({ store }: Context, source: string): Stripe.BalanceTransaction[] {
  return store.list('balance_transaction', [{ field: 'source', value: source }]).objects.reverse()
}

const listShape = {
  ...pageShape,
  currency: text({ max: 3 }),
  payout: text({ max: 255 }),
  source: text({ max: 255 }),
  type: text({ max: 100 })
}

function listTransactions(context: Context, params: Values<typeof listShape>): object {
  const filters = filtersOf(params, 'currency', 'source', 'type')
  const { payout } = params
  if (payout !== undefined) {
    const { object, hidden } = getStored(context, 'payout', payout, 'payout')
    if (!object.automatic)
      throw badParameter('Balance transaction history can only be filtered on automatic transfers, not manual.', {
        param: 'payout'
      })
    filters.push({ field: 'id', value: hidden.transactions, test: 'in' })
  }
  return listPage(context, 'balance_transaction', params, '/v1/balance_transactions', filters)
}

export const balanceRoutes: readonly Route[] = [
  route('balance_transactions.list', 'GET /v1/balance_transactions', listShape, listTransactions),
  route(
    'balance_transactions.retrieve',
    'GET /v1/balance_transactions/:id',
    {},
    (context, _params, id) => getStored(context, 'balance_transaction', id).object
  )
]
