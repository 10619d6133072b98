import { AppError } from '../errors.ts'
import { endGuestSubscription, guestSubscriptionOf } from '../shop/checkout/guest-subscription.ts'
import { getOrderByPublicToken } from '../shop/orders/find.ts'
import { dayFormat } from './day-format.ts'
import { donePath, orderPage } from './order-page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'

const path = /^\/checkout\/subscription\/([A-Za-z0-9_-]{1,100})$/
const name = '/checkout/subscription/:token'

/** The page on which a guest confirms the end of a subscription. Emails and the order's page lead to it, nothing is done by GET. */
export const subscriptionPages: readonly PageRoute[] = [
  { method: 'GET', path, name, handle: ask },
  { method: 'POST', path, name, handle: end }
]

function ask({ app, param, now }: PageCall): PageReply {
  const order = getOrderByPublicToken(app.db, param)
  const subscription = guestSubscriptionOf(app, order)
  if (subscription === null || !subscription.canCancel) return { redirect: donePath(order) }
  const endsAt = Date.parse(subscription.currentPeriodEnd)
  return {
    status: 200,
    template: 'subscription',
    title: 'End your subscription?',
    data: {
      ends: endsAt > now ? dayFormat.format(endsAt) : null,
      action: `/checkout/subscription/${param}`,
      back: donePath(order)
    }
  }
}

async function end(call: PageCall): Promise<PageReply> {
  const { app, param, now } = call
  const order = getOrderByPublicToken(app.db, param)
  try {
    await endGuestSubscription(app, param, call)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // The order's page says what is the case: the order belongs to an account by now.
    if (error.code !== 'DEPENDENCY_UNAVAILABLE' && error.code !== 'CONFLICT') throw error
    const message =
      error.code === 'CONFLICT'
        ? 'The subscription belongs to an account by now. Log in to end it.'
        : 'The payment service does not answer, so the subscription was not ended. Please try again in a minute.'
    return orderPage(app, order, now, { status: error.status, message })
  }
  return { redirect: donePath(order) }
}
