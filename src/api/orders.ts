import { z } from 'zod'
import { queryInteger } from '../platform/http/query.ts'
import { listOrders } from '../shop/orders/list-orders.ts'
import { ordersData } from './answers/store.ts'
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
    handler: ({ shop, identity }, { query }) => ({ data: listOrders(shop.db, identity.user.id, query) })
  })
]
