import { showOrder } from '../../shop/customers/admin-orders.ts'
import { readNamedItem } from '../../shop/checkout/phone-order.ts'
import { getOrder } from '../../shop/orders/find.ts'
import type { LineQuantity } from '../../shop/orders/refunds/refund-lines.ts'
import type { Field, Known } from '../storefront/form-view.ts'
import { refuseField } from './view.ts'
import type { Action, DeskCall } from './view.ts'

/** The order that the path names. */
export function idOf({ params }: DeskCall): number {
  return Number(params[0])
}

/** An action on one order, which is refused when the order has changed since its form was shown. */
export function orderAction(
  verb: string,
  needs: Action['needs'],
  {
    rows = () => [],
    known = () => ({}),
    text,
    submit,
    ...rest
  }: {
    rows?: (call: DeskCall, id: number) => Field[][]
    known?: (call: DeskCall, id: number) => Known
    text?: (call: DeskCall, id: number) => string
    submit: (call: DeskCall) => string
    confirm?: Action['confirm']
    command: Action['command']
    run: (call: DeskCall, form: URLSearchParams, id: number) => unknown
  }
): Action {
  return {
    path: new RegExp(`^/desk/orders/([1-9]\\d{0,14})/${verb}$`),
    name: `/desk/orders/:id/${verb}`,
    needs,
    form: (call) => {
      const id = idOf(call)
      const label = call.words.t('desk.order', { id: getOrder(call.app.db, id).id })
      const about = text === undefined ? {} : { text: text(call, id) }
      return {
        title: submit(call),
        ...about,
        rows: rows(call, id),
        known: known(call, id),
        submit: submit(call),
        back: { label, url: `/desk/orders/${id}` }
      }
    },
    version: (call) => JSON.stringify(showOrder(call.app.db, idOf(call))),
    ...(rest.confirm === undefined ? {} : { confirm: rest.confirm }),
    command: rest.command,
    run: async (call, form) => {
      const id = idOf(call)
      await rest.run(call, form, id)
      return `/desk/orders/${id}`
    }
  }
}

/** What a person has to know of a refund that the shop pays back itself, as a whole or in part. */
export function payBackText({ words }: DeskCall, plan: { byHandMinor: number; currency: string }): string[] {
  const { byHandMinor, currency } = plan
  return byHandMinor > 0 ? [words.t('desk.payBack', { amount: words.money(byHandMinor, currency) })] : []
}

/** The fields with the quantities of an order's lines. Their names begin with `prefix`. */
export function quantityFields(
  { words }: DeskCall,
  prefix: string,
  lines: readonly { line: number; name: string; left: number }[]
): Field[][] {
  return lines
    .filter(({ left }) => left > 0)
    .map(({ line, name, left }) => [
      { name: `${prefix}-${line}`, label: `${line}. ${name}`, hint: words.t('desk.upTo', { count: left }) }
    ])
}

/** The quantities that were typed; undefined if none was. @throws AppError VALIDATION_FAILED */
export function quantitiesOf(form: URLSearchParams, prefix: string): LineQuantity[] | undefined {
  const found = [...form].flatMap(([name, value]) => {
    const line = name.startsWith(`${prefix}-`) ? Number(name.slice(prefix.length + 1)) : Number.NaN
    if (Number.isNaN(line) || value.trim() === '' || value.trim() === '0') return []
    if (!/^[1-9]\d{0,8}$/.test(value.trim())) throw refuseField(name, 'Must be a whole number such as 1.')
    return [{ line, quantity: Number(value.trim()) }]
  })
  return found.length === 0 ? undefined : found
}

/** Quantities of lines as an option of a command. */
export const linesOf = (lines: readonly LineQuantity[] | undefined, option: string): string =>
  lines === undefined ? '' : ` ${option} ${lines.map(({ line, quantity }) => `${line}:${quantity}`).join(' ')}`

/** The quantities for a command, which is also shown when one of them is wrong. */
export function typedQuantities(form: URLSearchParams, prefix: string): LineQuantity[] | undefined {
  try {
    return quantitiesOf(form, prefix)
  } catch {
    return undefined
  }
}

/** `mug:2`, or `shirt/RED-M:1` for a variation, one on each line. @throws AppError VALIDATION_FAILED */
export function namedItems(
  { words }: DeskCall,
  form: URLSearchParams,
  field: string
): NonNullable<ReturnType<typeof readNamedItem>>[] {
  return typedItems(form, field).map((line) => {
    const item = readNamedItem(line)
    if (item === undefined) throw refuseField(field, `${line}: ${words.t('desk.itemsHint')}`)
    return item
  })
}

/** The lines of a field with items, for a command. */
export function typedItems(form: URLSearchParams, field: string): string[] {
  return (form.get(field) ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
}
