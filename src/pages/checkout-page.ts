import { z } from 'zod'
import { AppError } from '../errors.ts'
import type { FieldErrors } from '../errors.ts'
import { formatMoney } from '../platform/money.ts'
import { toFieldErrors } from '../platform/http/zod-errors.ts'
import { codePoints } from '../platform/text.ts'
import { isEmail, optionalLine } from '../shop/accounts/fields.ts'
import { getOrder } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/rows.ts'
import { setting } from '../shop/settings/settings.ts'
import { choosePayment, offeredMethods } from './choose-payment.ts'
import { readForm } from './form.ts'
import { backUrl, getOrderByToken, isPayable, orderPage, summaryOf } from './order-page.ts'
import { standingOf } from './order-standing.ts'
import type { Standing } from './order-standing.ts'
import { messagePage } from './page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'

const path = /^\/checkout\/([A-Za-z0-9_-]{1,100})$/

export const checkoutPages: readonly PageRoute[] = [
  { method: 'GET', path, name: '/checkout/:token', handle: show },
  { method: 'POST', path, name: '/checkout/:token', handle: choose }
]

/** What the form shows again when something is wrong. */
type Filled = { values: Readonly<Record<string, string>>; errors: FieldErrors; message: string | null }

const untouched: Filled = { values: {}, errors: {}, message: null }

function show(call: PageCall): PageReply {
  const order = getOrderByToken(call.app, call.param)
  const standing = standingOf(call.app.db, order, call.now)
  return isPayable(order, standing) ? choicePage(call, order, 200, untouched) : settledPage(call, order, standing)
}

async function choose(call: PageCall): Promise<PageReply> {
  const { app, now } = call
  const order = getOrderByToken(app, call.param)
  const form = await readForm(call.request)
  const values = Object.fromEntries(
    ['email', 'firstName', 'lastName', 'payment_method'].map((name) => [name, form.get(name) ?? ''])
  )
  const parsed = choiceInput(call).safeParse(values)
  if (!parsed.success) return refused(call, order, 422, { values, errors: toFieldErrors(parsed.error), message: null })
  const { payment_method: method, email, firstName, lastName } = parsed.data
  try {
    const page = await choosePayment(app, order.id, { method, email, firstName, lastName })
    return page === null ? afterwards(call, getOrder(app.db, order.id)) : { redirect: page }
  } catch (error) {
    return answerRefusal(call, order, values, error, now)
  }
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
  return standing === 'expired' || standing === 'cancelled' || standing === 'refunded'
}

function choicePage({ app }: PageCall, order: OrderRow, status: number, filled: Filled): PageReply {
  const methods = offeredMethods(app)
  const { contact, billingAddress } = order
  return {
    status,
    template: 'checkout',
    title: 'Pay your order',
    data: {
      ...filled,
      action: `/checkout/${order.publicToken}`,
      summary: summaryOf(app, order),
      total: formatMoney(order.totalMinor, order.currency),
      asksEmail: order.email === null,
      asksName: (contact.firstName ?? contact.lastName ?? billingAddress?.lastName) === undefined,
      methods,
      chosen: filled.values['payment_method'] === 'manual' ? 'manual' : methods[0],
      instructions: setting(app.db, 'payments.manualInstructions'),
      testCards: app.cards?.name === 'sandbox',
      back: backUrl(order, 'cancelled')
    },
    // Stripe's page can have a domain of the shop's own, which is not known here.
    leadsTo: [order.returnUrl, app.cards?.name === 'stripe' ? 'https:' : null]
  }
}

function choiceInput({ app }: PageCall) {
  const methods = offeredMethods(app)
  return z.object({
    payment_method: z.enum(methods, 'Please choose how to pay.'),
    email: z
      .string()
      .transform((text) => text.normalize('NFC').trim())
      .refine(
        (text) => text === '' || (codePoints(text) <= 254 && isEmail(text)),
        'Please give an email address such as name@example.com.'
      )
      .transform((text) => (text === '' ? null : text)),
    firstName: optionalLine(100),
    lastName: optionalLine(100)
  })
}
