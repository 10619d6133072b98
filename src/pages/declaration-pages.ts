import type { z } from 'zod'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import type { FieldErrors } from '../errors.ts'
import { rawTarget } from '../platform/http/client-address.ts'
import { toFieldErrors } from '../platform/http/validation.ts'
import { declareCancellation, declareWithdrawal } from '../shop/declarations/declare.ts'
import type { DeclarationRow } from '../shop/declarations/find.ts'
import { cancellationInput, withdrawalInput } from '../shop/declarations/input.ts'
import type { WithdrawalInput } from '../shop/declarations/input.ts'
import { declarationFacts, messageTitle } from '../shop/mailer/declaration-email.ts'
import { getOrderByPublicToken, itemsOf } from '../shop/orders/find.ts'
import type { OrderRow } from '../shop/orders/find.ts'
import { readForm } from './page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { homeLinks, shopPage, siteOf, withdrawPath, cancelPath } from './shop-site.ts'
import { formView, sheet } from './storefront/form-view.ts'
import type { Field, Known, Outcome } from './storefront/form-view.ts'
import type { Site } from './storefront/site.ts'

/**
 * Where buyers withdraw from a contract in two steps, and cancel a subscription, without a login (directive 2011/83/EU,
 * article 11a; § 312k BGB). Nothing is declared by GET.
 */
export const declarationPages: readonly PageRoute[] = [
  { method: 'GET', path: /^\/withdraw$/, name: withdrawPath, handle: (call) => withdrawForm(call, orderOf(call), {}) },
  { method: 'POST', path: /^\/withdraw$/, name: withdrawPath, handle: withdraw },
  { method: 'GET', path: /^\/cancel-contract$/, name: cancelPath, handle: (call) => cancelForm(call, {}) },
  { method: 'POST', path: /^\/cancel-contract$/, name: cancelPath, handle: cancel }
]

/** The order whose page links here; null without one. @throws AppError NOT_FOUND */
function orderOf({ app, request }: PageCall): OrderRow | null {
  const token = new URLSearchParams(rawTarget(request).split('?')[1] ?? '').get('order')
  return token === null ? null : getOrderByPublicToken(app.db, token)
}

function withdrawForm({ app }: PageCall, order: OrderRow | null, outcome: Outcome): PageReply {
  const site = siteOf(app)
  const { t } = site
  const lines = order === null ? [] : itemsOf(app.db, order.id)
  const ticks: Field[] = lines.map(({ id, quantity, name }) => ({
    name: lineName(id),
    label: quantity > 1 ? `${quantity} × ${name}` : name,
    type: 'tick'
  }))
  const rows: Field[][] = [
    ...ticks.map((tick) => [tick]),
    ...(order === null ? [[contractField(t('declare.contract'), site)]] : []),
    ...personFields(site),
    [{ name: 'message', label: t(order === null ? 'withdraw.message' : 'withdraw.note'), type: 'long' }]
  ]
  const known: Known = Object.fromEntries(ticks.map(({ name }) => [name, true]))
  const blank = { action: 'review', submit: t('withdraw.review'), rows, to: withdrawTo(order) }
  const form = formView(blank, outcome, known)
  const title = t(order === null ? 'withdraw.link' : 'withdraw.which')
  return shopPage(app, sheet(outcome.status ?? 200, title, { text: t('withdraw.text'), form, links: homeLinks(app) }))
}

const lineName = (id: number): string => `line-${id}`
const withdrawTo = (order: OrderRow | null): string =>
  order === null ? withdrawPath : `${withdrawPath}?order=${order.publicToken}`

function personFields({ t }: Site): Field[][] {
  return [
    [{ name: 'name', label: t('declare.name'), autocomplete: 'name', required: true }],
    [{ name: 'email', label: t('declare.email'), type: 'email', autocomplete: 'email', required: true }]
  ]
}

function contractField(label: string, { t }: Site): Field {
  return { name: 'contract', label, required: true, hint: t('declare.contractHint') }
}

/** The form, its review, and the confirmation; each step checks the input again. */
async function withdraw(call: PageCall): Promise<PageReply> {
  const { app, request } = call
  const order = orderOf(call)
  const form = await readForm(request)
  const typed = Object.fromEntries(form)
  if (form.get('action') === 'change') return withdrawForm(call, order, { typed })
  const parsed = withdrawalInput(siteOf(app).t).safeParse(withdrawalOf(app, order, typed))
  if (!parsed.success) return withdrawForm(call, order, { status: 422, typed, ...refusalOf(parsed.error) })
  if (form.get('action') !== 'confirm') return review(app, order, parsed.data, typed)
  try {
    return received(app, await declareWithdrawal(app, parsed.data, order?.publicToken ?? null, call))
  } catch (error) {
    return withdrawForm(call, order, { typed, ...tooOften(error, siteOf(app)) })
  }
}

function withdrawalOf(app: App, order: OrderRow | null, typed: Readonly<Record<string, string>>): object {
  const chosen = order === null ? null : itemsOf(app.db, order.id).filter(({ id }) => lineName(id) in typed)
  return {
    message: '',
    ...typed,
    ...(order === null ? {} : { contract: String(order.id) }),
    itemIds: chosen?.map(({ id }) => id) ?? null
  }
}

/** The second step: what is declared, and the button that declares it. */
function review(
  app: App,
  order: OrderRow | null,
  { name, email, contract, itemIds, message }: WithdrawalInput,
  typed: Readonly<Record<string, string>>
): PageReply {
  const { t } = siteOf(app)
  const chosen = order === null ? [] : itemsOf(app.db, order.id).filter(({ id }) => itemIds?.includes(id))
  const products = chosen.map((line) => `${line.quantity} × ${line.name}`).join(', ')
  const written =
    message === null ? [] : [{ label: messageTitle(app, { kind: 'withdrawal', itemIds }), value: message }]
  const facts = [
    { label: t('declare.contract'), value: contract },
    ...(products === '' ? [] : [{ label: t('declare.products'), value: products }]),
    ...(products === '' && message === null ? [{ label: t('declare.products'), value: t('declare.everything') }] : []),
    ...written,
    { label: t('declare.name'), value: name },
    { label: t('declare.email'), value: email }
  ]
  const { action: _action, ...kept } = typed
  const data = {
    text: t('withdraw.reviewText'),
    facts,
    notes: [],
    form: { to: withdrawTo(order), kept, confirm: t('withdraw.confirm'), change: t('declare.change') },
    links: []
  }
  return shopPage(app, { template: 'declaration', title: t('withdraw.title'), data })
}

function cancelForm({ app }: PageCall, outcome: Outcome): PageReply {
  const site = siteOf(app)
  const { t } = site
  const rows: Field[][] = [
    [contractField(t('cancel.contract'), site)],
    ...personFields(site),
    [{ name: 'wantedEnd', label: t('cancel.end'), type: 'date' }],
    [{ name: 'isForCause', label: t('cancel.cause'), type: 'tick' }],
    [{ name: 'message', label: t('cancel.message'), type: 'long' }]
  ]
  const form = formView({ action: 'confirm', submit: t('cancel.confirm'), rows, to: cancelPath }, outcome)
  const data = { text: t('cancel.text'), form, links: homeLinks(app) }
  return shopPage(app, sheet(outcome.status ?? 200, t('cancel.link'), data))
}

async function cancel(call: PageCall): Promise<PageReply> {
  const { app, request } = call
  const form = await readForm(request)
  const typed = Object.fromEntries(form)
  const given = { message: '', wantedEnd: '', ...typed, isForCause: form.has('isForCause') }
  const parsed = cancellationInput(siteOf(app).t).safeParse(given)
  if (!parsed.success) return cancelForm(call, { status: 422, typed, ...refusalOf(parsed.error) })
  try {
    return received(app, await declareCancellation(app, parsed.data, call))
  } catch (error) {
    return cancelForm(call, { typed, ...tooOften(error, siteOf(app)) })
  }
}

/** What arrived and when, on a page that the buyer can keep. */
function received(app: App, row: DeclarationRow): PageReply {
  const { t } = siteOf(app)
  const { kind, message, email } = row
  const written = message === null ? [] : [{ label: messageTitle(app, row), value: message }]
  const data = {
    text: null,
    facts: [...declarationFacts(app, row), ...written],
    notes: [
      ...(row.orderId === null ? [t('mail.declaration.unknown')] : []),
      t('declare.sent', { email: email ?? '' }),
      t('declare.keep')
    ],
    form: null,
    links: homeLinks(app)
  }
  return shopPage(app, {
    template: 'declaration',
    title: t(kind === 'withdrawal' ? 'withdraw.done' : 'cancel.done'),
    data
  })
}

/** The errors at their fields; one that belongs to no field, such as a choice of products, stands above the form. */
function refusalOf(error: z.ZodError): Pick<Outcome, 'refused' | 'error'> {
  const { itemIds, ...refused }: FieldErrors = toFieldErrors(error)
  return { refused, error: itemIds?.join(' ') ?? null }
}

function tooOften(error: unknown, { t }: Site): Pick<Outcome, 'status' | 'error'> {
  if (!(error instanceof AppError) || error.code !== 'RATE_LIMITED') throw error
  return { status: error.status, error: t('declare.tooOften') }
}
