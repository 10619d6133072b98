import type Stripe from 'stripe'
import type { App } from '../../app.ts'
import { stripeApiVersion } from '../../platform/stripe-client.ts'
import { toIso } from '../../platform/iso-time.ts'
import { isReady } from '../../shop/payments/gateway.ts'
import { readGatewayError } from '../../shop/payments/gateway-failure.ts'
import { readSignatureCount } from '../../shop/payments/signature-count.ts'
import { findEndpoints, hasPinnedVersion, missingTypes, webhookUrlOf } from '../stripe/endpoint.ts'
import { failed, ok, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

/** A short timeout and no retries, because the operator waits for `health`. */
export const quick = { timeout: 5_000, maxNetworkRetries: 0 }

export const webhookChecks: readonly Check[] = [
  { name: 'webhooks from Stripe', run: checkWebhooks },
  { name: 'webhook signatures', run: checkSignatures }
]

/** Fewer refused deliveries can come from any sender. */
const manyRefused = 3
const recentMs = 7 * 24 * 60 * 60_000

const setUp = 'Run "shopstead stripe setup".'
const untilThen = 'Until then, payments are noticed a minute late.'

async function checkWebhooks(app: App): Promise<Finding> {
  const { cards } = app
  if (cards?.name !== 'stripe') return ok('Not checked, because the shop does not use Stripe.')
  if (!isReady(cards)) return ok('Not checked, because SHOPSTEAD_STRIPE_SECRET_KEY is not set.')
  if (cards.webhookSecret === undefined)
    return failed('SHOPSTEAD_STRIPE_WEBHOOK_SECRET is not set.', `${setUp} It prints the secret. ${untilThen}`)
  const url = webhookUrlOf(app)
  try {
    return checkEndpoints(url, await findEndpoints(await cards.client(), url, quick))
  } catch (error) {
    return warning(
      `Stripe did not list its webhook endpoints: ${errorCodeOf(error)}.`,
      "Check the network, and whether the key may read webhook endpoints. Stripe's dashboard shows them, too."
    )
  }
}

/** Many refused deliveries and no accepted one since mean a wrong secret; refused ones beside accepted ones do not. */
function checkSignatures({ db, clock }: App): Finding {
  const { refused, refusedSinceAccepted: since, refusedAt, acceptedAt } = readSignatureCount(db)
  if (refusedAt === null || clock.now() - refusedAt > recentMs) return ok('No delivery was refused in the last week.')
  const last = `the last one at ${toIso(refusedAt)}`
  if (since >= manyRefused)
    return failed(
      `The signatures of ${since} deliveries were wrong, ${last}, and none was right ${acceptedAt === null ? 'before' : `since ${toIso(acceptedAt)}`}: the webhook secret is wrong.`,
      `Run "shopstead stripe setup": it tests the secret, and says how to replace it. ${untilThen}`
    )
  const accepted = acceptedAt === null ? '' : `, beside right ones until ${toIso(acceptedAt)}`
  return ok(`Deliveries with a wrong signature: ${refused}, ${last}${accepted}. Other senders can cause this.`)
}

/** Prefers an enabled endpoint that needs no change over the others at the same address. */
function checkEndpoints(url: string, endpoints: readonly Stripe.WebhookEndpoint[]): Finding {
  const [best] = endpoints
    .map((endpoint) => ({ endpoint, problems: problemsOf(endpoint) }))
    .toSorted((one, other) => one.problems.length - other.problems.length)
  if (best === undefined)
    return warning(`The Stripe account has no webhook endpoint for ${url}.`, `${setUp} ${untilThen}`)
  const { endpoint, problems } = best
  if (problems.length === 0) return ok('The secret is set, and Stripe sends events to this shop.')
  return warning(`The webhook endpoint ${endpoint.id} ${problems.join('; it ')}.`, `${setUp} It repairs the endpoint.`)
}

function problemsOf(endpoint: Stripe.WebhookEndpoint): string[] {
  const { api_version: version, status } = endpoint
  const missing = missingTypes(endpoint)
  return [
    ...(status === 'enabled' ? [] : [`is ${status}`]),
    ...(hasPinnedVersion(endpoint)
      ? []
      : [
          `renders events at ${version === null ? "the account's default API version" : `API version ${version}`}, this shop is written for ${stripeApiVersion}`
        ]),
    ...(missing.length === 0 ? [] : [`does not send the event types ${missing.join(', ')}`])
  ]
}

/** The code or type of a gateway's error. Its message may contain a secret. */
export function errorCodeOf(error: unknown): string {
  const { code, type } = readGatewayError(error).error
  return code ?? (type || 'an unknown error')
}
