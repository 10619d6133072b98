import { and, count, inArray, isNull, lt } from 'drizzle-orm'
import type { App } from '../../app.ts'
import type { CardGateway } from '../../shop/context.ts'
import { handledTypes } from '../../shop/payments/gateway-event.ts'
import { isReady } from '../../shop/payments/gateway.ts'
import type { ReadyGateway } from '../../shop/payments/gateway.ts'
import { readGatewayError } from '../../shop/payments/gateway-failure.ts'
import { paymentAttempts } from '../../shop/payments/schema.ts'
import { openWarnings } from '../../shop/payments/warnings.ts'
import { failed, ok, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

const stuckAfterMs = 24 * 60 * 60_000
/** A short timeout and no retries, because the operator waits for `health`. */
const quick = { timeout: 5_000, maxNetworkRetries: 0 }
export const paymentChecks: readonly Check[] = [
  { name: 'payments', run: checkGateway },
  { name: 'webhooks from Stripe', run: checkWebhooks },
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
    return ok(`Stripe answers (${cards.livemode ? 'live' : 'test'} mode).`)
  } catch (error) {
    return failed(
      `Stripe rejected the key or did not answer: ${errorCodeOf(error)}.`,
      'Check SHOPSTEAD_STRIPE_SECRET_KEY and the network.'
    )
  }
}

async function checkWebhooks(app: App): Promise<Finding> {
  const { cards } = app
  if (!isStripe(cards)) return ok('Not checked, because the shop does not use Stripe.')
  if (cards.webhookSecret === undefined) {
    return failed(
      'SHOPSTEAD_STRIPE_WEBHOOK_SECRET is not set.',
      "Set it to the endpoint's signing secret from Stripe's dashboard. Until then, payments are noticed a minute late."
    )
  }
  const url = `${app.publicUrl()}${app.config.apiPrefix}/webhooks/stripe`
  try {
    const { data } = await (await cards.client()).webhookEndpoints.list({ limit: 100 }, quick)
    const ours = data.find((endpoint) => endpoint.url === url && endpoint.status === 'enabled')
    if (ours === undefined)
      return warning(
        `The Stripe account has no enabled webhook endpoint for ${url}.`,
        "Add the endpoint in Stripe's dashboard. Until then, payments are noticed a minute late."
      )
    const missing = handledTypes.filter((type) => !ours.enabled_events.some((on) => on === '*' || on === type))
    return missing.length === 0
      ? ok('The secret is set, and Stripe sends events to this shop.')
      : warning(
          `Stripe does not send these event types: ${missing.join(', ')}.`,
          `Add them to the endpoint ${ours.id} in Stripe's dashboard. Until then, the shop notices them a minute late.`
        )
  } catch (error) {
    return warning(
      `Stripe did not list its webhook endpoints: ${errorCodeOf(error)}.`,
      "Check the endpoints in Stripe's dashboard."
    )
  }
}

function isStripe(cards: CardGateway | null): cards is ReadyGateway {
  return cards?.name === 'stripe' && isReady(cards)
}

/** The code or type of a gateway's error. Its message may contain a secret. */
function errorCodeOf(error: unknown): string {
  const { code, type } = readGatewayError(error).error
  return code ?? (type || 'an unknown error')
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

function checkWarnings({ db }: App): Finding {
  const [newest, ...others] = openWarnings(db)
  if (newest === undefined) return ok('None.')
  const more = others.length > 0 ? ` There are ${others.length} more warnings.` : ''
  return warning(
    `${newest.message}${more}`,
    "Check the orders named here and their payments in the gateway's dashboard."
  )
}
