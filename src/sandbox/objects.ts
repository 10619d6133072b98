import type Stripe from 'stripe'

/** Every kind of object that is kept, by the name in its own `object` field. */
export type Objects = {
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
  price: Stripe.Price
  product: Stripe.Product
  refund: Stripe.Refund
  subscription: Stripe.Subscription
}
export type Kind = keyof Objects

/** What a session is to make once it is paid; Stripe keeps this to itself too. */
export type SessionPlan = {
  lineItems: Stripe.LineItem[]
  intent: Pick<Stripe.PaymentIntent, 'description' | 'metadata' | 'receipt_email' | 'setup_future_usage'> & {
    statement_descriptor: string | null
  }
  subscription: { description: string | null; metadata: Record<string, string> }
  couponId: string | null
  /** The intent of the first attempt to pay; the session itself names it only in payment mode. */
  intentId: string | null
  /** What a subscription renews with that cost nothing at first, and so has no intent. */
  methodId: string | null
}

/** What the sandbox alone knows of an object. */
export type Hidden = {
  charge: { settlesAs: 'succeeded' | 'failed' }
  'checkout.session': SessionPlan
  confirmation_token: { card: string; usedBy: string | null }
  coupon: { deleted: boolean }
  payment_intent: { sessionId: string | null; returnUrl: string | null }
  payment_method: { card: string }
  subscription: { couponId: string | null }
}
export type HiddenOf<K extends Kind> = K extends keyof Hidden ? Hidden[K] : undefined
