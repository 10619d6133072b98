import { z } from 'zod'
import { queryInteger } from '../platform/http/validation.ts'
import { getOwnOrder, listOwnOrders } from '../shop/checkout/own-order.ts'
import { pathId } from './answers/fields.ts'
import { ordersData, ownOrderData } from './answers/store.ts'
import { route } from './route.ts'
import type { Route } from './route.ts'

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
    session: 'required',
    nonce: 'never',
    proxy: { nonce: true, query: [] },
    invalid: 422,
    params: z.object({ id: pathId }),
    handler: ({ shop, identity, now }, { params }) => ({ data: getOwnOrder(shop, identity.user.id, params.id, now) })
  })
]
