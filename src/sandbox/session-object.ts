import type Stripe from 'stripe'
import type { Context } from './context.ts'
import { newId } from './ids.ts'

/** What a new session is created from. */
export type SessionTerms = {
  mode: 'payment' | 'subscription'
  currency: string
  lineItems: readonly Stripe.LineItem[]
  coupon: Stripe.Coupon | null
  /** The chosen shipping option and what it costs. */
  shipping: { rateId: string; amount: number } | null
  customer: Stripe.Customer | null
  customerEmail: string | null
  clientReferenceId: string | null
  /** Epoch seconds. */
  expiresAt: number
  metadata: Record<string, string>
  successUrl: string
  cancelUrl: string | null
  locale: string | null
  customerCreation: 'always' | 'if_required'
}

/** Fields of a session that the sandbox never changes. */
const unused = {
  adaptive_pricing: { enabled: false },
  after_expiration: null,
  allow_promotion_codes: null,
  allowed_payment_method_types: null,
  automatic_tax: { enabled: false, liability: null, provider: null, status: null },
  billing_address_collection: null,
  client_secret: null,
  collected_information: { business_name: null, individual_name: null, shipping_details: null },
  consent: null,
  consent_collection: null,
  currency_conversion: null,
  custom_fields: [],
  custom_text: { after_submit: null, shipping_address: null, submit: null, terms_of_service_acceptance: null },
  customer_account: null,
  integration_identifier: null,
  invoice: null,
  invoice_creation: null,
  livemode: false,
  managed_payments: null,
  origin_context: null,
  payment_link: null,
  payment_method_configuration_details: null,
  payment_method_options: { card: { request_three_d_secure: 'automatic' } },
  payment_method_types: ['card'],
  permissions: null,
  phone_number_collection: { enabled: false },
  recovered_from: null,
  saved_payment_method_options: null,
  setup_intent: null,
  shipping_address_collection: null,
  submit_type: null,
  ui_mode: 'hosted_page',
  wallet_options: null
} satisfies Partial<Stripe.Checkout.Session>

/** An open session with the URL of its payment page. The caller stores it. */
export function newSession(context: Context, terms: SessionTerms): Stripe.Checkout.Session {
  const id = newId('cs_test', 58)
  const sum = (field: 'amount_subtotal' | 'amount_total' | 'amount_discount'): number =>
    terms.lineItems.reduce((total, line) => total + line[field], 0)
  const { shipping } = terms
  const amountShipping = shipping?.amount ?? 0
  const email = terms.customerEmail ?? terms.customer?.email ?? null
  return {
    ...unused,
    id,
    object: 'checkout.session',
    amount_subtotal: sum('amount_subtotal'),
    amount_total: sum('amount_total') + amountShipping,
    cancel_url: terms.cancelUrl,
    client_reference_id: terms.clientReferenceId,
    created: context.now,
    currency: terms.currency,
    customer: terms.customer?.id ?? null,
    customer_creation: terms.customer ? null : terms.customerCreation,
    customer_details: email === null ? null : customerDetails(email),
    customer_email: terms.customerEmail,
    discounts: terms.coupon ? [{ coupon: terms.coupon.id, promotion_code: null }] : [],
    expires_at: terms.expiresAt,
    locale: terms.locale,
    metadata: terms.metadata,
    mode: terms.mode,
    payment_intent: null,
    payment_method_collection: terms.mode === 'payment' ? 'if_required' : 'always',
    payment_status: 'unpaid',
    ...shippingFields(shipping),
    status: 'open',
    subscription: null,
    success_url: terms.successUrl,
    total_details: { amount_discount: sum('amount_discount'), amount_shipping: amountShipping, amount_tax: 0 },
    url: `${context.publicUrl}/sandbox/checkout/${id}`
  }
}

function shippingFields(
  shipping: SessionTerms['shipping']
): Pick<Stripe.Checkout.Session, 'shipping_cost' | 'shipping_options'> {
  if (shipping === null) return { shipping_cost: null, shipping_options: [] }
  const { rateId, amount } = shipping
  return {
    shipping_cost: { amount_subtotal: amount, amount_tax: 0, amount_total: amount, shipping_rate: rateId },
    shipping_options: [{ shipping_amount: amount, shipping_rate: rateId }]
  }
}

/** A session's `customer_details` with only an email. */
export function customerDetails(email: string): Stripe.Checkout.Session.CustomerDetails {
  return {
    address: { city: null, country: null, line1: null, line2: null, postal_code: null, state: null },
    business_name: null,
    email,
    individual_name: null,
    name: null,
    phone: null,
    tax_exempt: 'none',
    tax_ids: []
  }
}
