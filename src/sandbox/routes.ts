import { accountRoutes } from './account.ts'
import { balanceRoutes } from './balance.ts'
import { billingPortalRoutes } from './billing-portal.ts'
import { chargeRoutes } from './charges.ts'
import { checkoutSessionRoutes } from './checkout-sessions.ts'
import type { Route } from './context.ts'
import { couponRoutes } from './coupons.ts'
import { customerRoutes } from './customers.ts'
import { disputeRoutes } from './disputes.ts'
import { eventRoutes } from './events.ts'
import { invoiceRoutes } from './invoices.ts'
import { paymentIntentRoutes } from './payment-intents.ts'
import { paymentMethodRoutes } from './payment-methods.ts'
import { payoutRoutes } from './payouts.ts'
import { priceRoutes } from './prices.ts'
import { refundRoutes } from './refunds.ts'
import { subscriptionRoutes } from './subscriptions.ts'
import { webhookEndpointRoutes } from './webhook-endpoints.ts'

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
