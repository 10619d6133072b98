import { count, lt, and, isNull } from 'drizzle-orm'
import { describeError } from '../../platform/log.ts'
import { isReady } from '../../shop/payments/gateway.ts'
import { readGatewayError } from '../../shop/payments/gateway-failure.ts'
import { paymentAttempts } from '../../shop/payments/schema.ts'
import { openWarnings } from '../../shop/payments/warnings.ts'
import { failed, ok, warning } from './check.ts'
import type { Check } from './check.ts'

const stuckAfterMs = 24 * 60 * 60_000

export const paymentChecks: readonly Check[] = [
  {
    name: 'payments',
    async run({ cards, config }) {
      if (cards === null) return ok('By hand only.')
      if (cards.name === 'sandbox')
        return config.env === 'production'
          ? failed('The sandbox takes no real money.', 'Set SHOPSTEAD_PAYMENTS=stripe.')
          : ok('Sandbox.')
      if (!isReady(cards))
        return failed('SHOPSTEAD_STRIPE_SECRET_KEY is not set.', "Set it to the secret key from Stripe's dashboard.")
      try {
        await (await cards.client()).balance.retrieve()
        return ok(`Stripe answers (${cards.livemode ? 'live' : 'test'} mode).`)
      } catch (error) {
        return failed(
          `Stripe does not accept the key: ${readGatewayError(error).error.type || describeError(error)}.`,
          'Check SHOPSTEAD_STRIPE_SECRET_KEY and the network.'
        )
      }
    }
  },
  {
    name: 'webhook secret',
    run({ cards }) {
      if (cards?.name !== 'stripe') return ok('Not needed.')
      if (cards.webhookSecret !== undefined) return ok('Set.')
      return failed(
        'SHOPSTEAD_STRIPE_WEBHOOK_SECRET is not set.',
        'Without it payments are noticed by the reconciler only, a minute late.'
      )
    }
  },
  {
    name: 'open payments',
    run({ db, clock }) {
      const stuck = db.orm
        .select({ count: count() })
        .from(paymentAttempts)
        .where(and(isNull(paymentAttempts.outcome), lt(paymentAttempts.createdAt, clock.now() - stuckAfterMs)))
        .get()
      if ((stuck?.count ?? 0) === 0) return ok('None is stuck.')
      return warning(`${stuck?.count} have been open for more than a day.`, 'Run "shopstead orders reconcile".')
    }
  },
  {
    name: 'payment warnings',
    run({ db }) {
      const [newest, ...others] = openWarnings(db)
      if (newest === undefined) return ok('None.')
      return warning(
        `${newest.message}${others.length > 0 ? ` And ${others.length} more.` : ''}`,
        'Look at the orders named, and at the gateway.'
      )
    }
  }
]
