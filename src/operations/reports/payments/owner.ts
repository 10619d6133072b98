import type Stripe from 'stripe'
import type { ShopContext } from '../../../shop/context.ts'
import { findAttemptByObject, findAttemptByToken } from '../../../shop/payments/attempts.ts'
import { idOf } from '../../../shop/payments/gateway-state.ts'
import { ownership } from '../../../shop/payments/metadata.ts'
import type { AttemptRow } from '../../../shop/payments/rows.ts'

/**
 * Whose charge it is: the attempt that it paid; a payment of this shop that it does not know, with the attempt that
 * started the subscription for a renewal; or `foreign`, of other software that uses the account.
 */
export type Owner = { attempt: AttemptRow } | { attempt: null; first: AttemptRow | null } | 'foreign'

/** Finds a charge's payment attempt by its PaymentIntent, its metadata, or the invoice that it paid. */
export async function findOwner(shop: ShopContext, stripe: Stripe, charge: Stripe.Charge): Promise<Owner> {
  const intentId = idOf(charge.payment_intent)
  const known = intentId === null ? undefined : findAttemptByObject(shop.db, intentId)
  if (known !== undefined) return { attempt: known }
  const owner = ownership(shop, charge.metadata)
  const attempt = owner === null ? undefined : findAttemptByToken(shop.db, owner.token)
  if (attempt !== undefined) return { attempt }
  if (owner?.isNamed) return { attempt: null, first: null }
  // The charge of a subscription's invoice has no metadata.
  const mayBeRenewal = intentId !== null && Object.keys(charge.metadata).length === 0
  return mayBeRenewal ? findRenewal(shop, stripe, intentId) : 'foreign'
}

async function findRenewal(shop: ShopContext, stripe: Stripe, intentId: string): Promise<Owner> {
  const payment = { type: 'payment_intent', payment_intent: intentId } as const
  const { data } = await stripe.invoicePayments.list({ payment, limit: 1, expand: ['data.invoice'] })
  const invoice = data[0]?.invoice
  if (invoice === undefined || typeof invoice === 'string' || invoice.deleted) return 'foreign'
  const attempt = findAttemptByObject(shop.db, invoice.id)
  if (attempt !== undefined) return { attempt }
  const owner = ownership(shop, invoice.parent?.subscription_details?.metadata)
  const first = owner === null ? undefined : findAttemptByToken(shop.db, owner.token)
  // The first invoice is the payment of the order that started the subscription.
  if (first !== undefined && invoice.billing_reason === 'subscription_create') return { attempt: first }
  if (first !== undefined) return { attempt: null, first }
  return owner?.isNamed ? { attempt: null, first: null } : 'foreign'
}
