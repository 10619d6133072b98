import { AppError } from '../errors.ts'
import { isKeyOf } from '../platform/typed.ts'
import { findGuestBuyer, findMailboxProof } from '../api/checkout.ts'
import { findIdentity } from '../api/server.ts'
import { proveOrderEmail, sendOrderCode } from '../shop/checkout/order-visitor.ts'
import type { Visitor } from '../shop/checkout/order-visitor.ts'
import { addressPath } from '../shop/orders/address.ts'
import { getOrderByPublicToken } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/find.ts'
import { maskedEmail } from '../shop/orders/view.ts'
import { pathOf, readDraft } from './draft.ts'
import { readForm } from './page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { shopPage, siteOf } from './shop-site.ts'
import { formView, sheet } from './storefront/form-view.ts'
import type { Outcome } from './storefront/form-view.ts'

// A buyer who opens an order without the cookie or the session that placed it, such as from an email, proves its mailbox.

const path = /^\/checkout\/prove\/([A-Za-z0-9_-]{1,100})$/
const name = '/checkout/prove/:token'

export const provePages: readonly PageRoute[] = [
  { method: 'GET', path, name, handle: (call) => show(call, placeOf(new URL(call.request.url).searchParams), {}) },
  { method: 'POST', path, name, handle: take }
]

/** Where a visitor goes on as the buyer. */
const places = {
  pay: (order: OrderRow) => pathOf(order),
  coupon: (order: OrderRow) => pathOf(order),
  change: (order: OrderRow) => `${pathOf(order)}?change`,
  invoice: ({ publicToken }: OrderRow) => `/checkout/invoice/${publicToken}`,
  address: (order: OrderRow) => addressPath(order)
}
export type Place = keyof typeof places

/** The page on which a visitor proves to be the buyer of an order, and then goes on. */
export function provePath({ publicToken }: Pick<OrderRow, 'publicToken'>, to: Place): string {
  return `/checkout/prove/${publicToken}?to=${to}`
}

/** What the browser of a request has to show for an order. */
export function visitorOf({ app, request, now }: PageCall, order: OrderRow): Visitor {
  return {
    userId: findIdentity(app, request, now)?.user.id ?? null,
    guest: findGuestBuyer(app, request),
    mailbox: findMailboxProof(app, request),
    gaveEmail: readDraft({ app, request }, order).gaveEmail
  }
}

function placeOf(fields: URLSearchParams): Place {
  const to = fields.get('to') ?? ''
  return isKeyOf(places, to) ? to : 'pay'
}

function show({ app, param }: PageCall, to: Place, outcome: Outcome & { isSent?: boolean }): PageReply {
  const order = getOrderByPublicToken(app.db, param)
  if (order.email === null) return { redirect: places[to](order) }
  const site = siteOf(app)
  const { t } = site
  const { isSent = false, status = 200, ...rest } = outcome
  const code = { name: 'code', label: t('prove.code'), autocomplete: 'one-time-code', required: true }
  const again = { action: 'send', label: t('prove.send') }
  const form = isSent
    ? { action: 'check', submit: t('continue'), rows: [[code]], others: [again] }
    : { action: 'send', submit: t('prove.send'), rows: [] }
  const asked = to === 'coupon' ? 'prove.couponText' : 'prove.text'
  const text = t(isSent ? 'prove.sent' : asked, { email: maskedEmail(order.email) })
  const view = formView({ ...form, to: `/checkout/prove/${param}`, hidden: { to } }, rest)
  const links = [{ label: t('yourOrder'), url: `/checkout/done/${param}` }]
  return shopPage(
    app,
    sheet(status, t(to === 'coupon' ? 'prove.couponTitle' : 'prove.title'), { text, form: view, links }),
    {},
    site
  )
}

async function take(call: PageCall): Promise<PageReply> {
  const { app, param } = call
  const form = await readForm(call.request)
  const to = placeOf(form)
  const { t } = siteOf(app)
  const isCheck = form.get('action') === 'check'
  try {
    if (!isCheck) {
      await sendOrderCode(app, param, call)
      return show(call, to, { isSent: true })
    }
    const setCookie = await proveOrderEmail(app, param, form.get('code') ?? '', call)
    return { redirect: places[to](getOrderByPublicToken(app.db, param)), setCookie }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { code, status } = error
    if (code === 'TOKEN_INVALID') return show(call, to, { isSent: true, status, refused: { code: [t('prove.wrong')] } })
    if (code !== 'RATE_LIMITED' && code !== 'AUTH_RATE_LIMITED') throw error
    return show(call, to, { isSent: isCheck, status, error: t('access.tooOften') })
  }
}
