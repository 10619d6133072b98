import { accountCareRoutes } from './account-care.ts'
import { accountRoutes } from './accounts.ts'
import { affiliateRoutes } from './affiliates.ts'
import { checkoutRoutes } from './checkout.ts'
import { downloadRoutes } from './downloads.ts'
import { emailChangeRoutes } from './email-change.ts'
import { healthRoutes } from './health.ts'
import { buyerOrderRoutes } from './buyer-order.ts'
import { offerRoutes } from './offers.ts'
import { orderRoutes } from './orders.ts'
import { ownAddressRoutes } from './own-address.ts'
import { paymentConfigRoutes } from './payment-config.ts'
import { productRoutes } from './products.ts'
import { quoteRoutes } from './quote.ts'
import type { Route } from './route.ts'
import { subscriptionRoutes } from './subscriptions.ts'
import { webhookRoutes } from './webhooks.ts'

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
  ...quoteRoutes,
  ...paymentConfigRoutes,
  ...checkoutRoutes,
  ...buyerOrderRoutes,
  ...affiliateRoutes,
  ...downloadRoutes,
  ...healthRoutes,
  ...webhookRoutes
]
