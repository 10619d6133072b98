import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import type { FieldErrors } from '../errors.ts'
import { rawTarget } from '../platform/http/client-address.ts'
import { toFieldErrors } from '../platform/http/validation.ts'
import { codePoints } from '../platform/text.ts'
import { isEmail } from '../shop/accounts/fields.ts'
import { buyerStatuses, buyerStatusOf, canBePaid, isPayable } from '../shop/checkout/buyer-status.ts'
import type { BuyerStatus } from '../shop/checkout/buyer-status.ts'
import { choosePayment, takeCoupon, takeVatId } from '../shop/checkout/order-form.ts'
import { mayChange } from '../shop/checkout/order-visitor.ts'
import { takePagePoint } from '../shop/checkout/limits.ts'
import { getOrder, getOrderByPublicToken } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/find.ts'
import { translate, translateDetails } from '../shop/settings/translate.ts'
import { draftCookie, emptyDraft, fieldErrors, pathOf, readDraft } from './draft.ts'
import type { Draft } from './draft.ts'
import { backUrl, orderPage } from './order-page.ts'
import { readForm } from './page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { choiceInput, readAction, readValues } from './pay-form.ts'
import type { FormAction } from './pay-form.ts'
import { choicePage } from './pay-view.ts'
import { homeLinks, shopPage, siteOf } from './shop-site.ts'
import { provePath, visitorOf } from './prove-page.ts'
import { message } from './storefront/form-view.ts'

const path = /^\/checkout\/([A-Za-z0-9_-]{1,100})$/

export const checkoutPages: readonly PageRoute[] = [
  { method: 'GET', path, name: '/checkout/:token', handle: show },
  { method: 'POST', path, name: '/checkout/:token', handle: take }
]

function show(call: PageCall): PageReply {
  const order = getOrderByPublicToken(call.app.db, call.param)
  const buyerStatus = buyerStatusOf(call.app.db, order, call.now)
  if (!isPayable(call.app.db, order, buyerStatus, call.now))
    return orderPage(call.app, order, call.now, { status: isOver(buyerStatus) ? 410 : 200 })
  const query = new URLSearchParams(rawTarget(call.request).split('?')[1] ?? '')
  if (query.has('gone') && order.status === 'failed') return gonePage(call, order)
  const isChange = query.has('change')
  if (isChange && !mayChange(call.app, order, visitorOf(call, order), call.now))
    return { redirect: provePath(order, 'change') }
  const draft = readDraft(call, order)
  const page = choicePage(call, order, draft, isChange)
  if (draft.message === null && Object.keys(draft.errors).length === 0) return page
  // A reload shows the input without the errors.
  return { ...page, setCookie: draftCookie(call, order, { ...draft, errors: {}, message: null }) }
}

/** A submitted form: the order before it, its values, and whether it corrects what the order has. */
type Submitted = { order: OrderRow; values: Draft['values']; isChange: boolean }

async function take(call: PageCall): Promise<PageReply> {
  const order = getOrderByPublicToken(call.app.db, call.param)
  await takePagePoint(call.app, call.addressKey)
  const form = await readForm(call.request)
  const submitted = { order, values: readValues(form), isChange: form.has('change') }
  return actions[readAction(form, order)](call, submitted)
}

const actions: Readonly<Record<FormAction, (call: PageCall, submitted: Submitted) => PageReply | Promise<PageReply>>> =
  {
    order: pay,
    coupon: applyCode,
    vatId: applyVatId,
    update: (call, submitted) => again(call, submitted, {}),
    country: (call, submitted) =>
      again(
        call,
        submitted,
        submitted.values['country'] ? {} : { errors: { country: [siteOf(call.app).t('invalid.country')] } }
      )
  }

async function pay(call: PageCall, submitted: Submitted): Promise<PageReply> {
  const { app } = call
  const { order, values, isChange } = submitted
  const parsed = choiceInput(app, order, isChange, values).safeParse({ email: '', ...values, address: values })
  if (!parsed.success) {
    const { fieldErrors: said } = translateDetails(call.app, { fieldErrors: toFieldErrors(parsed.error) })
    return again(call, submitted, { errors: byField(fieldErrors.parse(said)) })
  }
  const { payment_method: method, shipping_method: shippingMethod, total: shownDueMinor, ...buyer } = parsed.data
  try {
    const page = await choosePayment(
      app,
      order.id,
      {
        method,
        ...buyer,
        shippingMethod: shippingMethod ?? undefined,
        shownDueMinor,
        replaces: isChange
      },
      visitorOf(call, order)
    )
    const redirect = page ?? afterwards(call, getOrder(app.db, order.id))
    return { redirect, setCookie: keep(call, submitted, {}) }
  } catch (error) {
    return answerRefusal(call, submitted, error)
  }
}

async function applyCode(call: PageCall, submitted: Submitted): Promise<PageReply> {
  const code = submitted.values['coupon']?.trim() ?? ''
  if (code === '' || codePoints(code) > 64)
    return again(call, submitted, { errors: { coupon: [siteOf(call.app).t('invalid.coupon')] } })
  try {
    const { order } = submitted
    const email = submitted.values['email']?.trim() ?? ''
    const typed = { code, email: isEmail(email) ? email : null }
    const visitor = visitorOf(call, order)
    const { needsProof } = await takeCoupon(call.app, order.id, typed, { addressKey: call.addressKey, visitor })
    if (needsProof) return { redirect: provePath(order, 'coupon'), setCookie: keep(call, submitted, {}) }
    const { coupon: _applied, ...values } = submitted.values
    return again(call, { ...submitted, values }, {})
  } catch (error) {
    return answerRefusal(call, submitted, error)
  }
}

async function applyVatId(call: PageCall, submitted: Submitted): Promise<PageReply> {
  try {
    const { order, values } = submitted
    const { vatId = '', firstName = '', lastName = '' } = values
    const by = { addressKey: call.addressKey, visitor: visitorOf(call, order), name: `${firstName} ${lastName}` }
    await takeVatId(call.app, order.id, vatId, by)
    return again(call, submitted, {})
  } catch (error) {
    return answerRefusal(call, submitted, error)
  }
}

/** The form has the fields of the address at its top level. */
function byField(errors: FieldErrors): FieldErrors {
  return Object.fromEntries(
    Object.entries(errors).map(([path, messages]) => [path.replace(/^address\./, ''), messages])
  )
}

function answerRefusal(call: PageCall, submitted: Submitted, error: unknown): PageReply {
  if (!(error instanceof AppError)) throw error
  switch (error.code) {
    case 'VALIDATION_FAILED': {
      const { fieldErrors: said = {} } = translateDetails(call.app, error.details)
      const { total, ...errors } = fieldErrors.parse(said)
      return again(call, submitted, { errors, message: total?.join(' ') ?? null })
    }
    case 'NOT_AUTHENTICATED':
      return {
        redirect: provePath(submitted.order, submitted.isChange ? 'change' : 'pay'),
        setCookie: keep(call, submitted, {})
      }
    case 'RATE_LIMITED':
      return again(call, submitted, { errors: { coupon: [siteOf(call.app).t('invalid.tooManyCodes')] } })
    case 'CHECKOUT_FAILED':
      return again(call, submitted, { message: translate(call.app, error.message) })
    case 'TRANSITION_REFUSED':
      return {
        redirect: `${pathOf(submitted.order)}?gone`,
        setCookie: keep(call, { ...submitted, values: {} }, { message: goneText(call.app, error) })
      }
    default:
      throw error
  }
}

/** Shows the form again, with what was typed. The redirect keeps Back, Forward and a reload from sending the form again. */
function again(call: PageCall, submitted: Submitted, said: Partial<Draft>): PageReply {
  const { order, isChange } = submitted
  return { redirect: `${pathOf(order)}${isChange ? '?change' : ''}`, setCookie: keep(call, submitted, said) }
}

/** Keeps what was typed, and that this browser gave the order its email. */
function keep(call: PageCall, { order, values }: Submitted, said: Partial<Draft>): string {
  const { email } = getOrder(call.app.db, order.id)
  const isGiven = email !== null && email !== order.email
  const gaveEmail = isGiven ? email : readDraft(call, order).gaveEmail
  return draftCookie(call, order, { ...emptyDraft, values, gaveEmail, ...said })
}

/** Where the buyer goes who has nothing to pay on a gateway's page. */
function afterwards({ app, now }: PageCall, order: OrderRow): string {
  const buyerStatus = buyerStatusOf(app.db, order, now)
  if (isOver(buyerStatus)) return pathOf(order)
  return backUrl(app.db, order, buyerStatus) ?? `/checkout/done/${order.publicToken}`
}

/** Names the products and coupons of a failed order that are no longer available. */
function goneText(app: App, { details }: AppError): string | null {
  const { gone } = details
  return Array.isArray(gone) && gone.length > 0 ? siteOf(app).t('pay.goneItems', { names: gone.join(', ') }) : null
}

/** The page of a failed order whose stock or coupon is no longer available. */
function gonePage(call: PageCall, order: OrderRow): PageReply {
  const { app, now } = call
  const back = backUrl(app.db, order, buyerStatusOf(app.db, order, now))
  const { t } = siteOf(app)
  const reason = readDraft(call, order).message ?? t('pay.goneSome')
  const links = back === null ? homeLinks(app) : [{ label: t('link.shop'), url: back }]
  return shopPage(app, message(t('pay.gone'), `${reason} ${t('pay.goneText')}`, links, 410))
}

/** Whether the order can never be paid again. */
function isOver(buyerStatus: BuyerStatus): boolean {
  return buyerStatuses[buyerStatus].released && !canBePaid(buyerStatus)
}
