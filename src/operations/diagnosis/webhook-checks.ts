import type Stripe from 'stripe'
import type { App } from '../../app.ts'
import { stripeApiVersion } from '../../platform/stripe-client.ts'
import { toIso } from '../../platform/iso-time.ts'
import { handledTypes } from '../../shop/payments/gateway-event.ts'
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

/** Fewer refused deliveries are not worth a question to Stripe. */
const manyRefused = 3
/** Stripe delivers an event within seconds. The shop writes when it accepted one at most once a minute. */
const deliveryMs = 2 * 60_000
/** Stripe tries a delivery for three days (docs.stripe.com/webhooks). */
const retriesMs = 3 * 24 * 60 * 60_000
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

/**
 * Anyone can send deliveries with a wrong signature. So many of them, without an accepted one since, fail the check only
 * if Stripe itself has events that it could not deliver in this time.
 */
async function checkSignatures({ db, clock, cards }: App): Promise<Finding> {
  const { refused, refusedSinceAccepted: since, refusedAt, acceptedAt } = readSignatureCount(db)
  const now = clock.now()
  if (refusedAt === null || now - refusedAt > recentMs) return ok('No delivery was refused in the last week.')
  const last = `the last one at ${toIso(refusedAt)}`
  const accepted = acceptedAt === null ? '' : `, beside right ones until ${toIso(acceptedAt)}`
  const others = ok(`Deliveries with a wrong signature: ${refused}, ${last}${accepted}. Other senders can cause this.`)
  if (since < manyRefused || cards === null || !isReady(cards)) return others
  const wrong = `The signatures of ${since} deliveries were wrong, ${last}, and none was right ${acceptedAt === null ? 'before' : `since ${toIso(acceptedAt)}`}`
  const from = acceptedAt === null ? refusedAt - retriesMs : acceptedAt + deliveryMs
  try {
    const event = await findUndelivered(await cards.client(), from, now - deliveryMs)
    if (event === undefined) return others
    return failed(
      `${wrong}. Stripe could not deliver ${event.id} of ${toIso(event.created * 1000)}: the webhook secret is wrong.`,
      `Run "shopstead stripe setup": it tests the secret, and says how to replace it. ${untilThen}`
    )
  } catch (error) {
    return warning(
      `${wrong}. Stripe did not say whether its own deliveries fail: ${errorCodeOf(error)}.`,
      'Check the network, and whether the key may read events. Other senders can cause wrong signatures.'
    )
  }
}

/** An event of these times (epoch milliseconds) that the shop handles and Stripe could not deliver. */
async function findUndelivered(stripe: Stripe, from: number, until: number): Promise<Stripe.Event | undefined> {
  const created = { gte: Math.floor(from / 1000), lte: Math.floor(until / 1000) }
  const query = { delivery_success: false, created, types: [...handledTypes], limit: 1 }
  return (await stripe.events.list(query, quick)).data[0]
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
