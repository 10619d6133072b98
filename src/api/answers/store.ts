import { z } from 'zod'
import { productTypes } from '../../shop/catalog/product-types.ts'
import { image } from './catalog.ts'
import { amount, count, currency, id, orderStatus, pagination, time } from './fields.ts'
import { taxes } from './taxes.ts'

const offer = z
  .object({
    offerId: z.string().meta({ example: 'offer-3' }),
    productId: id,
    productSlug: z.string().meta({ example: 'harbour-lantern' }),
    name: z.string().meta({ example: 'Harbour lantern' }),
    description: z.string().meta({ example: 'Burns for nine hours in any weather.' }),
    url: z.string().meta({ example: 'https://shop.example/products/harbour-lantern' }),
    price: z.object({ currency, amount, originalAmount: amount.nullable(), isOnSale: z.boolean() }),
    categories: z.array(z.string()).meta({ example: ['Light'] }),
    tags: z.array(z.string()).meta({ example: ['brass'] }),
    image: image.nullable(),
    available: z.boolean().meta({ description: 'Whether it can be bought now.', example: true }),
    variationCount: count.meta({ description: '0 for a product without variations.', example: 0 })
  })
  .meta({
    id: 'Offer',
    description: 'A published product. A product with variations has the price of its default variation.'
  })

export const offersData = z.object({ offers: z.array(offer), pagination })

const attributed = z.string().nullable()

const invoiceUrl = z.string().nullable().meta({
  description: 'The invoice as a page; as a PDF with `?format=pdf`. Null for an order that was never paid.',
  example: 'https://shop.example/checkout/invoice/V1StGXR8Z5jdHi6BmyT0qW3nKfLxPzRc7uEoAaDbGhY'
})

const order = z
  .object({
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
    marketingUtmContent: attributed,
    invoiceUrl
  })
  .meta({ id: 'Order' })

const orderToken = z.string().meta({
  description: 'Reads and cancels the order without a session: keep it secret.',
  example: 'V1StGXR8Z5jdHi6BmyT0qW3nKfLxPzRc7uEoAaDbGhY'
})

const shipment = z
  .object({
    shippedAt: time,
    carrier: z.string().nullable().meta({ example: 'DHL' }),
    tracking: z.string().nullable().meta({ example: '00340434161094042557' }),
    url: z
      .string()
      .nullable()
      .meta({ description: "The carrier's page.", example: 'https://carrier.example/00340434161094042557' }),
    lines: z.array(
      z.object({
        line: z.int().meta({ description: 'The number of the line in the order, from 1.', example: 1 }),
        name: z.string().meta({ example: 'Storm lantern' }),
        quantity: z.int().meta({ example: 2 })
      })
    )
  })
  .meta({ id: 'Shipment', description: 'Goods that were handed to a carrier.' })

const buyerOrder = z
  .object({
    ...order.shape,
    email: z.string().nullable().meta({ description: 'Masked.', example: 'a…@example.com' }),
    totals: z
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
      }),
    taxes,
    shippingMethod: z
      .object({
        id: z.string().meta({ example: 'parcel' }),
        name: z.string().meta({ example: 'Parcel' }),
        estimate: z.string().nullable().meta({ example: '2–3 days' }),
        pickup: z.boolean().meta({ description: 'Whether the buyer picks the goods up in the shop.' })
      })
      .nullable()
      .meta({ description: 'Null if nothing is shipped, or the order has no method.' }),
    shipments: z.array(shipment),
    images: z.array(image.nullable()).meta({ description: 'The picture of each line item, in their order.' })
  })
  .meta({ id: 'BuyerOrder', description: 'An order as everyone with its token sees it.' })

const buyerOptions = {
  canPay: z.boolean(),
  payUrl: z
    .string()
    .nullable()
    .meta({ description: 'Null if canPay is false.', example: 'https://shop.example/checkout/V1StGXR8' }),
  canCancel: z.boolean().meta({ description: 'Whether POST /store/orders/{orderToken}/cancel can cancel it.' })
}

const guestSubscription = z
  .object({
    currentPeriodEnd: time.meta({ description: 'The end of the period that is paid.' }),
    cancelAtPeriodEnd: z.boolean(),
    nextPaymentAt: time.nullable().meta({ description: 'Null when no other period will be charged.' }),
    canCancel: z.boolean().meta({ description: 'Whether the subscription can be ended by the token.' })
  })
  .meta({ id: 'GuestSubscription', description: 'The subscription of an order without an account.' })

export const buyerOrderData = z.object({
  order: buyerOrder,
  ...buyerOptions,
  subscription: guestSubscription
    .nullable()
    .meta({ description: 'Null without a subscription that renews, and for the order of an account.' })
})

const part = z.string().exactOptional()

export const address = z
  .object({
    firstName: part,
    lastName: part,
    company: part,
    address1: part,
    address2: part,
    city: part,
    state: part,
    postcode: part,
    country: part,
    phone: part,
    email: part
  })
  .meta({ id: 'Address', example: { firstName: 'Ada', address1: 'Quay 7', city: 'Hamburg', country: 'DE' } })

export const ownOrder = z
  .object({
    ...buyerOrder.shape,
    email: z.string().nullable().meta({ example: 'ada@example.com' }),
    orderToken,
    lines: z.array(
      z
        .object({
          productId: id,
          variationId: id.nullable().meta({ example: null }),
          productSlug: z
            .string()
            .nullable()
            .meta({ description: 'Null if the product is not published any more.', example: 'harbour-lantern' }),
          sku: z.string().nullable().meta({ description: 'Of the variation, else of the product.', example: 'LAN-01' }),
          type: z.enum(productTypes).meta({ example: 'physical' }),
          name: z.string().meta({ example: 'Harbour lantern' }),
          quantity: count,
          unitPrice: amount.meta({ description: 'Before discounts.' }),
          total: amount.meta({ description: 'After its share of the discounts.' })
        })
        .meta({ id: 'OwnOrderLine' })
    ),
    billingAddress: address.nullable(),
    shippingAddress: address.nullable()
  })
  .meta({ id: 'OwnOrder', description: 'An order as its customer sees it.' })

export const ownOrderData = z.object({ order: ownOrder, ...buyerOptions })

export const ordersData = z.object({ orders: z.array(order), pagination })

const orderLink = {
  orderToken,
  statusUrl: z.string().meta({
    format: 'uri',
    description: "The order's own page at the shop.",
    example: 'https://shop.example/checkout/done/V1StGXR8Z5jdHi6BmyT0qW3nKfLxPzRc7uEoAaDbGhY'
  })
}

const redirect = z
  .object({
    checkoutUrl: z.string().meta({ format: 'uri', example: 'https://shop.example/checkout/V1StGXR8' }),
    orderId: z.string().nullable().meta({ example: '42' }),
    ...orderLink
  })
  .meta({ id: 'CheckoutRedirect', description: 'strategy redirect_to_store: send the buyer to checkoutUrl.' })

const handoff = z
  .object({
    orderId: z.int().meta({ example: 42 }),
    ...orderLink,
    mode: z.string().meta({ description: 'test or live.', example: 'test' }),
    strategy: z.string().meta({ example: 'token_handoff' }),
    provider: z.string().meta({ example: 'stripe' }),
    paymentStatus: z
      .string()
      .meta({ description: "The PaymentIntent's status, or not_required for a zero total.", example: 'succeeded' }),
    status: orderStatus.meta({ example: 'processing' }),
    redirectUrl: z.string().exactOptional().meta({
      description: 'Send the buyer there: the bank requires another step.',
      example: 'https://bank.example/3ds'
    })
  })
  .meta({ id: 'CheckoutHandoff', description: 'strategy token_handoff: the result of the payment.' })

export const checkoutData = z.union([redirect, handoff])
