import type Stripe from 'stripe'
import { stripeApiVersion } from '../../platform/stripe-client.ts'
import type { ShopContext } from '../../shop/context.ts'
import { handledTypes } from '../../shop/payments/gateway-event.ts'

/** The address at which the shop takes Stripe's webhooks. */
export function webhookUrlOf({ config, publicUrl }: Pick<ShopContext, 'config' | 'publicUrl'>): string {
  return `${publicUrl()}${config.apiPrefix}/webhooks/stripe`
}

/** The webhook endpoints of the account that deliver to an address, whatever their query is, newest first. */
export async function findEndpoints(
  stripe: Stripe,
  url: string,
  options: Stripe.RequestOptions = {}
): Promise<Stripe.WebhookEndpoint[]> {
  // Stripe allows 16 endpoints in each mode, and lists up to 100 in one response.
  const { data } = await stripe.webhookEndpoints.list({ limit: 100 }, options)
  const path = pathOf(url)
  return data.filter((endpoint) => pathOf(endpoint.url) === path)
}

function pathOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** Whether Stripe renders the endpoint's events at the API version that this code is written for. */
export function hasPinnedVersion({ api_version }: Pick<Stripe.WebhookEndpoint, 'api_version'>): boolean {
  return api_version === stripeApiVersion
}

/** The event types that the shop handles and the endpoint does not subscribe to. */
export function missingTypes({ enabled_events }: Pick<Stripe.WebhookEndpoint, 'enabled_events'>) {
  return handledTypes.filter((type) => !enabled_events.some((enabled) => enabled === '*' || enabled === type))
}
