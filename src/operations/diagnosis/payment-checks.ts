import { and, count, inArray, isNull, lt } from 'drizzle-orm'
import type Stripe from 'stripe'
import type { App } from '../../app.ts'
import { toIso } from '../../platform/iso-time.ts'
import { codeOf, isObject } from '../../platform/typed.ts'
import { stripeApiVersion } from '../../platform/stripe-client.ts'
import { handledTypes } from '../../shop/payments/gateway-state.ts'
import { isReady, readGatewayError } from '../../shop/payments/gateway.ts'
import { paymentAttempts } from '../../shop/payments/schema.ts'
import { readSignatureCount } from '../../shop/payments/webhook.ts'
import { describeWarning, groupWarnings, openWarnings } from '../../shop/payments/warnings.ts'
import { findEndpoints, hasPinnedVersion, missingTypes, webhookUrlOf } from '../stripe/set-up.ts'
import { failed, ok, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

const stuckAfterMs = 24 * 60 * 60_000

export const paymentChecks: readonly Check[] = [
  { name: 'payments', run: checkGateway },
  { name: 'stripe account', run: checkAccount },
  { name: 'webhooks from Stripe', run: checkWebhooks },
  { name: 'webhook signatures', run: checkSignatures },
  { name: 'open payments', run: checkOpenPayments },
  { name: 'payment warnings', run: checkWarnings }
]

async function checkGateway({ cards, config }: App): Promise<Finding> {
  if (cards === null) return ok('Manual payments only.')
  if (cards.name === 'sandbox')
    return config.env === 'production'
      ? failed('The sandbox does not charge cards.', 'Set SHOPSTEAD_PAYMENTS=stripe.')
      : ok('Sandbox.')
  if (!isReady(cards))
    return failed('SHOPSTEAD_STRIPE_SECRET_KEY is not set.', "Set it to the secret key from Stripe's dashboard.")
  try {
    await (await cards.client()).balance.retrieve({}, quick)
    return checkMode(config.env === 'production', cards.livemode)
  } catch (error) {
    const certificate = certificateProblemOf(error)
    if (certificate !== undefined)
      return failed(
        `The certificate of Stripe's server was refused or has expired (${certificate}): no card payment works.`,
        'Check the clock of this machine, its CA certificates (apt install --reinstall ca-certificates), and whether a proxy of the network answers in the place of Stripe.'
      )
    return failed(
      `Stripe rejected the key or did not answer: ${errorCodeOf(error)}.`,
      'Check SHOPSTEAD_STRIPE_SECRET_KEY and the network.'
    )
  }
}

/** Stripe takes charges in test mode for any account, so only a live key tells whether the account is enabled. */
async function checkAccount({ cards }: App): Promise<Finding> {
  if (cards?.name !== 'stripe' || !isReady(cards) || !cards.livemode)
    return ok('Not checked, because the shop has no live key of Stripe.')
  try {
    const account = await (await cards.client()).accounts.retrieveCurrent({}, quick)
    return judgeAccount(account)
  } catch (error) {
    return ok(`Not checked: Stripe did not show the account to this key (${errorCodeOf(error)}).`)
  }
}

function judgeAccount({ charges_enabled: charges, payouts_enabled: payouts, requirements }: Stripe.Account): Finding {
  if (charges && payouts) return ok('Stripe accepts charges and pays out.')
  const reason = requirements?.disabled_reason ?? null
  const why = reason === null ? '' : ` (${reason})`
  const advice = "Log in to Stripe's dashboard: it says what Stripe needs from you."
  return charges
    ? warning(`Stripe has stopped the payouts of this account${why}.`, advice)
    : failed(`Stripe accepts no charges for this account${why}: buyers cannot pay by card.`, advice)
}

/** A test key in production gives goods away; a live key elsewhere charges real cards in trials. */
function checkMode(isProduction: boolean, isLive: boolean): Finding {
  if (isProduction === isLive) return ok(`Stripe answers (${isLive ? 'live' : 'test'} mode).`)
  return isLive
    ? warning(
        'The key is a live key, but SHOPSTEAD_ENV is not production: trials charge real cards.',
        'Set SHOPSTEAD_STRIPE_SECRET_KEY to a test key (sk_test_…), or SHOPSTEAD_ENV=production.'
      )
    : warning(
        'The key is a test key, but SHOPSTEAD_ENV is production: orders are paid without money.',
        'Set SHOPSTEAD_STRIPE_SECRET_KEY to your live key (sk_live_… or rk_live_…) before you sell.'
      )
}

function checkOpenPayments({ db, clock }: App): Finding {
  const stuck = db.orm
    .select({ count: count() })
    .from(paymentAttempts)
    .where(
      and(
        isNull(paymentAttempts.outcome),
        // Card gateways only: a bank transfer can take days.
        inArray(paymentAttempts.gateway, ['stripe', 'sandbox']),
        lt(paymentAttempts.createdAt, clock.now() - stuckAfterMs)
      )
    )
    .get()
  if (stuck === undefined || stuck.count === 0) return ok('No payment is stuck.')
  return warning(
    `${stuck.count} payments have been open for more than a day.`,
    'Run "shopstead orders reconcile" to ask the gateway for their outcome.'
  )
}

/** A line for each kind of warning, so that many warnings of one kind do not hide one of another. */
function checkWarnings({ db }: App): Finding {
  const groups = groupWarnings(openWarnings(db))
  if (groups.length === 0) return ok('None.')
  const lines = groups.map(({ kind, newest, count }) =>
    count === 1
      ? newest.message
      : `${count} warnings of ${describeWarning(kind)} ("shopstead orders warnings --kind ${kind}" lists them), the newest: ${newest.message}`
  )
  return warning(lines.join('\n'), 'Run "shopstead orders warnings" to see all of them and what to do.')
}

/** A short timeout and no retries, because the operator waits for `health`. */
const quick = { timeout: 5_000, maxNetworkRetries: 0 }

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

/** The code of a failed check of a certificate, which Stripe's client carries in its own error; undefined for another error. */
function certificateProblemOf(error: unknown): string | undefined {
  const code = codeOf(error)
  if (code !== undefined && /CERT|SELF_SIGNED|UNABLE_TO/.test(code)) return code
  if (!isObject(error)) return undefined
  return certificateProblemOf(error['detail'] ?? error['cause'])
}

/** The code or type of a gateway's error. Its message may contain a secret. */
function errorCodeOf(error: unknown): string {
  const { code, type } = readGatewayError(error).error
  return code ?? (type || 'an unknown error')
}
