import type Stripe from 'stripe'
import { and, count, inArray, isNull, lt } from 'drizzle-orm'
import type { App } from '../../app.ts'
import { isReady } from '../../shop/payments/gateway.ts'
import { paymentAttempts } from '../../shop/payments/schema.ts'
import { describeWarning, groupWarnings, openWarnings } from '../../shop/payments/warnings.ts'
import { failed, ok, warning } from './check.ts'
import type { Check, Finding } from './check.ts'
import { errorCodeOf, quick, webhookChecks } from './webhook-checks.ts'

const stuckAfterMs = 24 * 60 * 60_000

export const paymentChecks: readonly Check[] = [
  { name: 'payments', run: checkGateway },
  { name: 'stripe account', run: checkAccount },
  ...webhookChecks,
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
