import { accountRoutes } from '../account.ts'
import { balanceRoutes } from '../payments/balance.ts'
import { billingPortalRoutes } from '../pages/billing-pages.ts'
import { chargeRoutes } from '../payments/charging.ts'
import { checkoutSessionRoutes } from '../checkout/checkout-sessions.ts'
import type { Route } from './context.ts'
import { couponRoutes, priceRoutes } from '../billing/prices.ts'
import { customerRoutes } from '../payments/customers.ts'
import { disputeRoutes } from '../payments/disputes.ts'
import { eventRoutes } from '../events/events.ts'
import { invoiceRoutes } from '../billing/invoices.ts'
import { paymentIntentRoutes } from '../payments/payment-intents.ts'
import { paymentMethodRoutes } from '../payments/payment-methods.ts'
import { payoutRoutes } from '../payments/payouts.ts'
import { refundRoutes } from '../payments/refunds.ts'
import { subscriptionRoutes } from '../billing/subscriptions.ts'
import { webhookEndpointRoutes } from '../events/webhook-endpoints.ts'

/** After a new route, run `npm run sandbox:generate`, which finds its parameters in stripe-node by its name. */
const routes: readonly Route[] = [
  ...accountRoutes,
  ...balanceRoutes,
  ...billingPortalRoutes,
  ...chargeRoutes,
  ...checkoutSessionRoutes,
  ...couponRoutes,
  ...customerRoutes,
  ...disputeRoutes,
  ...eventRoutes,
  ...invoiceRoutes,
  ...paymentIntentRoutes,
  ...paymentMethodRoutes,
  ...payoutRoutes,
  ...priceRoutes,
  ...refundRoutes,
  ...subscriptionRoutes,
  ...webhookEndpointRoutes
]

/** The names that a fault can target. */
export const routeNames: readonly string[] = routes.map(({ name }) => name)

/** Literal paths come before those with `:id`, so that a literal step is not read as an id. */
const compiled = routes
  .map((route) => ({ route, steps: route.path.split('/'), weight: route.path.includes(':id') ? 1 : 0 }))
  .toSorted((a, b) => a.weight - b.weight)

/** The route of a method and a path without query, and the id in the path (empty if there is none). */
export function findRoute(method: string, path: string): { route: Route; id: string } | undefined {
  const steps = path.split('/')
  for (const { route, steps: expected } of compiled) {
    if (route.method !== method || expected.length !== steps.length) continue
    if (expected.every((step, at) => step === ':id' || step === steps[at])) {
      return { route, id: steps[expected.indexOf(':id')] ?? '' }
    }
  }
  return undefined
}
