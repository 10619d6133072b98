import { AppError } from '../errors.ts'
import { endGuestSubscription, guestSubscriptionOf } from '../shop/checkout/buyer-order.ts'
import { getOrderByPublicToken } from '../shop/orders/find.ts'
import { donePath, orderPage } from './order-page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { sitePage } from './site-page.ts'
import { dayText } from './storefront/days.ts'
import { formView } from './storefront/form-view.ts'
import { sheet } from './storefront/sign-in.ts'
import { siteOf } from './storefront-settings.ts'

const path = /^\/checkout\/subscription\/([A-Za-z0-9_-]{1,100})$/
const name = '/checkout/subscription/:token'

/** The page on which a guest confirms the end of a subscription. Emails and the order's page lead to it, nothing is done by GET. */
export const subscriptionPages: readonly PageRoute[] = [
  { method: 'GET', path, name, handle: ask },
  { method: 'POST', path, name, handle: end }
]

function ask(call: PageCall): PageReply {
  const { app, param, now } = call
  const order = getOrderByPublicToken(app.db, param)
  const subscription = guestSubscriptionOf(app, order)
  if (subscription === null || !subscription.canCancel) return { redirect: donePath(order) }
  const site = siteOf(app)
  const { t } = site
  const { currentPeriodEnd } = subscription
  const isPaid = Date.parse(currentPeriodEnd) > now
  const access = isPaid ? t('subscription.access', { day: dayText(currentPeriodEnd, site) }) : t('subscription.now')
  const text = `${access} ${t('subscription.noCharge')}`
  const to = `/checkout/subscription/${param}`
  const form = formView({ action: 'end', submit: t('subscription.yes'), rows: [], to }, {})
  const links = [{ label: t('subscription.keep'), url: donePath(order) }]
  return sitePage(call, sheet(200, t('subscription.confirm'), { text, form, links }))
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
