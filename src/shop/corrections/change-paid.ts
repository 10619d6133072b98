import { eq } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { formatMoney, shareMinor } from '../../platform/money.ts'
import { destinationOf } from '../../platform/postal/address.ts'
import { needsShipping } from '../catalog/product-types.ts'
import type { Item } from '../checkout/cart.ts'
import { shippingChoice, toChosenShipping } from '../checkout/shipping.ts'
import type { ShopContext } from '../context.ts'
import type { ChosenShipping } from '../orders/create-order.ts'
import { dueMinor } from '../orders/refunds/credits.ts'
import { itemsOf, getOrder } from '../orders/find.ts'
import type { OrderItemRow, OrderRow } from '../orders/find.ts'
import { planRefundLines, returnedUnits } from '../orders/refunds/refund-lines.ts'
import type { LineQuantity, RefundOfThings, WantedRefund } from '../orders/refunds/refund-lines.ts'
import { orders } from '../orders/schema.ts'
import { refundableMinor, storeRefunds } from '../payments/refund.ts'
import type { StoredRefund } from '../payments/refund.ts'
import type { UnitOfWork } from '../payments/warnings.ts'
import { progressOf } from '../shipments/find.ts'
import { additionsOf, inExchange, placeAddition, rootOf } from './additions.ts'
import type { AddedLine } from './additions.ts'
import { addedLinesOf, assertLines } from './edit-lines.ts'
import type { LineEdits } from './edit-lines.ts'
import { notOffered } from './edit-order.ts'

/** What a change of a paid order gives back and adds. */
export type PaidChange = {
  /** Units of lines by their number. */
  back: readonly LineQuantity[]
  restock?: WantedRefund['restock']
  /** What is given back of the shipping. */
  shipping?: WantedRefund['shipping']
  reason?: string | undefined
  add: readonly Item[]
  /** Another shipping method. */
  methodId?: string | undefined
  /** Whether the shop sends what is added at its own cost. */
  freeShipping?: boolean
  /** How long an addition waits for its payment. */
  holdMinutes: number
  byHand?: boolean
}

/** What became of a change: the order that adds to it, what is due of that, and what goes back. */
export type Changed = { addition: OrderRow | null; dueMinor: number } & StoredRefund

const nothingBack: StoredRefund = { refundMinor: 0, giftCardMinor: 0, byHandMinor: 0, refunds: [] }
export const noChange: Changed = { addition: null, dueMinor: 0, ...nothingBack }

/**
 * Changes what a paid order contains: what comes back is given back by lines, and what is added is an order of its own
 * (additions.ts), which what comes back pays as far as it goes. The rest goes back to the buyer. While an addition waits for
 * its payment, what it replaces is neither shipped nor given back.
 *
 * @throws AppError VALIDATION_FAILED (`items`, `items.N`, `shippingMethod`); as storeRefunds
 */
export function changePaid(unit: UnitOfWork, shop: ShopContext, order: OrderRow, change: PaidChange): Changed {
  const { tx, now } = unit
  const items = itemsOf(tx, order.id)
  const returned = change.back.flatMap(({ line }) => items[line - 1] ?? [])
  const lines = addedLinesOf(tx, order, change.add, now).map((line) => inExchange(tx, order, line, returned, now))
  const { added, backMinor } = shippingOf(tx, order, change, lines)
  const back = backOf(tx, order, change, backMinor)
  if (lines.length === 0 && (added === null || added.amountMinor === 0)) {
    const shippingMethod = added?.method ?? order.shippingMethod
    tx.orm.update(orders).set({ shippingMethod }).where(eq(orders.id, order.id)).run()
    return { addition: null, dueMinor: 0, ...giveBack(unit, shop, order, back, change) }
  }
  const { holdMinutes } = change
  const { addition, rest } = placeAddition(tx, shop, order, { lines, shipping: added, back, holdMinutes }, now)
  const due = addition.paidAt === null ? dueMinor(tx, addition) : 0
  return { addition, dueMinor: due, ...giveBack(unit, shop, getOrder(tx, order.id), rest, change) }
}

/** What comes back, with its tax. @throws AppError VALIDATION_FAILED (`items`) for more than is left */
function backOf(db: Db, order: OrderRow, change: PaidChange, shippingMinor: number): RefundOfThings | null {
  if (change.back.length === 0 && shippingMinor === 0 && change.shipping === undefined) return null
  const { restock, reason } = change
  const shipping = shippingMinor === 0 ? change.shipping : shippingMinor
  const back = planRefundLines(db, order, { items: change.back, shipping, restock, reason }, 0)
  const leftMinor = refundableMinor(db, order)
  if (back.amountMinor <= leftMinor) return back
  const [wanted, left] = [formatMoney(back.amountMinor, order.currency), formatMoney(leftMinor, order.currency)]
  throw validationFailed({ items: [`They cost ${wanted}, and ${left} of the order are left.`] })
}

function giveBack(
  unit: UnitOfWork,
  shop: ShopContext,
  order: OrderRow,
  refund: RefundOfThings | null,
  { byHand = false }: PaidChange
): StoredRefund {
  return refund === null ? nothingBack : storeRefunds(shop, unit, { order, refund, byHand })
}

type Goods = Pick<
  OrderItemRow,
  'type' | 'taxClass' | 'quantity' | 'weightGrams' | 'totalMinor' | 'discountMinor' | 'unitPriceMinor' | 'grants'
>

/** What a change costs for shipping, and what it gives back of it. */
type ShippingChange = { added: ChosenShipping | null; backMinor: number }

/**
 * How the goods of a changed order are shipped: by its method, or by another one, which costs more or less. More goods by the
 * same method cost what the method takes for all of them and was not paid; fewer give nothing back.
 *
 * @throws AppError VALIDATION_FAILED (`shippingMethod`)
 */
function shippingOf(db: Db, order: OrderRow, change: PaidChange, lines: readonly AddedLine[]): ShippingChange {
  const { methodId, back, freeShipping = false } = change
  const { shippingMethod, currency } = order
  const same = shippingMethod === null ? null : { method: shippingMethod, amountMinor: 0, renewalMinor: null }
  const none = { added: needsShipping(lines) ? same : null, backMinor: 0 }
  if (freeShipping || (methodId === undefined && (same === null || !needsShipping(lines)))) return none
  const goods = [...keptGoods(db, order, back), ...lines]
  const wanted = { country: destinationOf(order)?.country, methodId: methodId ?? shippingMethod?.id, currency }
  const choice = shippingChoice(db, goods, wanted)
  const chosen = toChosenShipping(choice)
  if (chosen === null) {
    if (choice.needsMethod) throw notOffered(choice)
    if (methodId !== undefined) throw new AppError('CONFLICT', `Nothing of order ${order.id} is shipped.`)
    return none
  }
  const paidMinor = paidShipping(db, order)
  const moreMinor = Math.max(0, chosen.amountMinor - paidMinor)
  const added = { ...chosen, amountMinor: moreMinor, renewalMinor: null }
  const lessMinor = methodId === undefined ? 0 : Math.max(0, paidMinor - chosen.amountMinor)
  return { added, backMinor: lessMinor === 0 ? 0 : shareOfShipping(db, order, [lessMinor, chosen.amountMinor]) }
}

/** What stays of an order and its additions. */
function keptGoods(db: Db, order: OrderRow, back: readonly LineQuantity[]): Goods[] {
  const root = rootOf(db, order)
  return [root, ...additionsOf(db, root.id)].flatMap(({ id }) => {
    const returned = returnedUnits(db, id)
    return itemsOf(db, id).flatMap((item, index) => {
      const going = id === order.id ? (back.find(({ line }) => line === index + 1)?.quantity ?? 0) : 0
      const quantity = item.quantity - (returned.get(item.id) ?? 0) - going
      if (quantity <= 0) return []
      const partOf = (minor: number): number => Math.round((minor / item.quantity) * quantity)
      return [{ ...item, quantity, totalMinor: partOf(item.totalMinor), discountMinor: partOf(item.discountMinor) }]
    })
  })
}

/** What an order and its additions cost for shipping, at the list price. */
function paidShipping(db: Db, order: OrderRow): number {
  const root = rootOf(db, order)
  const all = [root, ...additionsOf(db, root.id)]
  return all.reduce((sum, { listShippingMinor, shippingMinor }) => sum + (listShippingMinor ?? shippingMinor), 0)
}

/** A part of what the buyer has paid for shipping and has not got back, with its tax. */
function shareOfShipping(db: Db, order: OrderRow, parts: [less: number, stays: number]): number {
  if (order.shippingMinor === 0) return 0
  const { amountMinor } = planRefundLines(db, order, { shipping: 'all' }, 0)
  return shareMinor(amountMinor, parts)[0] ?? 0
}

/**
 * What other quantities of lines give back and add.
 *
 * @throws AppError TRANSITION_REFUSED for an order that is completed; VALIDATION_FAILED (`lines`) for what has left already
 */
export function goodsOf(tx: Tx, order: OrderRow, { lines, add }: LineEdits): Pick<PaidChange, 'back' | 'add'> {
  const { id, status } = order
  if (lines.length + add.length > 0 && status === 'completed') {
    const message = `Order ${id} is completed. Refund or return its lines, or enter a new order.`
    throw new AppError('TRANSITION_REFUSED', message, { from: status, to: status })
  }
  const items = itemsOf(tx, id)
  assertLines(items, lines)
  const progress = progressOf(tx, id)
  const returned = returnedUnits(tx, id)
  const problems: string[] = []
  const changes = lines.flatMap(({ line, quantity }) => {
    const item = items[line - 1]
    const { isShippable = false, left = 0 } = progress[line - 1] ?? {}
    if (item === undefined) return []
    const now = item.quantity - (returned.get(item.id) ?? 0)
    const gone = isShippable ? now - left : 0
    if (quantity < gone) problems.push(`Of line ${line} (${item.name}), ${gone} have left.`)
    return { line, item, more: quantity - now }
  })
  if (problems.length > 0) throw validationFailed({ lines: problems })
  const more = changes.filter((change) => change.more > 0)
  return {
    back: changes.filter((change) => change.more < 0).map(({ line, more }) => ({ line, quantity: -more })),
    add: [
      ...more.map(({ item: { productId, variationId }, more: quantity }) => ({
        productId,
        quantity,
        ...(variationId === null ? {} : { variationId })
      })),
      ...add
    ]
  }
}
