import { AppError } from '../errors.ts'
import type { FieldErrors } from '../errors.ts'
import { toFieldErrors } from '../platform/http/zod-errors.ts'
import { codePoints } from '../platform/text.ts'
import { buyerStatuses, buyerStatusOf, canBePaid, isPayable } from '../shop/checkout/buyer-status.ts'
import type { BuyerStatus } from '../shop/checkout/buyer-status.ts'
import { choosePayment } from '../shop/checkout/choose-payment.ts'
import { takePagePoint } from '../shop/checkout/checkout-limits.ts'
import { takeCoupon } from '../shop/checkout/take-coupon.ts'
import { getOrder, getOrderByPublicToken } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/rows.ts'
import { choiceInput, choicePage, readValues, untouched } from './pay-form.ts'
import type { Filled } from './pay-form.ts'
import { readForm } from './form.ts'
import { backUrl, orderPage } from './order-page.ts'
import { messagePage } from './page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'

const path = /^\/checkout\/([A-Za-z0-9_-]{1,100})$/

export const checkoutPages: readonly PageRoute[] = [
  { method: 'GET', path, name: '/checkout/:token', handle: show },
  { method: 'POST', path, name: '/checkout/:token', handle: take }
]

function show(call: PageCall): PageReply {
  const order = getOrderByPublicToken(call.app.db, call.param)
  const buyerStatus = buyerStatusOf(call.app.db, order, call.now)
  return isPayable(order, buyerStatus) ? choicePage(call, order, 200, untouched) : settledPage(call, order, buyerStatus)
}

async function take(call: PageCall): Promise<PageReply> {
  const order = getOrderByPublicToken(call.app.db, call.param)
  await takePagePoint(call.app, call.addressKey)
  const form = await readForm(call.request)
  const code = form.get('coupon')
  return code === null ? pay(call, order, readValues(form)) : applyCode(call, order, code)
}

async function pay(call: PageCall, order: OrderRow, values: Filled['values']): Promise<PageReply> {
  const { app } = call
  const parsed = choiceInput(app, order, values).safeParse({ ...values, address: values })
  if (!parsed.success) {
    return refused(call, order, 422, { values, errors: byField(toFieldErrors(parsed.error)), message: null })
  }
  const { payment_method: method, ...buyer } = parsed.data
  try {
    const page = await choosePayment(app, order.id, { method, ...buyer })
    return page === null ? afterwards(call, getOrder(app.db, order.id)) : { redirect: page }
  } catch (error) {
    return answerRefusal(call, order, values, error)
  }
}

/** Answers with a redirect, so that a reload does not send the form again. */
async function applyCode(call: PageCall, order: OrderRow, typed: string): Promise<PageReply> {
  const code = typed.trim()
  const values = { coupon: code }
  const wrong = (coupon: string): PageReply =>
    refused(call, order, 422, { values, errors: { coupon: [coupon] }, message: null })
  if (code === '' || codePoints(code) > 64) return wrong('Please enter a coupon code.')
  try {
    await takeCoupon(call.app, order.id, code, call.addressKey)
    return { redirect: `/checkout/${order.publicToken}` }
  } catch (error) {
    return answerRefusal(call, order, values, error)
  }
}

/** The form has the fields of the address at its top level. */
function byField(errors: FieldErrors): FieldErrors {
  return Object.fromEntries(
    Object.entries(errors).map(([path, messages]) => [path.replace(/^address\./, ''), messages])
  )
}

function answerRefusal(call: PageCall, order: OrderRow, values: Filled['values'], error: unknown): PageReply {
  if (!(error instanceof AppError)) throw error
  if (error.code === 'VALIDATION_FAILED') {
    const errors = (error.details['fieldErrors'] ?? {}) as FieldErrors
    return refused(call, order, 422, { values, errors, message: null })
  }
  if (error.code === 'CHECKOUT_FAILED')
    return refused(call, order, error.status, { values, errors: {}, message: error.message })
  if (error.code !== 'TRANSITION_REFUSED') throw error
  const back = backUrl(call.app.db, order, buyerStatusOf(call.app.db, order, call.now))
  const text =
    'An item has sold out, or a coupon has been used up. Nothing was charged. You are welcome to order again.'
  return messagePage(
    410,
    'This order can no longer be paid',
    [text],
    back === null ? [] : [{ label: 'Back to the shop', url: back }]
  )
}

/** Shows the form again, or the order's page if it cannot be paid any more. */
function refused(call: PageCall, before: OrderRow, status: number, filled: Filled): PageReply {
  const order = getOrder(call.app.db, before.id)
  const buyerStatus = buyerStatusOf(call.app.db, order, call.now)
  return isPayable(order, buyerStatus) ? choicePage(call, order, status, filled) : settledPage(call, order, buyerStatus)
}

/** The page for a buyer who has nothing to pay on a gateway's page. */
function afterwards(call: PageCall, order: OrderRow): PageReply {
  const buyerStatus = buyerStatusOf(call.app.db, order, call.now)
  if (isOver(buyerStatus)) return settledPage(call, order, buyerStatus)
  return { redirect: backUrl(call.app.db, order, buyerStatus) ?? `/checkout/done/${order.publicToken}` }
}

/** The page of an order that cannot be paid here: 410 if it never can be again. */
function settledPage({ app, now }: PageCall, order: OrderRow, buyerStatus: BuyerStatus): PageReply {
  return orderPage(app, order, now, { status: isOver(buyerStatus) ? 410 : 200 })
}

function isOver(buyerStatus: BuyerStatus): boolean {
  return buyerStatuses[buyerStatus].released && !canBePaid(buyerStatus)
}
