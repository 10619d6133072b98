import type { Db } from '../../../platform/db/database.ts'
import { formatMoney } from '../../../platform/money.ts'
import type { ShopContext } from '../../../shop/context.ts'
import { shopDay } from '../../../shop/settings/shop-days.ts'
import { isReady } from '../../../shop/payments/gateway.ts'
import { runUnitOfWork, forgetWarning, openWarnings, warn } from '../../../shop/payments/warnings.ts'
import { comparePayments, differenceKinds } from './compare.ts'
import type { Difference, PaymentRow } from './compare.ts'

const hourMs = 60 * 60_000
const dayMs = 24 * hourMs
/** Days overlap, so that a day without the server is compared later. */
const lookBackMs = 7 * dayMs

/** The warnings of a second payment and of a payment that does not match are written when the payment arrives. */
const kinds = differenceKinds.filter((kind) => kind !== 'paid_twice')

/**
 * Compares the last days with Stripe and writes a payment warning for each difference, once; deletes the warning of a
 * difference that is gone, so that the same difference is reported again if it returns. Payments of the last hour are left
 * out, because they may be on their way. Returns the number of differences.
 */
export async function warnOfDifferences(shop: ShopContext): Promise<number> {
  if (!isReady(shop.cards)) return 0
  const now = shop.clock.now()
  const { rows } = await comparePayments(shop, { from: now - lookBackMs, to: now - hourMs })
  const mismatched = new Set(openWarnings(shop.db, 'mismatch').flatMap(({ orderId }) => orderId ?? []))
  let count = 0
  for (const row of rows) if (!mismatched.has(row.shop?.orderId ?? 0)) count += await applyRow(shop, row)
  return count
}

async function applyRow(shop: ShopContext, row: PaymentRow): Promise<number> {
  const objectId = row.chargeId ?? row.intentId ?? `order ${row.shop?.orderId ?? '?'}`
  const found = kinds.filter((kind) => row.differences.includes(kind))
  await runUnitOfWork(shop, 'books', (unit) => {
    for (const kind of kinds) {
      if (!found.includes(kind)) forgetWarning(unit, kind, objectId)
      else
        warn(unit, {
          orderId: row.shop?.orderId ?? null,
          kind,
          objectId,
          message: describeDifference(shop.db, kind, row)
        })
    }
  })
  return found.length
}

/** A difference in words that an operator can act on. */
export function describeDifference(db: Db, kind: Difference, row: PaymentRow): string {
  const { chargeId, currency, stripe, shop } = row
  const money = (minor: number | null | undefined): string => formatMoney(minor ?? 0, currency)
  const order = shop === null ? 'no order' : `order ${shop.orderId}`
  const charge = chargeId === null ? 'a payment' : `charge ${chargeId}`
  const returned = money((stripe?.refundedMinor ?? 0) + (stripe?.disputeLostMinor ?? 0))
  return {
    charge_not_in_shop: `Stripe has ${charge} of ${money(stripe?.amountMinor)}, the shop has no payment for it (${order}). Run "shopstead orders reconcile", then look at the charge in Stripe's dashboard.`,
    charge_not_at_stripe: `The shop has a payment of ${money(shop?.amountMinor)} for ${order} on ${shopDay(db, row.at)}, Stripe has no charge for it. Check whether the server uses the right Stripe key.`,
    amount_differs: `Stripe has ${money(stripe?.amountMinor)} for ${charge}, the shop has ${money(shop?.amountMinor)} for ${order}. Refund the charge, or correct the order.`,
    refund_not_in_shop: `Stripe returned ${returned} of ${charge}, the shop records ${money(shop?.refundedMinor)} for ${order}. Run "shopstead orders reconcile".`,
    refund_not_at_stripe: `The shop records ${money(shop?.refundedMinor)} as refunded for ${order}, Stripe returned ${returned} of ${charge}. Refund the rest in Stripe's dashboard.`,
    paid_twice: `${order} was paid twice: ${charge} of ${money(stripe?.amountMinor)} is the second payment. Refund it in Stripe's dashboard.`
  }[kind]
}
