import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { addressLabels, packingSlips } from '../../operations/packing/pack-list.ts'
import { parseOpenPeriod } from '../../operations/reports/days.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { toMinor } from '../../platform/money.ts'
import { postalLines } from '../../platform/postal/address.ts'
import { findSold, listAllOrders, showOrder } from '../../shop/customers/admin-orders.ts'
import type { AdminOrder, HistoryEntry, OrderRecord } from '../../shop/customers/admin-orders.ts'
import { documentsOf } from '../../shop/invoices/find.ts'
import { documentName } from '../../shop/invoices/text.ts'
import { resendable, resendEmail } from '../../shop/mailer/resend.ts'
import { getOrder, itemsOf } from '../../shop/orders/find.ts'
import type { WantedRefund } from '../../shop/orders/refunds/refund-lines.ts'
import { reasonInput, returnedUnits } from '../../shop/orders/refunds/refund-lines.ts'
import { isReleasedStatus, mayMove, orderStates, orderStatuses } from '../../shop/orders/states.ts'
import { completeOrder } from '../../shop/orders/transition.ts'
import { documentUrl } from '../../shop/orders/view.ts'
import { markPaid } from '../../shop/payments/attempts.ts'
import { cancelOrder } from '../../shop/payments/end-hold.ts'
import { planRefund, refundOrder } from '../../shop/payments/refund.ts'
import { acceptPayment, describePayment, findUncountedPayment } from '../../shop/payments/unexpected-payment.ts'
import { setting } from '../../shop/settings/settings.ts'
import { progressOf } from '../../shop/shipments/find.ts'
import { listOrdersToPack } from '../../shop/shipments/pack-list.ts'
import type { OrderToPack } from '../../shop/shipments/pack-list.ts'
import { expectedReturnOf, unitsGone } from '../../shop/shipments/returns.ts'
import { shipmentInput, shipOrder } from '../../shop/shipments/ship-order.ts'
import type { PageReply } from '../page.ts'
import {
  idOf,
  linesOf,
  orderAction,
  payBackText,
  quantitiesOf,
  quantityFields,
  typedQuantities
} from './order-action.ts'
import { soldCardBlocks } from './gift-cards.ts'
import { noteBlocks } from './notes.ts'
import { amountText, commandOf, page, pagesOf, shellWord, textFor, textOf } from './view.ts'
import type { Action, Block, DeskCall, DeskPage, Item } from './view.ts'
import { isAllowed } from '../../shop/desk/roles.ts'

const perPage = 25
/** As many orders as the page "to pack" lists. */
export const mostSlips = 200

export const orderPages: readonly DeskPage[] = [
  { path: /^\/desk\/orders$/, name: '/desk/orders', needs: 'orders', show: showOrders },
  { path: /^\/desk\/orders\/([1-9]\d{0,14})$/, name: '/desk/orders/:id', needs: 'orders', show: showOne },
  { path: /^\/desk\/pack\/slips$/, name: '/desk/pack/slips', needs: 'orders', show: showAllSlips },
  { path: /^\/desk\/orders\/([1-9]\d{0,14})\/slip$/, name: '/desk/orders/:id/slip', needs: 'orders', show: showSlip },
  { path: /^\/desk\/orders\/([1-9]\d{0,14})\/label$/, name: '/desk/orders/:id/label', needs: 'orders', show: showLabel }
]

function showOrders(call: DeskCall): PageReply {
  const { app, query, words } = call
  const { t } = words
  const [status, product] = [textOf(query, 'status'), textOf(query, 'product')]
  const days = { from: textOf(query, 'from'), to: textOf(query, 'to') }
  const { orders, nextCursor } = listAllOrders(app.db, {
    ...parseOpenPeriod(app.db, Object.fromEntries(Object.entries(days).filter(([, day]) => day !== undefined))),
    status: orderStatuses.find((each) => each === status),
    search: textOf(query, 'search'),
    ...(product === undefined ? {} : { sold: findSold(app.db, product) }),
    cursor: textOf(query, 'cursor'),
    limit: perPage
  })
  const field = (name: string, label: string, type: string, rest: object = {}) => ({
    name,
    label,
    type,
    value: query.get(name) ?? '',
    ...rest
  })
  const states = orderStatuses.map((value) => ({ value, label: textFor(call, 'desk.state', value) }))
  return page(call, {
    title: t('orders'),
    blocks: [
      {
        kind: 'links',
        links: [
          { label: t('desk.toPack'), url: '/desk/pack' },
          ...(isAllowed(call.visit.actor, 'orders.handle')
            ? [{ label: t('desk.phoneOrder'), url: '/desk/orders/new' }]
            : [])
        ]
      },
      {
        kind: 'search',
        fields: [
          field('search', t('desk.searchOrders'), 'text'),
          field('status', t('desk.status'), 'text', { options: states }),
          field('product', t('desk.boughtProduct'), 'text'),
          field('from', t('desk.from'), 'date'),
          field('to', t('desk.to'), 'date')
        ]
      },
      { kind: 'list', items: orders.map((order) => orderItem(call, order)), empty: t('desk.noOrders') },
      pagesOf(call, nextCursor)
    ],
    command: commandOf('orders list', { status, product, ...days, search: textOf(query, 'search') })
  })
}

/** An order in a list. */
export function orderItem(call: DeskCall, order: AdminOrder): Item {
  const { words } = call
  const { id, status, total, currency, email, createdAt } = order
  const hasFailed = order.refundState === 'failed'
  return {
    name: words.t('desk.order', { id }),
    url: `/desk/orders/${id}`,
    state: {
      label: hasFailed ? words.t('state.refund_failed.label') : textFor(call, 'desk.state', status),
      tone: hasFailed ? 'bad' : orderStates[status].tone
    },
    amount: amountText(call, total, currency),
    hints: [email ?? words.t('desk.noEmail'), words.time(Date.parse(createdAt))]
  }
}

function showOne(call: DeskCall): PageReply {
  const { app, words } = call
  const { t } = words
  const id = idOf(call)
  const { order, history } = showOrder(app.db, id)
  const money = (amount: number): string => amountText(call, amount, order.currency)
  const facts = [
    { label: t('desk.status'), value: textFor(call, 'desk.state', order.status) },
    { label: t('desk.total'), value: money(order.total) },
    ...(order.refunded > 0 ? [{ label: t('desk.refunded'), value: money(order.refunded) }] : []),
    ...(order.refundOwed > 0 ? [{ label: t('desk.refundOwed'), value: money(order.refundOwed) }] : []),
    { label: t('desk.payment'), value: order.paymentStatus ?? '–' },
    { label: t('email'), value: order.email ?? t('desk.noEmail'), ...linkToBuyer(call, id) },
    { label: t('desk.placed'), value: words.time(Date.parse(order.createdAt)) },
    ...(order.notes ? [{ label: t('desk.note'), value: order.notes }] : [])
  ]
  const lines = order.lineItems.map((item, index) => ({
    name: `${index + 1}. ${item.quantity} × ${item.name}`,
    amount: money(item.total)
  }))
  return page(call, {
    title: t('desk.order', { id }),
    back: { label: t('orders'), url: '/desk/orders' },
    blocks: [
      { kind: 'links', links: actionsOf(call, order) },
      { kind: 'facts', rows: facts },
      { kind: 'list', title: t('desk.lines'), items: lines, empty: '' },
      ...addressBlocks(call, order),
      ...shipmentBlocks(call, order),
      ...returnBlocks(call, order),
      ...additionBlocks(call, order),
      ...soldCardBlocks(call, id),
      ...noteBlocks(call, { orderId: id }),
      ...documentBlocks(call, id),
      historyBlock(call, history)
    ],
    command: `shopstead orders show ${id}`
  })
}

/** The page about who placed an order, if there is one. */
function linkToBuyer({ app, visit }: DeskCall, id: number): { url?: string } {
  const { userId, email } = getOrder(app.db, id)
  if (!isAllowed(visit.actor, 'customers') || (userId === null && email === null)) return {}
  return { url: userId === null ? `/desk/guests/${id}` : `/desk/customers/${userId}` }
}

function addressBlocks({ words }: DeskCall, { contact, shippingAddress, billingAddress }: OrderRecord): Block[] {
  const { t } = words
  const { firstName, lastName, companyName, phone } = contact
  const person = [firstName, lastName, companyName, phone].filter(Boolean).join(' ')
  const shown = [
    { label: t('desk.contact'), value: person },
    { label: t('desk.shipTo'), value: shippingAddress === null ? '' : postalLines(shippingAddress).join(', ') },
    { label: t('desk.billTo'), value: billingAddress === null ? '' : postalLines(billingAddress).join(', ') }
  ].filter(({ value }) => value !== '')
  return shown.length === 0 ? [] : [{ kind: 'facts', rows: shown }]
}

function shipmentBlocks({ words }: DeskCall, { shipments }: OrderRecord): Block[] {
  if (shipments.length === 0) return []
  const items = shipments.map(({ shippedAt, carrier, tracking, url, lines }) => ({
    name: [carrier, tracking].filter((part) => part !== null).join(' ') || words.t('desk.parcel'),
    ...(url === null ? {} : { url }),
    hints: [words.time(Date.parse(shippedAt)), lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')]
  }))
  return [{ kind: 'list', title: words.t('desk.shipments'), items, empty: '' }]
}

const returnTones = {
  expected: 'wait',
  received: 'wait',
  refunded: 'good',
  exchanged: 'good',
  dropped: 'bad'
} as const

function returnBlocks(call: DeskCall, { returns }: OrderRecord): Block[] {
  const { words } = call
  if (returns.length === 0) return []
  const items = returns.map(({ id, state, lines, exchange }) => ({
    name: words.t('desk.returnNumber', { id }),
    state: { label: textFor(call, 'desk.returnState', state), tone: returnTones[state] },
    ...(exchange === null ? {} : { url: `/desk/orders/${exchange}` }),
    hints: [lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')]
  }))
  return [{ kind: 'list', title: words.t('order.returns'), items, empty: '' }]
}

/** The orders that add to this one, and what is due of them. */
function additionBlocks(call: DeskCall, { additions, currency }: OrderRecord): Block[] {
  const { words } = call
  if (additions.length === 0) return []
  const items = additions.map(({ id, status, due }) => ({
    name: words.t('desk.order', { id }),
    url: `/desk/orders/${id}`,
    state: { label: textFor(call, 'desk.state', status), tone: orderStates[status].tone },
    ...(due > 0 ? { amount: amountText(call, due, currency) } : {})
  }))
  return [{ kind: 'list', title: words.t('desk.additions'), items, empty: '' }]
}

function documentBlocks({ app, words }: DeskCall, id: number): Block[] {
  const order = getOrder(app.db, id)
  const rows = documentsOf(app.db, id)
  if (rows.length === 0) return []
  const items = rows.map((row) => ({
    name: documentName(row),
    url: documentUrl(app, order, row),
    amount: words.money(row.totalMinor, row.currency),
    hints: [row.date]
  }))
  return [{ kind: 'list', title: words.t('desk.documents'), items, empty: '' }]
}

function historyBlock(call: DeskCall, history: readonly HistoryEntry[]): Block {
  const { words } = call
  const items = history.map(({ at, to, by, reason }) => ({
    name: textFor(call, 'desk.state', to),
    hints: [`${words.time(Date.parse(at))} · ${by}`, reason]
  }))
  return { kind: 'list', title: words.t('desk.history'), items, empty: '' }
}

/** What can be done with an order in its state, as far as the person may. */
function actionsOf(
  { app, visit, words }: DeskCall,
  { id, status, total, refunded }: OrderRecord
): { label: string; url: string }[] {
  const { t } = words
  const mayHandle = isAllowed(visit.actor, 'orders.handle')
  const mayMoney = isAllowed(visit.actor, 'orders.money')
  const isPaid = getOrder(app.db, id).paidAt !== null
  const isToShip = status === 'processing' && progressOf(app.db, id).some(({ left }) => left > 0)
  const isOpen = !isReleasedStatus(status)
  const isExpected = expectedReturnOf(app.db, id) !== undefined
  const isGone = isPaid && unitsGone(app.db, { id, status }).some((units) => units > 0)
  const links: [boolean, string, string][] = [
    [mayHandle && isToShip, t('desk.ship'), 'ship'],
    [mayHandle && isToShip, t('desk.slip'), 'slip'],
    [mayHandle && isToShip, t('desk.label'), 'label'],
    [mayHandle && isOpen, t('desk.editOrder'), 'edit'],
    [mayMoney && isOpen && status !== 'completed', t('desk.goods'), 'goods'],
    [mayHandle && isGone && !isExpected, t('desk.return'), 'return'],
    [mayMoney && isGone, t('desk.receive'), 'receive'],
    [mayHandle && isExpected, t('desk.dropReturn'), 'drop'],
    [mayHandle && isPaid && mayMove(status, 'completed', false), t('desk.complete'), 'complete'],
    [mayMoney && !isPaid && mayMove(status, 'processing', true), t('desk.paid'), 'paid'],
    [mayMoney && isPaid && refunded < total, t('desk.refund'), 'refund'],
    [mayMoney && mayMove(status, 'cancelled', false), t('desk.cancelOrder'), 'cancel'],
    [mayHandle, t('desk.resend'), 'mail'],
    [mayHandle, t('desk.addNote'), 'note']
  ]
  return links.filter(([isShown]) => isShown).map(([, label, path]) => ({ label, url: `/desk/orders/${id}/${path}` }))
}

/** The slips of everything that is to be packed, one after the other. */
function showAllSlips({ app: { db } }: DeskCall): PageReply {
  return printed('slips.html', packingSlips(setting(db, 'shop.name'), [...listOrdersToPack(db).take(mostSlips)]))
}

function showSlip(call: DeskCall): PageReply {
  const { db } = call.app
  const id = idOf(call)
  return printed(`slip-${id}.html`, packingSlips(setting(db, 'shop.name'), toPack(db, id)))
}

function showLabel(call: DeskCall): PageReply {
  const { db } = call.app
  const id = idOf(call)
  return printed(`label-${id}.html`, addressLabels(db, toPack(db, id)))
}

/** @throws AppError CONFLICT when nothing of the order is left to ship */
function toPack(db: App['db'], id: number): OrderToPack[] {
  const orders = [...listOrdersToPack(db, id)]
  if (orders.length === 0) throw new AppError('CONFLICT', `Nothing of order ${id} is left to ship.`)
  return orders
}

function printed(name: string, html: string): PageReply {
  return { file: bytesOf(html), type: 'text/html; charset=utf-8', name }
}

export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function wantedRefund({ app }: DeskCall, form: URLSearchParams, id: number): WantedRefund {
  const { currency } = getOrder(app.db, id)
  const amount = textOf(form, 'amount')
  return {
    items: quantitiesOf(form, 'item'),
    shipping: form.has('shipping') ? 'all' : undefined,
    amountMinor: amount === undefined ? undefined : toMinor(amount, currency),
    restock: form.has('noRestock') ? 'none' : quantitiesOf(form, 'restock'),
    reason: parseWith(reasonInput, { reason: textOf(form, 'reason') }).reason
  }
}

function refundCommand(call: DeskCall, form: URLSearchParams): string {
  const option = (name: string, value: string | undefined): string =>
    value === undefined ? '' : ` --${name} ${shellWord(value)}`
  const restock = form.has('noRestock') ? ' --no-restock' : linesOf(typedQuantities(form, 'restock'), '--restock')
  const items = linesOf(typedQuantities(form, 'item'), '--item')
  const shipping = form.has('shipping') ? ' --shipping' : ''
  const byHand = form.has('byHand') ? ' --by-hand' : ''
  return `shopstead orders refund ${idOf(call)}${items}${shipping}${option('amount', textOf(form, 'amount'))}${restock}${option('reason', textOf(form, 'reason'))}${byHand}`
}

export const orderActions: readonly Action[] = [
  orderAction('ship', 'orders.handle', {
    submit: ({ words }) => words.t('desk.ship'),
    text: ({ words }) => words.t('desk.shipText'),
    rows: (call, id) => [
      [
        { name: 'carrier', label: call.words.t('desk.carrier'), hint: 'DHL, UPS, FedEx, USPS' },
        { name: 'tracking', label: call.words.t('desk.tracking') }
      ],
      ...quantityFields(call, 'item', progressOf(call.app.db, id))
    ],
    command: (call, form) => {
      const option = (name: string): string => {
        const value = textOf(form, name)
        return value === undefined ? '' : ` --${name} ${shellWord(value)}`
      }
      return `shopstead orders ship ${idOf(call)}${option('carrier')}${option('tracking')}${linesOf(typedQuantities(form, 'item'), '--items')}`
    },
    run: ({ app, by, now }, form, id) => {
      const input = {
        carrier: textOf(form, 'carrier'),
        tracking: textOf(form, 'tracking'),
        items: quantitiesOf(form, 'item')
      }
      shipOrder(app.db, id, parseWith(shipmentInput, input), by, now)
    }
  }),
  orderAction('complete', 'orders.handle', {
    submit: ({ words }) => words.t('desk.complete'),
    text: ({ words }) => words.t('desk.completeText'),
    command: (call) => `shopstead orders complete ${idOf(call)}`,
    run: ({ app, by, now }, _form, id) => completeOrder(app.db, id, by, now)
  }),
  orderAction('paid', 'orders.money', {
    submit: ({ words }) => words.t('desk.paid'),
    text: ({ words }) => words.t('desk.paidText'),
    rows: ({ words }) => [
      [{ name: 'on', label: words.t('desk.paidOn'), type: 'date', hint: words.t('desk.paidOnHint') }]
    ],
    confirm: async ({ app, words, params }) => {
      const { id, totalMinor, currency } = getOrder(app.db, Number(params[0]))
      const payment = await findUncountedPayment(app, id)
      if (payment !== undefined) return describePayment(app, payment)
      return words.t('desk.paidSure', { id, amount: words.money(totalMinor, currency) })
    },
    command: (call, form) => commandOf(`orders paid ${idOf(call)}`, { on: textOf(form, 'on') }),
    run: async ({ app, by, now }, form, id) => {
      const payment = await findUncountedPayment(app, id)
      if (payment === undefined) return markPaid(app.db, id, by, now, textOf(form, 'on'))
      return acceptPayment(app, payment, by)
    }
  }),
  orderAction('refund', 'orders.money', {
    submit: ({ words }) => words.t('desk.refund'),
    text: ({ words }) => words.t('desk.refundText'),
    rows: (call, id) => {
      const { t } = call.words
      const returned = returnedUnits(call.app.db, id)
      const lines = itemsOf(call.app.db, id).map((item, index) => ({
        line: index + 1,
        name: item.name,
        left: item.quantity - (returned.get(item.id) ?? 0)
      }))
      return [
        ...quantityFields(call, 'item', lines),
        [{ name: 'shipping', label: t('desk.refundShipping'), type: 'tick' }],
        [{ name: 'amount', label: t('desk.refundAmount'), hint: t('desk.refundAmountHint') }],
        [{ name: 'noRestock', label: t('desk.noRestock'), type: 'tick' }],
        [{ name: 'reason', label: t('desk.reason') }],
        [{ name: 'byHand', label: t('desk.byHand'), type: 'tick' }]
      ]
    },
    confirm: async (call, form) => {
      const id = idOf(call)
      const byHand = form.has('byHand')
      const plan = await planRefund(call.app, id, wantedRefund(call, form, id), { byHand })
      const amount = call.words.money(plan.amountMinor, plan.currency)
      if (plan.way === 'by_hand') return call.words.t('desk.refundByHandSure', { amount, id })
      return [call.words.t('desk.refundSure', { amount, id }), ...payBackText(call, plan)].join(' ')
    },
    command: refundCommand,
    run: (call, form, id) =>
      refundOrder(call.app, id, wantedRefund(call, form, id), call.by, { byHand: form.has('byHand') })
  }),
  orderAction('cancel', 'orders.money', {
    submit: ({ words }) => words.t('desk.cancelOrder'),
    text: ({ words }) => words.t('desk.cancelText'),
    confirm: ({ app, words, params }) => {
      const { id, totalMinor, currency } = getOrder(app.db, Number(params[0]))
      return words.t('desk.cancelSure', { id, amount: words.money(totalMinor, currency) })
    },
    command: (call) => `shopstead orders cancel ${idOf(call)}`,
    run: ({ app, by }, _form, id) => cancelOrder(app, id, by)
  }),
  orderAction('mail', 'orders.handle', {
    submit: ({ words }) => words.t('desk.resend'),
    rows: (call) => [
      [
        {
          name: 'template',
          label: call.words.t('desk.email'),
          options: resendable.map((value) => ({ value, label: textFor(call, 'desk.mail', value) })),
          hint: call.words.t('desk.emailUsual')
        }
      ]
    ],
    command: (call, form) => {
      const template = textOf(form, 'template')
      return `shopstead mail resend ${idOf(call)}${template === undefined ? '' : ` --template ${shellWord(template)}`}`
    },
    run: ({ app, now }, form, id) =>
      resendEmail(
        app,
        id,
        resendable.find((name) => name === textOf(form, 'template')),
        now
      )
  })
]
