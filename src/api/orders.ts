import { z } from 'zod'
import { queryInteger } from '../platform/http/validation.ts'
import {
  getOwnOrder,
  listOwnOrders,
  cancelByBuyer,
  getBuyerOrder,
  readBuyerOrder,
  sendSubscriptionLink
} from '../shop/checkout/buyer-order.ts'
import { pathId } from '../platform/public-fields.ts'
import { ordersData, ownOrderData, buyerOrderData } from '../shop/checkout/shapes.ts'
import type { GuestOrder } from '../shop/checkout/shapes.ts'
import { forUsers, route } from './route.ts'
import type { Route, Reply } from './route.ts'

export const orderRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/orders',
    summary: "The logged-in customer's orders, newest first",
    answers: [{ data: ordersData }],
    refuses: [],
    session: 'required',
    nonce: 'never',
    proxy: { nonce: true, query: ['page', 'perPage'] },
    invalid: 400,
    query: z.object({
      page: queryInteger({ min: 1, max: 1_000_000, default: 1 }),
      perPage: queryInteger({ min: 1, max: 100, default: 20 })
    }),
    handler: ({ shop, identity }, { query }) => ({ data: listOwnOrders(shop, identity.user.id, query) })
  }),
  route({
    method: 'GET',
    path: '/orders/{id}',
    summary: 'One order of the logged-in customer, with its lines, addresses and shipments',
    answers: [{ data: ownOrderData }],
    refuses: ['NOT_FOUND'],
    ...forUsers,
    params: z.object({ id: pathId }),
    handler: ({ shop, identity, now }, { params }) => ({ data: getOwnOrder(shop, identity.user.id, params.id, now) })
  })
]

const params = z.object({ orderToken: z.string().meta({ example: 'V1StGXR8Z5jdHi6BmyT0qW3nKfLxPzRc7uEoAaDbGhY' }) })

export const buyerOrderRoutes = [
  route({
    method: 'GET',
    path: '/store/orders/{orderToken}',
    summary: "A buyer's own order, by the token from its checkout",
    answers: [{ data: buyerOrderData }],
    sends: { 'Referrer-Policy': 'no-referrer, because the address contains the token of the order.' },
    refuses: ['NOT_FOUND'],
    session: 'none',
    nonce: 'never',
    proxy: { nonce: false, query: [] },
    invalid: 422,
    params,
    handler: async ({ shop, now }, { params: { orderToken } }) => byToken(await readBuyerOrder(shop, orderToken, now))
  }),
  route({
    method: 'POST',
    path: '/store/orders/{orderToken}/cancel',
    summary: 'Cancel an unpaid order: closes its payment page and releases its items; a second call changes nothing',
    answers: [{ data: buyerOrderData }],
    sends: { 'Referrer-Policy': 'no-referrer, because the address contains the token of the order.' },
    refuses: ['NOT_FOUND', 'CONFLICT', 'RATE_LIMITED', 'DEPENDENCY_UNAVAILABLE'],
    session: 'none',
    nonce: 'never',
    proxy: { nonce: true, query: [], timeoutMs: 30_000 },
    invalid: 422,
    params,
    handler: async (call, { params: { orderToken } }) => {
      await cancelByBuyer(call.shop, orderToken, call)
      return byToken(getBuyerOrder(call.shop, orderToken, call.now))
    }
  }),
  route({
    method: 'POST',
    path: '/store/orders/{orderToken}/end-subscription',
    summary: "Email the buyer of a guest's order the link that ends its subscription with the period that is paid",
    answers: [{ data: buyerOrderData }],
    sends: { 'Referrer-Policy': 'no-referrer, because the address contains the token of the order.' },
    refuses: ['NOT_FOUND', 'CONFLICT', 'RATE_LIMITED'],
    session: 'none',
    nonce: 'never',
    proxy: { nonce: true, query: [] },
    invalid: 422,
    params,
    handler: async (call, { params: { orderToken } }) => {
      await sendSubscriptionLink(call.shop, orderToken, call)
      return byToken(getBuyerOrder(call.shop, orderToken, call.now))
    }
  })
]

/** The address of the request contains the token, which other sites must not get. */
function byToken(data: GuestOrder): Reply<GuestOrder> {
  return { data, headers: [['referrer-policy', 'no-referrer']] }
}
