import type Stripe from 'stripe'
import { AppError } from '../../../errors.ts'
import type { ShopContext } from '../../../shop/context.ts'
import { readGatewayError } from '../../../shop/payments/gateway-failure.ts'
import { readyGateway } from '../../../shop/payments/gateway.ts'
import { unlessMissing } from '../../../shop/payments/look-up.ts'
import type { AttemptRow } from '../../../shop/payments/rows.ts'
import { readLostDisputes, readMovements, readPayouts } from './movements.ts'
import type { ChargeMovements, PayoutOf } from './movements.ts'
import { findOwner } from './owner.ts'
import type { Owner } from './owner.ts'
import type { Period, PaymentRow, StripeSide } from './row.ts'
import { compareSides, paidAttempts, readShopSide, readUnknownRenewal } from './shop-side.ts'

export type PaymentsReport = {
  /** Oldest first. */
  rows: PaymentRow[]
  /** How many charges of other software on the account are left out. */
  foreign: number
}

type Owned = { movements: ChargeMovements; owner: Exclude<Owner, 'foreign'> }

/**
 * Compares, charge by charge, what Stripe says about a period with what the shop says: amounts, refunds and disputes as
 * they are now, fees and net amounts as the balance moved within the period. A payment of the last minutes may still be on
 * its way to the shop.
 *
 * @throws AppError CHECKOUT_GATEWAY_NOT_CONFIGURED; DEPENDENCY_UNAVAILABLE when Stripe does not answer or the key may not
 *   read the balance
 */
export async function reportPayments(
  shop: ShopContext,
  period: Period,
  onStep: (text: string) => void = () => undefined
): Promise<PaymentsReport> {
  const stripe = await readyGateway(shop).client()
  try {
    return await compareAll(shop, stripe, period, onStep)
  } catch (error) {
    if (error instanceof AppError) throw error
    const { message, code, type } = readGatewayError(error).error
    if (type === '') throw error
    const reason = message || code || type
    throw new AppError(
      'DEPENDENCY_UNAVAILABLE',
      `Stripe did not answer: ${reason}. A restricted key needs the right to read balance transactions, payouts, charges and disputes.`
    )
  }
}

async function compareAll(
  shop: ShopContext,
  stripe: Stripe,
  period: Period,
  onStep: (text: string) => void
): Promise<PaymentsReport> {
  const moved = await readMovements(stripe, period, onStep)
  const owned: Owned[] = []
  for (const movements of moved) {
    if (owned.length % 100 === 1) onStep(`comparing charges: ${owned.length} of ${moved.length}`)
    const owner = await findOwner(shop, stripe, movements.charge)
    if (owner !== 'foreign') owned.push({ movements, owner })
  }
  const payoutOf: PayoutOf = owned.length === 0 ? new Map() : await readPayouts(stripe, period, onStep)
  const rows: PaymentRow[] = []
  for (const each of owned) rows.push(await toRow(shop, stripe, each, payoutOf))
  const matched = new Set(owned.flatMap(({ owner }) => (owner.attempt === null ? [] : [owner.attempt.id])))
  onStep('looking for payments that Stripe does not have')
  rows.push(...(await unmatched(shop, stripe, period, matched)))
  const orderOf = ({ shop: side }: PaymentRow): number => side?.orderId ?? Number.POSITIVE_INFINITY
  rows.sort((one, other) => one.at - other.at || orderOf(one) - orderOf(other))
  return { rows, foreign: moved.length - owned.length }
}

async function toRow(
  { db }: ShopContext,
  stripe: Stripe,
  { movements, owner }: Owned,
  payoutOf: PayoutOf
): Promise<PaymentRow> {
  const { charge, chargeTransaction, feeMinor, netMinor, moved, balanceCurrency } = movements
  const side: StripeSide = {
    amountMinor: charge.amount,
    refundedMinor: charge.amount_refunded,
    disputeLostMinor: await readLostDisputes(stripe, charge),
    feeMinor,
    netMinor,
    moved,
    balanceCurrency,
    payout: payoutOf.get(chargeTransaction ?? '') ?? null
  }
  const payment = owner.attempt === null ? null : readShopSide(db, owner.attempt)
  const unknown = owner.attempt === null && owner.first !== null ? readUnknownRenewal(db, owner.first) : null
  const currency = charge.currency.toUpperCase()
  return {
    chargeId: charge.id,
    intentId: typeof charge.payment_intent === 'string' ? charge.payment_intent : null,
    at: charge.created * 1000,
    currency,
    stripe: side,
    shop: payment?.side ?? unknown,
    differences: compareSides(side, currency, payment)
  }
}

/** The payments of the shop within the period that no movement of the balance belongs to. */
async function unmatched(
  shop: ShopContext,
  stripe: Stripe,
  period: Period,
  matched: ReadonlySet<number>
): Promise<PaymentRow[]> {
  const attempts = paidAttempts(shop.db, readyGateway(shop), period).filter(({ id }) => !matched.has(id))
  const rows: PaymentRow[] = []
  for (const attempt of attempts) {
    // A charge of just before the period, which the shop noticed within it, belongs to the period before.
    if (await wasCharged(stripe, attempt)) continue
    const { side } = readShopSide(shop.db, attempt)
    rows.push({
      chargeId: null,
      intentId: attempt.paymentIntentId,
      at: attempt.settledAt ?? attempt.updatedAt,
      currency: attempt.currency,
      stripe: null,
      shop: side,
      differences: ['charge_not_at_stripe']
    })
  }
  return rows
}

async function wasCharged(stripe: Stripe, { paymentIntentId }: AttemptRow): Promise<boolean> {
  if (paymentIntentId === null) return false
  const intent = await unlessMissing(stripe.paymentIntents.retrieve(paymentIntentId))
  return intent?.status === 'succeeded'
}
