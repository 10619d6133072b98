import { z } from 'zod'
import { amount, count, currency, id, pagination, time } from '../../platform/public-fields.ts'
import { download } from '../benefits/download-links.ts'
import { productTypes } from '../catalog/product-types.ts'
import { image } from '../catalog/public/shapes.ts'
import { orderAddress } from '../orders/address.ts'
import {
  cartProblem,
  lineProblem,
  methodChoice,
  order,
  refund,
  refundProgress,
  taxes,
  totals
} from '../orders/shapes.ts'
import { vatCheck } from '../tax/input.ts'
import { recurring } from '../orders/shapes.ts'
import { shipment } from '../shipments/find.ts'
import { orderReturn } from '../shipments/returns.ts'

const invoiceUrl = z.string().nullable().meta({
  description:
    'The invoice as a page; as a PDF with `?format=pdf`, and as an electronic invoice with `facturx` or `xrechnung`. Null for an order that was never paid.',
  example: 'https://shop.example/checkout/invoice/V1StGXR8Z5jdHi6BmyT0qW3nKfLxPzRc7uEoAaDbGhY'
})

const orderDocument = z
  .object({
    kind: z.enum(['invoice', 'credit_note']).meta({ description: 'What the document is.' }),
    number: z.string().meta({ description: 'The number of the document.', example: '2026-0007' }),
    url: z.string().meta({ description: 'Its page.', example: 'https://shop.example/checkout/invoice/V1StGXR8' })
  })
  .meta({ id: 'OrderDocument' })

const listedOrder = z.object({ ...order.shape, totals, ...refundProgress, invoiceUrl }).meta({ id: 'Order' })

export const orderToken = z.string().meta({
  description: 'Reads and cancels the order without a session: keep it secret.',
  example: 'V1StGXR8Z5jdHi6BmyT0qW3nKfLxPzRc7uEoAaDbGhY'
})

const boughtCard = z
  .object({
    code: z.string().meta({ example: '7K3M-9QWX-2ZB4H-CD5RT-N6PV-8YE1' }),
    balance: amount,
    currency,
    expiresAt: time.nullable().meta({ description: 'Null if it does not expire.', example: null })
  })
  .meta({ id: 'BoughtCard' })

const buyerOrder = z
  .object({
    ...listedOrder.shape,
    email: z.string().nullable().meta({ description: 'Masked.', example: 'a…@example.com' }),
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
    refunds: z.array(refund),
    deliveryConsentAt: time.nullable().meta({
      description: 'When the buyer agreed that files are delivered at once; null without that.',
      example: null
    }),
    returns: z.array(orderReturn),
    documents: z.array(orderDocument).meta({ description: 'The invoice and each credit note, the oldest first.' }),
    images: z.array(image.nullable()).meta({ description: 'The picture of each line item, in their order.' })
  })
  .meta({ id: 'BuyerOrder', description: 'An order as everyone with its token sees it.' })

const buyerOptions = {
  canPay: z.boolean(),
  payUrl: z
    .string()
    .nullable()
    .meta({ description: 'Null if canPay is false.', example: 'https://shop.example/checkout/V1StGXR8' }),
  canCancel: z.boolean().meta({ description: 'Whether POST /store/orders/{orderToken}/cancel can cancel it.' }),
  addressUrl: z.string().nullable().meta({
    description: 'Where the buyer of a paid order enters the address that is missing; null if none is.',
    example: null
  }),
  withdrawUrl: z.string().nullable().meta({
    description:
      'Where the buyer withdraws from the contract; null when the period is over, and outside of EU law (`law.eu`).',
    example: 'https://shop.example/withdraw?order=V1StGXR8'
  }),
  giftCards: z.array(boughtCard).meta({
    description: 'The usable gift cards that the order sold to its buyer. Those for another recipient are not shown.'
  })
}

const guestSubscription = z
  .object({
    currentPeriodEnd: time.meta({ description: 'The end of the period that is paid.' }),
    cancelAtPeriodEnd: z.boolean(),
    nextPaymentAt: time.nullable().meta({ description: 'Null when no other period will be charged.' }),
    canCancel: z.boolean().meta({ description: 'Whether the subscription can be ended by the token.' })
  })
  .meta({ id: 'GuestSubscription', description: 'The subscription of an order without an account.' })
export type GuestSubscription = z.infer<typeof guestSubscription>

const guestView = z.object({ order: buyerOrder, ...buyerOptions })
export type BuyerOrder = z.infer<typeof guestView>
export type GuestOrder = z.infer<typeof buyerOrderData>

export const buyerOrderData = guestView.extend({
  subscription: guestSubscription
    .nullable()
    .meta({ description: 'Null without a subscription that renews, and for the order of an account.' }),
  downloads: z
    .array(download)
    .meta({ description: "The files of an order without an account. An account's are in GET /me/downloads." }),
  accountAccess: z
    .enum(['waiting', 'given'])
    .nullable()
    .meta({
      description:
        'Whether something that was bought is used with an account: `waiting` until the buyer opens one by the link in ' +
        'the email about it, `given` when it is in the account of the order. Null if nothing is, or the order is not paid.'
    })
})

/** An address as the API shows it. */
export const address = orderAddress.meta({
  id: 'Address',
  example: { firstName: 'Ada', address1: 'Quay 7', city: 'Hamburg', country: 'DE' }
})

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
export type OwnOrder = z.infer<typeof ownOrderData>

export const ordersData = z.object({ orders: z.array(listedOrder), pagination })
export type OwnOrders = z.infer<typeof ordersData>

const lineName = z.string().meta({ example: 'Harbour lantern' })

const quoteLine = z
  .object({
    productId: id,
    variationId: id.nullable().meta({ description: 'The variation that the line buys.', example: null }),
    name: lineName.nullable().meta({ description: 'Null for a product that is not for sale.' }),
    quantity: count,
    unitPrice: amount.nullable().meta({ description: 'Null if it is not known what the line buys.' }),
    total: amount.meta({ description: 'After its share of the discounts; 0 if the line cannot be bought.' }),
    image: image.nullable().meta({ description: "The variation's own picture, else the product's." }),
    problem: lineProblem.nullable()
  })
  .meta({ id: 'QuoteLine' })

const quotedTax = z.object({
  included: z.boolean().meta({ description: 'Whether the prices include the tax.' }),
  amount,
  lines: taxes
})

/** The answer of POST /store/prove-email. */
export const emailProofData = z.object({
  proven: z.boolean().meta({ description: 'False after a code was sent, true after the right code.' })
})

/** The answer of POST /store/quote (docs/contract.md 5.23). Amounts are in major units. */
export const quoteData = z
  .object({
    currency,
    lines: z.array(quoteLine).meta({ description: 'Equal items are one line, as in an order.' }),
    coupons: z.array(
      z.object({
        code: z.string().meta({ description: 'As sent.', example: 'WELCOME10' }),
        accepted: z.boolean(),
        problem: lineProblem.nullable()
      })
    ),
    giftCards: z.array(
      z.object({
        code: z.string().meta({ description: 'As sent.', example: '7K3M-9QTX-2BVNA-PD0HW-C5ZE-R8GJ' }),
        accepted: z.boolean(),
        amount: amount.meta({ description: 'What it pays of the total.' }),
        balance: amount.nullable().meta({ description: 'What is on it; null if it is not accepted.' }),
        problem: lineProblem.nullable()
      })
    ),
    subtotal: amount.meta({ description: 'The lines before discounts.' }),
    discount: amount,
    shipping: z.object({
      required: z.boolean().meta({ description: 'Whether a line has to be shipped.' }),
      methods: z.array(methodChoice),
      chosen: z.string().nullable(),
      amount
    }),
    tax: quotedTax,
    total: amount.meta({ description: 'subtotal - discount + shipping, and tax that is not included.' }),
    due: amount.meta({ description: 'What gift cards leave of the total to be paid.' }),
    vatId: z.object({ outcome: vatCheck.shape.outcome, accepted: z.boolean() }).nullable().meta({
      description:
        'What VIES knows of customer.vatId, and whether the sale is without tax for it; null if the shop does not ask.'
    }),
    recurring: recurring.nullable().meta({
      description: 'What each renewal will be charged; null when nothing renews. `from` is counted from now.'
    }),
    asksDeliveryConsent: z.boolean().meta({
      description:
        'Whether a line has files, and the buyer should agree in the checkout (`immediateDelivery`) that they are delivered at once.'
    }),
    asksGiftRecipient: z.boolean().meta({
      description: 'Whether a line is a gift card, so that the checkout can say who gets it (`giftRecipient`).'
    }),
    payable: z.boolean().meta({ description: 'Whether a checkout with the same body would be accepted now.' }),
    problems: z.array(cartProblem)
  })
  .meta({ id: 'Quote' })
export type Quote = z.infer<typeof quoteData>
