import type { ShopCommand, Work } from '../run.ts'
import { AppError } from '../../errors.ts'
import type { App } from '../../app.ts'
import type { PageOutcome } from '../../sandbox/checkout/checkout-payment.ts'
import { apiFaults, webhookFaults } from '../../sandbox/http/faults.ts'
import type { FaultRequest } from '../../sandbox/http/faults.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { attemptsOf } from '../../shop/payments/attempts.ts'
import { getOrder } from '../../shop/orders/find.ts'
import { receiveWebhook } from '../../shop/payments/webhook.ts'
import type { Answer } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'
import { addCommand, runs } from '../run.ts'

export function define(program: ShopCommand): void {
  const group = program.command('sandbox').description('the sandbox for payments')
  definePay(group)
  defineFaults(group)
  defineDispute(group)
  defineRenew(group)
}

function definePay(group: ShopCommand): void {
  const pay = addCommand(group, 'pay <order>', "pay on an order's open payment page", 'sandbox pay 12')
    .option('--payment-method <pm>', "one of Stripe's test payment methods", 'pm_card_visa')
    .option('--email <email>', "the buyer's email, if the order has none")
  runs(pay, async ({ app, options }: Work<PayOptions>, order: string) => {
    const sandbox = openSandbox(app)
    const { paymentMethod, email = null } = options
    const { outcome } = await sandbox.payCheckout(openPageOf(app, order), { paymentMethod, email, waitMs: 0 })
    if (outcome.kind !== 'complete' && outcome.kind !== 'challenge') throw notPaid(order, outcome)
    return deliver(app, sandbox, order, { next: outcome.url })
  })
}

/** Faults are stored in the sandbox's database, so they also apply to a running server. */
function defineFaults(group: ShopCommand): void {
  const add = addCommand(
    group,
    'fault <target> <fault>',
    'make the sandbox fail: a request such as payment_intents.confirm, or webhook:* with late, twice, out_of_order or lost',
    'sandbox fault payment_intents.confirm timeout --times 3'
  )
    .option(
      '--moment <moment>',
      'fail before or after the effect of the request, or "kept" to store the failure under its key',
      'before'
    )
    .option('--times <n>', 'number of requests that fail; -1 for all', '1')
    .option('--skip <n>', 'number of requests that succeed first', '0')
    .option('--delay-ms <ms>', 'delay of late and slow')
  const addFault = ({ app, options }: Work<FaultOptions>, target: string, fault: string): Answer => {
    const added = sandboxOf(app).addFault(parseFault(target, fault, options))
    return { json: { fault: added }, human: `Fault ${added.id}: ${added.target} ${added.fault}, ${added.moment}.` }
  }
  runs(add, addFault, 'any')
  runs(addCommand(group, 'faults', 'list the active faults', 'sandbox faults'), ({ app }) => listed(app), 'any')
  const clear = ({ app }: Work<object>): Answer => {
    sandboxOf(app).clearFaults()
    return listed(app)
  }
  runs(addCommand(group, 'clear-faults', 'remove all faults', 'sandbox clear-faults'), clear, 'any')
}

function listed(app: App): Answer {
  const faults = sandboxOf(app).listFaults()
  const rows = faults.map(({ id, target, fault, moment, skip, times }) => [id, target, fault, moment, skip, times])
  return { json: { faults }, human: table(['Id', 'Target', 'Fault', 'Moment', 'Skip', 'Times'], rows) }
}

function defineDispute(group: ShopCommand): void {
  const command = addCommand(
    group,
    'dispute <order>',
    "dispute an order's payment, as a bank does",
    'sandbox dispute 12 --lost'
  )
    .option('--amount <n>', 'dispute only this amount, in minor units such as cents')
    .option('--won', 'decide the dispute for the shop')
    .option('--lost', 'decide the dispute for the buyer')
  runs(command, async ({ app, options }: Work<DisputeOptions>, order: string) => {
    const sandbox = openSandbox(app)
    const intent = attemptsOf(app.db, Number(order)).find((attempt) => attempt.outcome === 'paid')?.paymentIntentId
    if (!intent) throw new AppError('NOT_FOUND', `Order ${order} has no card payment.`)
    const { amount } = options
    const part = amount === undefined ? {} : { amount: wholeNumber('--amount', amount) }
    const isDecision = options.won === true || options.lost === true
    const open = sandbox
      .ledger()
      .disputes.find((known) => known.payment_intent === intent && known.status.endsWith('needs_response'))
    const dispute = (isDecision && amount === undefined ? open : undefined) ?? sandbox.openDispute(intent, part)
    if (isDecision) sandbox.decideDispute(dispute.id, options.won ? 'won' : 'lost')
    return deliver(app, sandbox, order, { dispute: dispute.id })
  })
}

function defineRenew(group: ShopCommand): void {
  const command = addCommand(
    group,
    'renew <subscription>',
    "end a subscription's period now",
    'sandbox renew sub_123'
  ).option('--failed', 'let the payment fail')
  runs(command, async ({ app, options }: Work<{ failed?: boolean }>, id: string) => {
    const sandbox = openSandbox(app)
    const { status } = sandbox.renewSubscription(id, options.failed ? 'failed' : undefined)
    await sandbox.deliverDue()
    return { json: { subscription: id, status }, human: `Subscription ${id} is ${status} at the sandbox.` }
  })
}

type DisputeOptions = { amount?: string; won?: boolean; lost?: boolean }
type FaultOptions = { moment: string; times: string; skip: string; delayMs?: string }

function parseFault(target: string, name: string, { moment, times, skip, delayMs }: FaultOptions): FaultRequest {
  const fault = [...apiFaults, ...webhookFaults].find((known) => known === name)
  const when = (['before', 'after', 'kept'] as const).find((known) => known === moment)
  if (fault === undefined)
    throw new AppError('USAGE', `The fault must be one of ${[...apiFaults, ...webhookFaults].join(', ')}.`)
  if (when === undefined) throw new AppError('USAGE', '--moment must be before, after or kept.')
  const delay = delayMs === undefined ? {} : { delayMs: wholeNumber('--delay-ms', delayMs) }
  return {
    target,
    fault,
    moment: when,
    times: wholeNumber('--times', times),
    skip: wholeNumber('--skip', skip),
    ...delay
  }
}

function wholeNumber(option: string, text: string): number {
  if (!/^-1$|^\d{1,9}$/.test(text)) throw new AppError('USAGE', `${option} must be a whole number.`)
  return Number(text)
}

/** Delivers the sandbox's events and shows the order afterwards. */
async function deliver(app: App, sandbox: Sandbox, order: string, more: Record<string, string>): Promise<Answer> {
  await sandbox.deliverDue()
  const { status } = getOrder(app.db, Number(order))
  return { json: { orderId: Number(order), status, ...more }, human: `Order ${order} is ${status}.` }
}

type PayOptions = { paymentMethod: string; email?: string }

function notPaid(order: string, outcome: Exclude<PageOutcome, { kind: 'complete' | 'challenge' }>): AppError {
  const why = {
    not_found: 'its payment page does not exist',
    expired: 'its payment page has expired',
    email_needed: 'it has no email, pass one with --email',
    declined: 'the card was declined'
  }[outcome.kind]
  return new AppError('CHECKOUT_FAILED', `Order ${order} was not paid: ${why}.`)
}

/** The sandbox, with webhooks delivered in this process, because no server may be running. */
function openSandbox(app: App): Sandbox {
  app.setWebhookReceiver(async (body, headers) => {
    await receiveWebhook(app, body, headers['stripe-signature'] ?? null)
    return { status: 200 }
  })
  return sandboxOf(app)
}

function sandboxOf(app: App): Sandbox {
  if (app.sandbox === null) throw new AppError('CONFLICT', 'SHOPSTEAD_PAYMENTS does not contain sandbox.')
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
