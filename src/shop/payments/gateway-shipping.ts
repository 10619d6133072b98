import type Stripe from 'stripe'
import { isShipped } from '../catalog/product-types.ts'
import type { OrderItemRow, OrderRow } from '../orders/find.ts'
import { methodLabel } from '../shipping/costs.ts'
import { subscriptionInterval } from './subscription-interval.ts'

type Params = Stripe.Checkout.SessionCreateParams

/** The shipping of an order on Stripe's page: one option with a fixed amount, already chosen. */
export function shippingOptions(order: OrderRow): Pick<Params, 'shipping_options'> {
  const { shippingMethod, shippingMinor, currency } = order
  if (shippingMethod === null) return {}
  const amount = { amount: shippingMinor, currency: currency.toLowerCase() }
  const rate = { type: 'fixed_amount', display_name: shippingMethod.name, fixed_amount: amount } as const
  return { shipping_options: [{ shipping_rate_data: rate }] }
}

/**
 * The shipping of an order as a line item, because a subscription cannot have shipping options
 * (docs.stripe.com/payments/checkout/shipping). It is charged again with each renewal that ships something.
 */
export function shippingLines(
  order: OrderRow,
  items: readonly Pick<OrderItemRow, 'type' | 'grants'>[]
): NonNullable<Params['line_items']> {
  const { shippingMethod, shippingMinor, currency } = order
  if (shippingMethod === null || shippingMinor === 0) return []
  const interval = subscriptionInterval(items.filter(({ type }) => isShipped(type)))
  return [
    {
      quantity: 1,
      price_data: {
        currency: currency.toLowerCase(),
        unit_amount: shippingMinor,
        product_data: { name: methodLabel(shippingMethod) },
        ...(interval === null ? {} : { recurring: { interval } })
      }
    }
  ]
}
