import type Stripe from 'stripe'
import type { Context } from '../http/context.ts'
import { newId, randomBase62 } from '../store/ids.ts'

/** What a new intent is created from. */
export type IntentTerms = Pick<
  Stripe.PaymentIntent,
  'amount' | 'currency' | 'description' | 'metadata' | 'receipt_email' | 'setup_future_usage' | 'statement_descriptor'
> &
  Partial<
    Pick<
      Stripe.PaymentIntent,
      | 'statement_descriptor_suffix'
      | 'shipping'
      | 'automatic_payment_methods'
      | 'capture_method'
      | 'confirmation_method'
    >
  > & {
    customer: string | null
  }

/** A new intent that requires a payment method. The caller stores it. */
export function newIntent(context: Context, terms: IntentTerms): Stripe.PaymentIntent {
  const id = newId('pi')
  return {
    id,
    object: 'payment_intent',
    allowed_payment_method_types: null,
    amount_capturable: 0,
    amount_details: { tip: {} },
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic_async',
    client_secret: `${id}_secret_${randomBase62(24)}`,
    confirmation_method: 'automatic',
    created: context.now,
    customer_account: null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    managed_payments: null,
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: {
      card: { installments: null, mandate_options: null, network: null, request_three_d_secure: 'automatic' }
    },
    payment_method_types: ['card'],
    payment_record: null,
    processing: null,
    review: null,
    shipping: null,
    source: null,
    statement_descriptor_suffix: null,
    status: 'requires_payment_method',
    transfer_data: null,
    transfer_group: null,
    ...terms
  }
}
