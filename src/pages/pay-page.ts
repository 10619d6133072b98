import { AppError } from '../errors.ts'
import type { FieldErrors } from '../errors.ts'
import { toFieldErrors } from '../platform/http/zod-errors.ts'
import { codePoints } from '../platform/text.ts'
import { getOrder } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/rows.ts'
import { choiceInput, choicePage, readValues, untouched } from './pay-form.ts'
import type { Filled } from './pay-form.ts'
import { choosePayment } from './choose-payment.ts'
import { readForm } from './form.ts'
import { backUrl, getOrderByToken, isPayable, orderPage } from './order-page.ts'
import { canBePaid, standingOf, standings } from './order-standing.ts'
import type { Standing } from './order-standing.ts'
import { messagePage } from './page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { takeCoupon } from './take-coupon.ts'

const path = /^\/checkout\/([A-Za-z0-9_-]{1,100})$/

export const checkoutPages: readonly PageRoute[] = [
  { method: 'GET', path, name: '/checkout/:token', handle: show },
  { method: 'POST', path, name: '/checkout/:token', handle: choose }
]

function show(call: PageCall): PageReply {
  const order = getOrderByToken(call.app, call.param)
  const standing = standingOf(call.app.db, order, call.now)
  return isPayable(order, standing) ? choicePage(call, order, 200, untouched) : settledPage(call, order, standing)
}

async function choose(call: PageCall): Promise<PageReply> {
  const { app, now } = call
  const order = getOrderByToken(app, call.param)
  const form = await readForm(call.request)
  const code = form.get('coupon')
  if (code !== null) return applyCode(call, order, code)
  const values = readValues(form)
  const given = { ...values, address: values }
  const parsed = choiceInput(app, order, values).safeParse(given)
  if (!parsed.success) {
    return refused(call, order, 422, { values, errors: byField(toFieldErrors(parsed.error)), message: null })
  }
  const { payment_method: method, ...buyer } = parsed.data
  try {
    const page = await choosePayment(app, order.id, { method, ...buyer })
    return page === null ? afterwards(call, getOrder(app.db, order.id)) : { redirect: page }
  } catch (error) {
    return answerRefusal(call, order, values, error, now)
  }
}

/** Led to the page anew when it counts, so that a reload does not send it again. */
async function applyCode(call: PageCall, order: OrderRow, typed: string): Promise<PageReply> {
  const code = typed.trim()
  const values = { coupon: code }
  const wrong = (coupon: string): PageReply =>
    refused(call, order, 422, { values, errors: { coupon: [coupon] }, message: null })
  if (code === '' || codePoints(code) > 64) return wrong('Please type the code of a coupon.')
  try {
    await takeCoupon(call.app, order.id, code, call.addressKey)
    return { redirect: `/checkout/${order.publicToken}` }
  } catch (error) {
    return answerRefusal(call, order, values, error, call.now)
  }
}

/** The form knows its address's fields by their own names. */
function byField(errors: FieldErrors): FieldErrors {
  return Object.fromEntries(
    Object.entries(errors).map(([path, messages]) => [path.replace(/^address\./, ''), messages])
  )
}

function answerRefusal(
  call: PageCall,
  order: OrderRow,
  values: Filled['values'],
  error: unknown,
  now: number
): PageReply {
  if (!(error instanceof AppError)) throw error
  if (error.code === 'VALIDATION_FAILED') {
    const errors = (error.details['fieldErrors'] ?? {}) as FieldErrors
    return refused(call, order, 422, { values, errors, message: null })
  }
  if (error.code === 'CHECKOUT_FAILED')
    return refused(call, order, error.status, { values, errors: {}, message: error.message })
  if (error.code !== 'TRANSITION_REFUSED') throw error
  const back = backUrl(order, standingOf(call.app.db, order, now))
  const text = 'Something in it was sold out or used up meanwhile. Nothing was charged. You are welcome to order again.'
  return messagePage(
    410,
    'This order can no longer be paid',
    [text],
    back === null ? [] : [{ label: 'Back to the shop', url: back }]
  )
}

/** The form again, unless the order has moved on meanwhile. */
function refused(call: PageCall, before: OrderRow, status: number, filled: Filled): PageReply {
  const order = getOrder(call.app.db, before.id)
  const standing = standingOf(call.app.db, order, call.now)
  return isPayable(order, standing) ? choicePage(call, order, status, filled) : settledPage(call, order, standing)
}

/** Where the buyer goes when the order is on hold or was settled before, however often he asks. */
function afterwards(call: PageCall, order: OrderRow): PageReply {
  const standing = standingOf(call.app.db, order, call.now)
  if (isOver(standing)) return settledPage(call, order, standing)
  return { redirect: backUrl(order, standing) ?? `/checkout/done/${order.publicToken}` }
}

/** How an order stands that cannot be paid here: 410 where nothing will come of it any more. */
function settledPage({ app, now }: PageCall, order: OrderRow, standing: Standing): PageReply {
  return orderPage(app, order, now, isOver(standing) ? 410 : 200)
}

function isOver(standing: Standing): boolean {
  return standings[standing].released && !canBePaid(standing)
}
