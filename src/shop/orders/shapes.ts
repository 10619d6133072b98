import { z } from 'zod'
import { amount, count, currency, id, time } from '../../platform/public-fields.ts'
import { variationChoice } from '../catalog/public/shapes.ts'
import { orderStatuses } from './states.ts'

export const orderStatus = z.enum(orderStatuses)

const attributed = z.string().nullable()

/** The public form of an order (docs/interface.md 2.5). */
export const order = z.object({
  id,
  status: orderStatus.meta({ example: 'processing' }),
  currency,
  total: amount,
  createdAt: time,
  updatedAt: time,
  renewalOf: id.nullable().meta({
    description: 'For the renewal of a subscription: the order that started the subscription. Null for other orders.',
    example: null
  }),
  addedTo: id.nullable().meta({
    description: 'For an order that changes another one: that order, with which it is shipped. Null for other orders.',
    example: null
  }),
  credited: amount.meta({
    description: 'What other orders, which gave it back, pay of the total. The rest is due, or was paid.',
    example: 0
  }),
  buyerReference: z
    .string()
    .nullable()
    .meta({ description: 'What the buyer wants to read on its electronic invoice.', example: null }),
  lineItems: z
    .array(z.object({ name: z.string().meta({ example: 'Harbour lantern' }), quantity: count, total: amount }))
    .meta({ description: 'Totals after their share of the discounts; they add up to the total of the order.' }),
  affiliateRef: z.string().meta({ description: 'Empty without an affiliate.', example: 'mira' }),
  affiliateCampaign: z.string().meta({ example: '' }),
  affiliateReferralCreated: z.boolean(),
  affiliateVisitId: z.number().nullable(),
  affiliateReferralId: z.number().nullable(),
  affiliateVisitConverted: z
    .boolean()
    .nullable()
    .meta({ description: 'True once the order is paid and its referral accepted; null without a visit.' }),
  orderAttributionSourceType: attributed.meta({ description: 'referral, utm or typein.', example: 'referral' }),
  orderAttributionUtmSource: attributed.meta({ example: 'affiliate:mira' }),
  orderAttributionUtmMedium: attributed.meta({ example: 'affiliate' }),
  orderAttributionUtmCampaign: attributed,
  orderAttributionUtmContent: attributed.meta({ example: 'visit:8' }),
  marketingUtmSource: attributed,
  marketingUtmMedium: attributed,
  marketingUtmCampaign: attributed,
  marketingUtmContent: attributed
})
export type OrderView = z.infer<typeof order>

/** What is charged with each renewal of a subscription. Amounts are in major units. */
export const recurring = z
  .object({
    amount: amount.meta({ description: 'The total of each renewal, with shipping and tax.', example: 29.65 }),
    interval: z.enum(['month', 'year']),
    shipping: amount.meta({ description: 'The part of it that ships the goods that renew.', example: 4.9 }),
    tax: amount.meta({ description: 'The tax in it.', example: 1.95 }),
    from: time.meta({ description: 'When the first renewal is charged.' })
  })
  .meta({ id: 'Recurring', description: 'Charged with each renewal, for all subscriptions of the order together.' })
export type RecurringView = z.infer<typeof recurring>

/** The parts of an order's total. */
export const totals = z
  .object({
    subtotal: amount,
    discount: amount,
    shipping: amount,
    tax: amount,
    taxIncluded: z.boolean(),
    total: amount
  })
  .meta({
    description: 'subtotal - discount + shipping = total; plus tax if it is not included.',
    example: { subtotal: 15, discount: 2.5, shipping: 0, tax: 2, taxIncluded: true, total: 12.5 }
  })
export type OrderTotals = z.infer<typeof totals>

/** What was given back of an order. */
export const refund = z
  .object({
    refundedAt: time.nullable().meta({ description: 'Null while the payment provider works on it.' }),
    state: z
      .enum(['requested', 'done', 'failed'])
      .meta({ description: 'failed: the money did not reach the buyer.', example: 'done' }),
    way: z.enum(['payment', 'order', 'gift_card']).meta({
      description:
        'Where it goes: back the way it was paid, to the payment of an order that changes this one, or onto the gift card that paid.',
      example: 'payment'
    }),
    amount,
    lines: z
      .array(
        z.object({
          line: z.int().meta({ description: 'The number of the line in the order, from 1.', example: 1 }),
          name: z.string().meta({ example: 'Storm lantern' }),
          quantity: count,
          amount
        })
      )
      .meta({ description: 'With tax. Empty for a refund of an amount.' }),
    shipping: amount.meta({ example: 0 })
  })
  .meta({ id: 'Refund', description: 'Money that went back to the buyer, and what for.' })
export type RefundView = z.infer<typeof refund>

export const refundStates = ['none', 'pending', 'partial', 'done', 'failed'] as const
export type RefundState = (typeof refundStates)[number]

/** What became of the money of an order that was refunded. */
export const refundProgress = {
  refundState: z.enum(refundStates).meta({
    description: 'failed: the newest refund did not reach the buyer. pending: the payment provider works on it.',
    example: 'none'
  }),
  refundOwed: amount.meta({ description: 'What the shop still has to give back.', example: 0 })
}
export type RefundProgress = { refundState: RefundState; refundOwed: number }

/** The taxes of an order or a quote. */
export const taxes = z
  .array(
    z.object({
      name: z.string().meta({ example: 'VAT' }),
      ratePercent: z.number().meta({ example: 19 }),
      amount: amount.meta({ example: 2 })
    })
  )
  .meta({ description: 'One for each rate.' })
export type TaxView = z.infer<typeof taxes>[number]

/** Why a cart cannot be bought, for programs (docs/contract.md 5.23). */
export const problemCodes = [
  'unknown_product',
  'unavailable',
  'sold_out',
  'not_enough',
  'choose_variation',
  'coupon_unknown',
  'coupon_expired',
  'coupon_used',
  'coupon_minimum',
  'coupon_not_for_cart',
  'coupon_not_combined',
  'gift_card_unknown',
  'gift_card_empty',
  'gift_card_held',
  'gift_card_currency',
  'gift_card_not_for_cart',
  'address_needed',
  'address_invalid',
  'no_shipping_there',
  'below_minimum',
  'interval_mixed',
  'already_subscribed',
  'too_many_products',
  'total_too_high',
  'login_needed',
  'email_needed',
  'payment_unavailable',
  'shop_closed',
  'too_many_unpaid',
  'too_many_attempts',
  'vat_id_invalid'
] as const

export type ProblemCode = (typeof problemCodes)[number]

/** A shipping method that an order can have. */
export const methodChoice = z
  .object({
    id: z.string().meta({ example: 'standard' }),
    name: z.string().meta({ example: 'Parcel' }),
    amount,
    estimate: z.string().nullable().meta({ example: '2–3 days' }),
    pickup: z.boolean().meta({ description: 'Whether the buyer picks the goods up in the shop.' })
  })
  .meta({ id: 'MethodChoice' })
export type MethodChoice = z.infer<typeof methodChoice>

const reason = {
  code: z.enum(problemCodes).meta({ example: 'not_enough' }),
  message: z.string().meta({ description: 'For the buyer. It names the product.', example: 'Lantern: only 2 left.' }),
  left: z.int().exactOptional().meta({ description: 'not_enough: how many the buyer can order.', example: 2 }),
  minimum: z
    .number()
    .exactOptional()
    .meta({ description: 'below_minimum, coupon_minimum: the smallest total.', example: 20 }),
  currentPeriodEnd: z.string().exactOptional().meta({ description: 'already_subscribed: when the paid period ends.' }),
  choices: z
    .union([z.array(variationChoice), z.array(methodChoice)])
    .exactOptional()
    .meta({ description: 'What can be chosen: the variations, or the shipping methods.' })
}

/** Why one line or one code of a cart cannot be bought. */
export const lineProblem = z.object(reason).meta({ id: 'LineProblem' })
export type PartProblem = z.infer<typeof lineProblem>

/** Why a cart cannot be bought. */
export const cartProblem = z
  .object({
    path: z.string().meta({ description: 'The field of the request.', example: 'items.2.quantity' }),
    ...reason
  })
  .meta({ id: 'CartProblem' })
export type Problem = z.infer<typeof cartProblem>
