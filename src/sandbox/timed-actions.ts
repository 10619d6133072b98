import { renewSubscription } from './billing/billing.ts'
import { afterPayment, expireSession } from './checkout/checkout-completion.ts'
import { settlePayment } from './payments/charging.ts'
import type { Context } from './http/context.ts'
import { finishRefund } from './payments/refunds.ts'
import { isTimerDue, takeDueTimer } from './timers.ts'
import type { TimedAction } from './timers.ts'

const actions: Readonly<Record<TimedAction, (context: Context, objectId: string) => void>> = {
  expire_session: expireSession,
  renew_subscription: (context, id) => {
    const status = context.store.find('subscription', id)?.object.status
    if (status === 'active' || status === 'past_due') renewSubscription(context, id)
  },
  settle_refund: finishRefund,
  settle_payment: (context, id) => {
    const intent = context.store.find('payment_intent', id)?.object
    if (intent) afterPayment(context, settlePayment(context, intent).intent)
  }
}

/** Runs the timers that are due. Call it inside the transaction, before anything is read. */
export function runDueTimers(context: Context): void {
  if (!isTimerDue(context.store, context.nowMs)) return
  for (let due = takeDueTimer(context.store, context.nowMs); due; due = takeDueTimer(context.store, context.nowMs)) {
    actions[due.action](context, due.object_id)
  }
}
