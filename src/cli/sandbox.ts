import type { Command } from 'commander'
import { AppError } from '../errors.ts'
import type { App } from '../app.ts'
import type { PageOutcome } from '../platform/stripe/sandbox/checkout-payment.ts'
import { attemptsOf } from '../shop/payments/attempts.ts'
import { getOrder } from '../shop/orders/find.ts'
import { receiveWebhook } from '../shop/payments/webhook.ts'
import { addCommand, runs } from './run.ts'
import type { Work } from './run.ts'

export function define(program: Command): void {
  const group = program.command('sandbox').description('the Stripe stand-in')
  const pay = addCommand(group, 'pay <order>', "pay an order's open payment page", 'sandbox pay 12')
    .option('--payment-method <pm>', "one of Stripe's test payment methods", 'pm_card_visa')
    .option('--email <email>', 'the buyer, when the order has none')
  runs(pay, 'migrated', async ({ app, options }: Work<PayOptions>, order: string) => {
    const sandbox = sandboxOf(app)
    // No server may be running, so the webhook is taken right here.
    app.setWebhookReceiver(async (body, headers) => {
      await receiveWebhook(app, body, headers['stripe-signature'] ?? null)
      return { status: 200 }
    })
    const { paymentMethod, email = null } = options
    const { outcome } = await sandbox.payCheckout(openPageOf(app, order), { paymentMethod, email, waitMs: 0 })
    if (outcome.kind !== 'complete' && outcome.kind !== 'challenge') throw notPaid(order, outcome)
    await sandbox.deliverDue()
    const { status } = getOrder(app.db, Number(order))
    return { json: { orderId: Number(order), status, next: outcome.url }, human: `Order ${order} is ${status}.` }
  })
}

type PayOptions = { paymentMethod: string; email?: string }

function notPaid(order: string, outcome: Exclude<PageOutcome, { kind: 'complete' | 'challenge' }>): AppError {
  const why = {
    not_found: 'its payment page is gone',
    expired: 'its payment page has expired',
    email_needed: 'it has no email: give one with --email',
    declined: 'the card was declined'
  }[outcome.kind]
  return new AppError('CHECKOUT_FAILED', `Order ${order} was not paid: ${why}.`)
}

function sandboxOf(app: App) {
  if (app.sandbox === null) throw new AppError('CONFLICT', 'SHOPSTEAD_PAYMENTS does not name the sandbox.')
  return app.sandbox
}

function openPageOf(app: App, order: string): string {
  const attempt = attemptsOf(app.db, Number(order)).find(
    (row) => row.kind === 'checkout_session' && row.outcome === null
  )
  if (attempt?.objectId === undefined || attempt.objectId === null) {
    throw new AppError('NOT_FOUND', `Order ${order} has no open payment page.`)
  }
  return attempt.objectId
}
