import type { App } from '../../app.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { toMinor } from '../../platform/money.ts'
import { shipToOf } from '../../platform/postal/address.ts'
import { findNamedItems, nameItem } from '../../shop/checkout/phone-order.ts'
import { addNote } from '../../shop/customers/notes.ts'
import { changeOrder, planChange } from '../../shop/corrections/change-order.ts'
import type { OrderEdits } from '../../shop/corrections/change-order.ts'
import { noChange } from '../../shop/corrections/change-paid.ts'
import type { Changed } from '../../shop/corrections/change-paid.ts'
import { buyerEdits } from '../../shop/corrections/edit-order.ts'
import { askForReturn, planReturn, settleReturn } from '../../shop/corrections/settle-return.ts'
import type { ReceivedGoods } from '../../shop/corrections/settle-return.ts'
import { getOrder, itemsOf } from '../../shop/orders/find.ts'
import { reasonInput, returnedUnits } from '../../shop/orders/refunds/refund-lines.ts'
import { dropReturn, expectedReturnOf, linesOfReturn, unitsGone } from '../../shop/shipments/returns.ts'
import type { Field, Known } from '../storefront/form-view.ts'
import {
  idOf,
  linesOf,
  namedItems,
  orderAction,
  payBackText,
  quantitiesOf,
  quantityFields,
  typedItems,
  typedQuantities
} from './order-action.ts'
import { noteCommand, noteRows } from './notes.ts'
import { commandOf, refuseField, textOf } from './view.ts'
import type { Action, DeskCall } from './view.ts'

const holdMinutes = 24 * 60

/** The fields about the buyer of an order, with the options of the command. */
const buyerFields = {
  email: 'email',
  firstName: 'first-name',
  lastName: 'last-name',
  company: 'company',
  phone: 'phone',
  address1: 'address1',
  address2: 'address2',
  postcode: 'postcode',
  city: 'city',
  state: 'state',
  country: 'country'
} as const

function knownBuyer({ app }: DeskCall, id: number): Known {
  const order = getOrder(app.db, id)
  const { email, contact } = order
  const { firstName, lastName, companyName, phone } = contact
  const { address1, address2, postcode, city, state, country } = shipToOf(order) ?? order.shippingAddress ?? {}
  const place = { address1, address2, postcode, city, state, country }
  return { email, firstName, lastName, company: companyName, phone, ...place }
}

/** The fields whose text is another one now. */
function changedBuyer(call: DeskCall, form: URLSearchParams): Record<string, string> {
  const known = knownBuyer(call, idOf(call))
  return Object.fromEntries(
    Object.keys(buyerFields).flatMap((name) => {
      const text = form.get(name)?.trim()
      return text === undefined || text === (known[name] ?? '') ? [] : [[name, text]]
    })
  )
}

function buyerRows({ words }: DeskCall): Field[][] {
  const { t } = words
  return [
    [{ name: 'email', label: t('email'), type: 'email' }],
    [
      { name: 'firstName', label: t('firstName') },
      { name: 'lastName', label: t('lastName') }
    ],
    [
      { name: 'company', label: t('account.company') },
      { name: 'phone', label: t('account.phone'), type: 'tel' }
    ],
    [{ name: 'address1', label: t('desk.street') }],
    [{ name: 'address2', label: t('desk.address2') }],
    [
      { name: 'postcode', label: t('desk.postcode') },
      { name: 'city', label: t('desk.city') }
    ],
    [
      { name: 'state', label: t('desk.region') },
      { name: 'country', label: t('desk.country'), hint: t('desk.countryHint') }
    ]
  ]
}

/** How many units of each line the buyer has, or will get. */
function knownQuantities({ app }: DeskCall, id: number): number[] {
  const returned = returnedUnits(app.db, id)
  return itemsOf(app.db, id).map((item) => item.quantity - (returned.get(item.id) ?? 0))
}

/** The lines for which another quantity was typed. */
function typedLines(call: DeskCall, form: URLSearchParams): { line: number; text: string }[] {
  return knownQuantities(call, idOf(call)).flatMap((known, index) => {
    const text = textOf(form, `line-${index + 1}`)
    return text === undefined || text === String(known) ? [] : [{ line: index + 1, text }]
  })
}

/** The lines that have another quantity now. @throws AppError VALIDATION_FAILED */
function changedLines(call: DeskCall, form: URLSearchParams): OrderEdits['lines'] {
  return typedLines(call, form).map(({ line, text }) => {
    if (!/^\d{1,6}$/.test(text)) throw refuseField(`line-${line}`, call.words.t('desk.wholeNumber'))
    return { line, quantity: Number(text) }
  })
}

function goodsOf(call: DeskCall, form: URLSearchParams): OrderEdits {
  const shippingMethod = textOf(form, 'shippingMethod')
  return {
    buyer: parseWith(buyerEdits, shippingMethod === undefined ? {} : { shippingMethod }),
    lines: changedLines(call, form),
    add: findNamedItems(call.app.db, namedItems(call, form, 'items')),
    holdMinutes
  }
}

function goodsCommand(call: DeskCall, form: URLSearchParams): string {
  const typed = typedLines(call, form)
  return commandOf(`orders edit ${idOf(call)}`, {
    line: typed.filter(({ text }) => text !== '0').map(({ line, text }) => `${line}:${text}`),
    remove: typed.filter(({ text }) => text === '0').map(({ line }) => String(line)),
    add: typedItems(form, 'items'),
    'shipping-method': textOf(form, 'shippingMethod')
  })
}

/** What a person has to confirm, with the money that goes back, and what the buyer pays. */
function sureText(
  call: DeskCall,
  question: string,
  currency: string,
  { refundMinor, byHandMinor, dueMinor }: Changed
): string {
  const { words } = call
  const parts = [
    ...(refundMinor > 0 ? [words.t('desk.goesBack', { amount: words.money(refundMinor, currency) })] : []),
    ...payBackText(call, { byHandMinor, currency }),
    ...(dueMinor > 0 ? [words.t('desk.buyerPays', { amount: words.money(dueMinor, currency) })] : [])
  ]
  return [question, ...parts].join(' ')
}

/** What the buyer has, and can send back. */
function goneFields(call: DeskCall, id: number): Field[][] {
  const { app } = call
  const gone = unitsGone(app.db, getOrder(app.db, id))
  const lines = itemsOf(app.db, id).map(({ name }, index) => ({ line: index + 1, name, left: gone[index] ?? 0 }))
  return quantityFields(call, 'item', lines)
}

function exchangeField({ words }: DeskCall): Field[] {
  return [{ name: 'exchange', label: words.t('desk.exchange'), type: 'long', hint: words.t('desk.exchangeHint') }]
}

/** What the buyer gets instead; nothing typed is a refund. */
function exchangeOf(call: DeskCall, form: URLSearchParams): NonNullable<ReceivedGoods['exchange']> {
  return findNamedItems(call.app.db, namedItems(call, form, 'exchange'))
}

/** What is expected, as the form shows it. */
function knownReturn({ app }: { app: App }, id: number): Known {
  const row = expectedReturnOf(app.db, id)
  if (row === undefined) return {}
  const lines = linesOfReturn(app.db, row).map(({ line, quantity }) => [`item-${line}`, String(quantity)])
  const exchange = row.exchange.map((item) => nameItem(app.db, item)).join('\n')
  return { ...Object.fromEntries(lines), exchange }
}

function receivedGoods(call: DeskCall, form: URLSearchParams): ReceivedGoods {
  const { app, words } = call
  const { currency } = getOrder(app.db, idOf(call))
  const items = quantitiesOf(form, 'item')
  if (items === undefined) throw refuseField('items', words.t('desk.returnNothing'))
  const shipping = textOf(form, 'shipping')
  return {
    items,
    exchange: exchangeOf(call, form),
    restock: form.has('restock') ? 'all' : undefined,
    shipping: shipping === undefined ? undefined : toMinor(shipping, currency),
    reason: parseWith(reasonInput, { reason: textOf(form, 'reason') }).reason,
    byHand: form.has('byHand'),
    holdMinutes
  }
}

function returnCommand(call: DeskCall, form: URLSearchParams, options: Parameters<typeof commandOf>[1] = {}): string {
  const items = linesOf(typedQuantities(form, 'item'), '--item')
  return commandOf(`orders return ${idOf(call)}${items}`, { exchange: typedItems(form, 'exchange'), ...options })
}

export const orderChanges: readonly Action[] = [
  orderAction('edit', 'orders.handle', {
    submit: ({ words }) => words.t('desk.editOrder'),
    text: ({ words }) => words.t('desk.editOrderText'),
    rows: buyerRows,
    known: knownBuyer,
    command: (call, form) => {
      const changed = changedBuyer(call, form)
      const options = Object.entries(buyerFields).map(([name, option]) => [option, changed[name]])
      return commandOf(`orders edit ${idOf(call)}`, Object.fromEntries(options))
    },
    run: (call, form, id) => {
      const buyer = parseWith(buyerEdits, changedBuyer(call, form))
      return changeOrder(call.app, id, { buyer, lines: [], add: [], holdMinutes }, call.by)
    }
  }),
  orderAction('note', 'orders.handle', {
    submit: ({ words }) => words.t('desk.addNote'),
    text: ({ words }) => words.t('desk.addNoteText'),
    rows: noteRows,
    command: (call, form) => noteCommand('orders', idOf(call), form),
    run: ({ app, by, now }, form, orderId) => addNote(app.db, { orderId }, form.get('text') ?? '', by, now)
  }),
  orderAction('goods', 'orders.money', {
    submit: ({ words }) => words.t('desk.goods'),
    text: ({ words }) => words.t('desk.goodsText'),
    rows: (call, id) => [
      ...itemsOf(call.app.db, id).map(({ name }, index) => [
        { name: `line-${index + 1}`, label: `${index + 1}. ${name}` }
      ]),
      [
        {
          name: 'items',
          label: call.words.t('desk.addGoods'),
          type: 'long' as const,
          hint: call.words.t('desk.itemsHint')
        }
      ],
      [{ name: 'shippingMethod', label: call.words.t('desk.otherMethod') }]
    ],
    known: (call, id) =>
      Object.fromEntries(knownQuantities(call, id).map((count, index) => [`line-${index + 1}`, String(count)])),
    confirm: (call, form) => {
      const id = idOf(call)
      const { paidAt, currency } = getOrder(call.app.db, id)
      const edits = goodsOf(call, form)
      const plan = paidAt === null ? noChange : planChange(call.app, id, edits, call.by)
      return sureText(call, call.words.t('desk.goodsSure', { id }), currency, plan)
    },
    command: goodsCommand,
    run: (call, form, id) => changeOrder(call.app, id, goodsOf(call, form), call.by)
  }),
  orderAction('return', 'orders.handle', {
    submit: ({ words }) => words.t('desk.return'),
    text: ({ words }) => words.t('desk.returnText'),
    rows: (call, id) => [...goneFields(call, id), exchangeField(call)],
    command: (call, form) => returnCommand(call, form),
    run: (call, form, id) => {
      const items = quantitiesOf(form, 'item')
      if (items === undefined) throw refuseField('items', call.words.t('desk.returnNothing'))
      askForReturn(call.app, id, { items, exchange: exchangeOf(call, form) }, call.by)
    }
  }),
  orderAction('receive', 'orders.money', {
    submit: ({ words }) => words.t('desk.receive'),
    text: ({ words }) => words.t('desk.receiveText'),
    rows: (call, id) => [
      ...goneFields(call, id),
      exchangeField(call),
      [{ name: 'restock', label: call.words.t('desk.restock'), type: 'tick' }],
      [{ name: 'shipping', label: call.words.t('desk.returnShipping'), hint: call.words.t('desk.returnShippingHint') }],
      [{ name: 'reason', label: call.words.t('desk.reason') }],
      [{ name: 'byHand', label: call.words.t('desk.byHand'), type: 'tick' }]
    ],
    known: knownReturn,
    confirm: (call, form) => {
      const id = idOf(call)
      const plan = planReturn(call.app, id, receivedGoods(call, form), call.by)
      return sureText(call, call.words.t('desk.receiveSure', { id }), getOrder(call.app.db, id).currency, plan)
    },
    command: (call, form) =>
      returnCommand(call, form, {
        received: true,
        restock: form.has('restock') ? true : undefined,
        shipping: textOf(form, 'shipping'),
        reason: textOf(form, 'reason'),
        'by-hand': form.has('byHand') ? true : undefined
      }),
    run: (call, form, id) => settleReturn(call.app, id, receivedGoods(call, form), call.by)
  }),
  orderAction('drop', 'orders.handle', {
    submit: ({ words }) => words.t('desk.dropReturn'),
    text: ({ words }) => words.t('desk.dropReturnText'),
    command: (call) => commandOf(`orders return ${idOf(call)}`, { drop: true }),
    run: ({ app, by, now }, _form, id) => dropReturn(app.db, id, by, now)
  })
]
