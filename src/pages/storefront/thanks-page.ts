import { isShopError } from '../../client/client.ts'
import type { Data } from '../../client/client.ts'
import { isPlaced, setCart, setPlaced } from './cart-cookie.ts'
import { orderCard, orderStates } from './order-card.ts'
import { outcomeOf } from './form-view.ts'
import { message } from './sign-in.ts'
import type { Shown, ShownPage, Site, Visit } from './site.ts'

type Known = Data<'GET', `/store/orders/${string}`>

/**
 * Where the buyer comes back to. Only the shop knows the state of an order; the query of the address proves nothing. The
 * cart is emptied if it became this order and the buyer does not need it any more.
 */
export async function showThanks(visit: Visit): Promise<Shown> {
  return thanksPage(visit)
}

/** Cancels the order. */
export async function cancelThanked(visit: Visit): Promise<Shown> {
  const { client } = visit
  const token = tokenOf(visit)
  if (token === null) return unknown(visit.site)
  try {
    await client.post(`/store/orders/${token}/cancel`)
    return { redirect: `/thanks?orderToken=${token}` }
  } catch (error) {
    const { status, error: text } = outcomeOf(error, new URLSearchParams())
    return thanksPage(visit, status, text)
  }
}

/** Anything but a token must not get into a path. */
function tokenOf({ query }: Visit): string | null {
  const token = query.get('orderToken') ?? ''
  return /^[\w-]{1,100}$/.test(token) ? token : null
}

async function thanksPage(visit: Visit, status = 200, error: string | null = null): Promise<ShownPage> {
  const { client, site, cookie } = visit
  const { t } = site
  const token = tokenOf(visit)
  if (token === null) return unknown(site)
  try {
    const [known, { userLoggedIn: isSignedIn }] = await Promise.all([
      client.get(`/store/orders/${token}`),
      client.get('/nonce')
    ])
    const { order, payUrl, canCancel } = known
    const { over, paid } = orderStates[order.status]
    const isUndecided = order.status === 'pending'
    const own = `/checkout/done/${token}`
    const data = {
      isSignedIn,
      error,
      ...wordsOf(known, site),
      receipt: paid && order.email !== null ? t('order.receipt', { email: order.email }) : '',
      card: orderCard(order, site),
      payUrl,
      howToPay: order.status === 'on-hold' && canCancel ? own : null,
      again: isUndecided ? `/thanks?orderToken=${token}` : null,
      canCancel: canCancel && !over,
      over,
      own: isUndecided ? null : own
    }
    const cookies = isPlaced(cookie, token) && isTaken(known) ? [setCart([], site), setPlaced('', site)] : []
    return { status, template: 'thanks', title: t('yourOrder'), data, cookies }
  } catch (failure) {
    if (isShopError(failure, 'NOT_FOUND')) return unknown(site)
    throw failure
  }
}

function unknown({ t }: Site): ShownPage {
  const links = [
    { label: t('link.orders'), url: '/orders' },
    { label: t('link.shop'), url: '/' }
  ]
  return message(t('order.unknown'), t('order.unknownText'), links, 404)
}

/** The order is paid, or waits for the bank or a transfer. */
function isTaken({ order, canPay, canCancel }: Known): boolean {
  return order.status === 'pending' ? !canPay && !canCancel : !orderStates[order.status].over
}

function wordsOf({ order: { status }, canCancel }: Known, { t }: Site) {
  const { tone } = orderStates[status]
  if (status === 'pending' && !canCancel) return { tone, heading: t('order.atBank'), text: t('order.atBankHere') }
  if (status === 'on-hold' && canCancel) return { tone, heading: t('order.transfer'), text: t('order.transferText') }
  return { tone, heading: t(`state.${status}.title`), text: t(`state.${status}.text`) }
}
