import { accountCareRoutes, accountRoutes, downloadRoutes, emailChangeRoutes, ownAddressRoutes } from './accounts.ts'
import { affiliateRoutes } from './affiliates.ts'
import { checkoutRoutes, emailProofRoutes, quoteRoutes, paymentConfigRoutes } from './checkout.ts'
import { healthRoutes, webhookRoutes } from './service.ts'
import { buyerOrderRoutes, orderRoutes } from './orders.ts'
import { offerRoutes, ownPriceRoutes, productRoutes } from './products.ts'
import type { Route } from './route.ts'
import { subscriptionRoutes } from './subscriptions.ts'

/** Every route. The server, the proxy's allowlist and the API description derive from this table. */
export const routes: readonly Route[] = [
  ...accountRoutes,
  ...accountCareRoutes,
  ...emailChangeRoutes,
  ...ownAddressRoutes,
  ...orderRoutes,
  ...subscriptionRoutes,
  ...offerRoutes,
  ...productRoutes,
  ...ownPriceRoutes,
  ...quoteRoutes,
  ...emailProofRoutes,
  ...paymentConfigRoutes,
  ...checkoutRoutes,
  ...buyerOrderRoutes,
  ...affiliateRoutes,
  ...downloadRoutes,
  ...healthRoutes,
  ...webhookRoutes
]
