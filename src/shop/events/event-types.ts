import { z } from 'zod'

// Every event with its data (docs/contract.md 9.1): ids, states and amounts, and no addresses of persons.

/** What a webhook with full data adds to an event: the order and its buyer, the owner of the account, or nothing. */
export type EventSubject = 'order' | 'customer' | null

type Definition<Data extends z.ZodRawShape, Subject extends EventSubject> = {
  /** For an operator who chooses the types of a webhook. */
  about: string
  data: z.ZodObject<Data>
  subject: Subject
}

function event<Data extends z.ZodRawShape, Subject extends EventSubject>(
  about: string,
  data: Data,
  subject: Subject
): Definition<Data, Subject> {
  return { about, data: z.object(data), subject }
}

const id = z.int().meta({ example: 17 })
const minor = z.int().meta({ description: 'In minor units, such as cents.', example: 1250 })
const currency = z.string().meta({ description: 'ISO 4217.', example: 'EUR' })
const status = z.string().meta({ example: 'processing' })
const byUser = { userId: id }
const jsonText = z.string().meta({ description: 'The value as JSON.', example: '10' })
const terms = { code: z.string().meta({ example: 'mira' }), status }
const target = (of: string) =>
  z
    .int()
    .nullable()
    .meta({ description: `The id of the ${of} that it is for, or null.` })
const rateDay = z.string().meta({ format: 'date-time', example: '2026-04-14T09:26:53.589Z' })
const referral = { referralId: id, affiliateId: id, orderId: id, amountMinor: minor, currency }
const couponId = z.int().meta({ description: 'The id of the coupon.', example: 3 })
const ownCoupon = { affiliateId: id, couponId, code: z.string().meta({ example: 'MIRA10' }) }
const payout = { payoutId: id, affiliateId: id, amountMinor: minor, currency }
const membership = { membershipId: id, userId: id, plan: z.string().meta({ example: 'keepers-circle' }) }

/** Units of a line of an order. */
const units = z.object({
  line: z.int().meta({ description: 'The number of the line in the order, from 1.', example: 1 }),
  name: z.string().meta({ example: 'Storm lantern' }),
  quantity: z.int().meta({ example: 1 })
})
const returned = z.array(units).meta({ description: 'What comes back.' })

/** Every event type with the schema of its data. */
export const eventTypes = {
  'account.registered': event('an account was created', byUser, 'customer'),
  'account.verified': event('the email address of an account was verified', byUser, 'customer'),
  'account.marketing_changed': event(
    'a customer agreed to news by email, or ended it',
    { ...byUser, marketingOptIn: z.enum(['yes', 'no']) },
    'customer'
  ),
  'account.deactivated': event('an account was deactivated', byUser, 'customer'),
  'order.created': event(
    'an order was placed and is not paid yet',
    { orderId: id, totalMinor: minor, currency },
    'order'
  ),
  'order.paid': event('an order was paid', { orderId: id, totalMinor: minor, currency }, 'order'),
  'order.vat_id_checked': event(
    'VIES was asked about the VAT id of an order',
    {
      orderId: id,
      outcome: z.string().meta({
        description: 'confirmed, not_registered, other_name (registered to another name), or unavailable.',
        example: 'confirmed'
      }),
      accepted: z.boolean().meta({ description: 'Whether the sale can be without tax.' }),
      consultation: z.string().nullable().meta({
        description: 'The consultation number of VIES, as proof; null without one.',
        example: 'WAPIAAAAYhX1jWsP'
      }),
      checkedAt: z.string().nullable().meta({ description: 'Null if VIES did not answer.' })
    },
    'order'
  ),
  'order.status_changed': event('the status of an order changed', { orderId: id, from: status, to: status }, 'order'),
  'order.changed': event(
    'an operator changed the buyer, the address, the shipping or the lines of an order',
    { orderId: id, fields: z.array(z.string()).meta({ description: 'What is different now.', example: ['shipTo'] }) },
    'order'
  ),
  'order.refunded': event(
    'an order was refunded, in full or in part',
    {
      orderId: id,
      amountMinor: minor,
      currency,
      full: z.boolean().meta({ description: 'Whether everything is refunded now.' }),
      way: z.enum(['payment', 'order', 'gift_card']).meta({
        description:
          'Where the money goes: back the way it was paid, to the payment of another order, or onto the gift card that paid.'
      }),
      lines: z
        .array(units.extend({ amountMinor: minor }))
        .meta({ description: 'What is given back. Empty for a refund of an amount.' }),
      shippingMinor: minor
    },
    'order'
  ),
  'order.refund_failed': event(
    'a refund did not reach the buyer: the money is back with the shop',
    { orderId: id, amountMinor: minor, currency },
    'order'
  ),
  'order.shipped': event(
    'goods of an order were handed to a carrier',
    {
      orderId: id,
      shipmentId: id,
      carrier: z.string().nullable().meta({ example: 'DHL' }),
      tracking: z.string().nullable().meta({ example: '00340434161094042557' }),
      complete: z.boolean().meta({ description: 'Whether everything is shipped now.' })
    },
    'order'
  ),
  'order.return_expected': event(
    'goods of an order are to come back',
    { orderId: id, returnId: id, lines: returned },
    'order'
  ),
  'order.returned': event(
    'goods of an order came back',
    {
      orderId: id,
      returnId: id,
      lines: returned,
      exchangeId: id.nullable().meta({ description: 'The order with what the buyer gets instead; null for a refund.' })
    },
    'order'
  ),
  'order.disputed': event(
    'a buyer disputed a payment with their bank',
    {
      orderId: id,
      disputeId: z.string().meta({ example: 'dp_1' }),
      status: z.string().meta({ description: "The gateway's word.", example: 'needs_response' })
    },
    'order'
  ),
  'withdrawal.received': event(
    'a buyer withdrew from a contract',
    {
      declarationId: id,
      orderId: id.nullable().meta({ description: 'Null if no order has the number and the email.' }),
      lines: z.array(units).meta({ description: 'What the buyer withdraws from. Empty without an order.' })
    },
    'order'
  ),
  'cancellation.received': event(
    'a buyer cancelled a subscription without a login',
    {
      declarationId: id,
      orderId: id.nullable().meta({ description: 'Null if no subscription has the number and the email.' }),
      isForCause: z.boolean().meta({ description: 'Whether the buyer names a cause to end it at once.' })
    },
    'order'
  ),
  'gift_card.issued': event(
    'a gift card was issued by an operator or sold by an order',
    {
      giftCardId: id,
      amountMinor: minor,
      currency,
      orderId: id.nullable().meta({ description: 'Null without an order.' })
    },
    null
  ),
  'gift_card.blocked': event('a gift card was blocked: it pays no further order', { giftCardId: id }, null),
  'gift_card.unblocked': event('a blocked gift card can pay again', { giftCardId: id }, null),
  'referral.created': event('an order was attributed to an affiliate', referral, null),
  'referral.accepted': event('a referral was accepted: its commission is owed', referral, null),
  'referral.credited': event(
    'an operator credited an affiliate with an order that had none',
    { referralId: id, affiliateId: id, orderId: id, reason: z.string().meta({ example: 'the link was lost' }) },
    null
  ),
  'referral.rejected': event(
    'a referral was rejected: its commission is not owed',
    { ...referral, reason: z.string().meta({ example: 'order_refunded' }) },
    null
  ),
  'referral.paid': event('the commission of a referral was paid out', { ...referral, payoutId: id }, null),
  'payout.paid': event('an affiliate was paid', payout, null),
  'payout.failed': event(
    'the money of a payout came back: its commissions are due again',
    { ...payout, reason: z.string().meta({ example: 'account closed' }) },
    null
  ),
  'payout.adopted': event('a payout that a restore had lost was recorded again', payout, null),
  'affiliate.applied': event('a user applied to become an affiliate', { affiliateId: id }, null),
  'affiliate.approved': event('an affiliate application was approved', { affiliateId: id }, null),
  'affiliate.rejected': event('an affiliate application was rejected', { affiliateId: id }, null),
  'affiliate.changed': event(
    'an affiliate got another status or code',
    {
      affiliateId: id,
      from: z.object(terms).meta({ description: 'Before the change.' }),
      to: z.object(terms)
    },
    null
  ),
  'affiliate.rate_changed': event(
    'a commission rate was added, or ends at another time',
    {
      rateId: z.int().meta({ description: 'The id of the rate.', example: 4 }),
      affiliateId: target('affiliate'),
      productId: target('product'),
      categoryId: target('category'),
      couponId: target('coupon'),
      ratePercent: z.number().nullable().meta({ description: 'Null for goods that earn nothing.', example: 10 }),
      from: rateDay.meta({ description: 'When it begins.' }),
      to: rateDay.nullable().meta({ description: 'When it ends; null without an end.' })
    },
    null
  ),
  'affiliate.coupon_added': event('a coupon belongs to an affiliate from now on', ownCoupon, null),
  'affiliate.coupon_removed': event('a coupon does not belong to its affiliate any more', ownCoupon, null),
  'affiliate.bonus': event(
    'an operator added an amount to what an affiliate is owed, or took it away',
    { affiliateId: id, amountMinor: minor, currency, reason: z.string().meta({ example: 'thank you' }) },
    null
  ),
  'setting.changed': event(
    'an operator changed a setting',
    {
      key: z.string().meta({ description: 'The name of the setting.', example: 'affiliates.rate' }),
      from: jsonText,
      to: jsonText
    },
    null
  ),
  'module.changed': event(
    'an operator switched a module on or off',
    {
      name: z.string().meta({ example: 'affiliates' }),
      enabled: z.boolean().meta({ description: 'After the change.' })
    },
    null
  ),
  'affiliate.terms_accepted': event(
    'an affiliate accepted the terms',
    { affiliateId: id, version: z.string().meta({ example: '2026-01-31' }) },
    null
  ),
  'membership.started': event('a membership started', membership, 'customer'),
  'membership.ended': event('a membership ended', membership, 'customer'),
  'subscription.started': event('a subscription started', { subscriptionId: id, userId: id }, 'customer'),
  'subscription.renewed': event(
    'a subscription was paid for another period',
    {
      subscriptionId: id,
      userId: id,
      currentPeriodEnd: z.string().meta({ format: 'date-time', example: '2026-04-14T09:26:53.589Z' })
    },
    'customer'
  ),
  'subscription.ended': event('a subscription ended', { subscriptionId: id, userId: id }, 'customer'),
  'donation.received': event(
    'a donation was received',
    { donationId: id, orderId: id.nullable(), amountMinor: minor, currency },
    'order'
  )
}

export type ShopEventType = keyof typeof eventTypes
export type ShopEvents = { [Type in ShopEventType]: z.output<(typeof eventTypes)[Type]['data']> }

/** Checks an event type that an operator typed, or one that is stored. */
export function isEventType(text: string): text is ShopEventType {
  return Object.hasOwn(eventTypes, text)
}
