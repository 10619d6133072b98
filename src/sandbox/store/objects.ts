import type Stripe from 'stripe'

/** Every kind of stored object, by the name in its `object` field. */
export type Objects = {
  balance_transaction: Stripe.BalanceTransaction
  'billing_portal.session': Stripe.BillingPortal.Session
  charge: Stripe.Charge
  'checkout.session': Stripe.Checkout.Session
  confirmation_token: Stripe.ConfirmationToken
  coupon: Stripe.Coupon
  customer: Stripe.Customer
  dispute: Stripe.Dispute
  event: Stripe.Event
  invoice: Stripe.Invoice
  invoice_payment: Stripe.InvoicePayment
  payment_intent: Stripe.PaymentIntent
  payment_method: Stripe.PaymentMethod
  payout: Stripe.Payout
  price: Stripe.Price
  product: Stripe.Product
  refund: Stripe.Refund
  subscription: Stripe.Subscription
  webhook_endpoint: Stripe.WebhookEndpoint
}
export type Kind = keyof Objects

/** What a session creates when it is paid. Not part of Stripe's public object. */
export type SessionPlan = {
  lineItems: Stripe.LineItem[]
  intent: Pick<Stripe.PaymentIntent, 'description' | 'metadata' | 'receipt_email' | 'setup_future_usage'> & {
    statement_descriptor: string | null
    statement_descriptor_suffix?: string | null
    shipping?: Stripe.PaymentIntent.Shipping | null
  }
  subscription: { description: string | null; metadata: Record<string, string> }
  couponId: string | null
  /** The intent of the first payment attempt. The session's own field shows it only in payment mode. */
  intentId: string | null
  /** The payment method of a subscription whose first period is free, and so has no intent. */
  methodId: string | null
}

/** Data that the sandbox stores with an object but never returns. */
export type Hidden = {
  'billing_portal.session': { usedAt: number | null }
  charge: { settlesAs: 'succeeded' | 'failed' }
  'checkout.session': SessionPlan
  confirmation_token: { card: string; usedBy: string | null }
  coupon: { deleted: boolean }
  payment_intent: { sessionId: string | null; returnUrl: string | null }
  payment_method: { card: string }
  payout: { transactions: string[] }
  subscription: { couponId: string | null }
  webhook_endpoint: { secret: string; deleted: boolean }
}
export type HiddenOf<K extends Kind> = K extends keyof Hidden ? Hidden[K] : undefined
