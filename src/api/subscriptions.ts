import { z } from 'zod'
import { endOwnSubscription, openPortal, listOwnSubscriptions } from '../shop/subscriptions/own-subscriptions.ts'
import { portalData, subscriptionData, subscriptionsData } from './answers/subscriptions.ts'
import { pathId } from '../platform/public-fields.ts'
import { forUsers, route } from './route.ts'

/** A gateway call may take longer than other requests; the proxy waits as long as for a checkout. */
const slow = { ...forUsers.proxy, timeoutMs: 30_000 }

export const subscriptionRoutes = [
  route({
    method: 'GET',
    path: '/me/subscriptions',
    summary: "The logged-in customer's subscriptions with price and next payment, the latest first",
    answers: [{ data: subscriptionsData }],
    refuses: [],
    ...forUsers,
    handler: ({ shop, identity, now }) => ({
      data: { subscriptions: listOwnSubscriptions(shop, identity.user.id, now) }
    })
  }),
  route({
    method: 'POST',
    path: '/me/subscriptions/{id}/cancel',
    summary: 'Cancel a subscription at the end of its paid period; a second call changes nothing',
    answers: [{ data: subscriptionData }],
    refuses: ['NOT_FOUND', 'RATE_LIMITED'],
    session: 'required',
    nonce: 'never',
    proxy: slow,
    invalid: 422,
    params: z.object({ id: pathId }),
    handler: async ({ shop, identity }, { params }) => ({
      data: { subscription: await endOwnSubscription(shop, identity.user.id, params.id) }
    })
  }),
  route({
    method: 'POST',
    path: '/me/subscriptions/{id}/portal',
    summary: "Open the gateway's billing portal, for a site on another origin than the public URL",
    answers: [{ data: portalData }],
    refuses: ['NOT_FOUND', 'RATE_LIMITED'],
    session: 'required',
    nonce: 'never',
    proxy: slow,
    invalid: 422,
    params: z.object({ id: pathId }),
    handler: async ({ shop, identity }, { params }) => ({
      data: { url: await openPortal(shop, identity.user.id, params.id, null) }
    })
  })
]
