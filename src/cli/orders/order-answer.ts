import { AppError } from '../../errors.ts'
import { readNamedItem } from '../../shop/checkout/phone-order.ts'
import type { App } from '../../app.ts'
import { formatMoney, toMajor, toMinor } from '../../platform/money.ts'
import { showOrder } from '../../shop/customers/admin-orders.ts'
import type { AdminOrder, OrderRecord } from '../../shop/customers/admin-orders.ts'
import { declarationsOf } from '../../shop/declarations/find.ts'
import type { DeclarationView } from '../../shop/declarations/find.ts'
import { dueMinor } from '../../shop/orders/refunds/credits.ts'
import type { OrderRow } from '../../shop/orders/find.ts'
import { payUrl } from '../../shop/orders/view.ts'
import type { LineQuantity } from '../../shop/orders/refunds/refund-lines.ts'
import type { RefundView } from '../../shop/orders/shapes.ts'
import type { StoredRefund } from '../../shop/payments/refund.ts'
import type { RefundShares } from '../../shop/payments/tenders.ts'
import type { ReturnView } from '../../shop/shipments/returns.ts'
import type { ShipmentView } from '../../shop/shipments/find.ts'
import { noteLine } from '../people/notes.ts'
import { parseAge } from '../terminal/arguments.ts'
import type { Answer } from '../terminal/output.ts'
import { plain, table, timeCell, timeText } from '../terminal/table.ts'
import type { Address, OrderContact } from '../../shop/orders/address.ts'

/** Who moves an order, in its history. */
export const by = 'operator'

/** `2:1` is one of line 2. @throws AppError USAGE */
export function parseLineQuantity(option: string, text: string): LineQuantity {
  const [, line, quantity] = /^([1-9]\d{0,5}):([1-9]\d{0,8})$/.exec(text) ?? []
  if (line === undefined) throw new AppError('USAGE', `${option} takes LINE:QUANTITY, such as 2:1 for one of line 2.`)
  return { line: Number(line), quantity: Number(quantity) }
}

/** In minutes; a payment page stays open for at most a day, and its end ends the order. */
const longestHold = 24 * 60

/** How long an order waits for its payment, in minutes. @throws AppError USAGE */
export function parseHold(text: string): number {
  const minutes = parseAge('--hold', text) / 60_000
  if (minutes > longestHold) throw new AppError('USAGE', '--hold must be at most 24h.')
  return minutes
}

/** The number of a line. @throws AppError USAGE */
export function parseLine(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new AppError('USAGE', '--remove takes the number of a line, such as 2.')
}

/** `mug:2`, or `shirt/RED-M:1` for a variation. @throws AppError USAGE */
export function parseItem(option: string, text: string) {
  const item = readNamedItem(text)
  if (item === undefined)
    throw new AppError('USAGE', `${option} takes SLUG:QUANTITY or SLUG/SKU:QUANTITY, such as mug:2.`)
  return item
}

/** What is due of an order that adds to another one, and where its buyer pays it. */
export function additionView(app: App, order: OrderRow) {
  const { id, status, paidAt, currency } = order
  const due = paidAt === null ? dueMinor(app.db, order) : 0
  return { id, status, due: toMajor(due, currency), payUrl: paidAt === null ? payUrl(app, order) : null }
}

/** What an operator reads of such an order. */
export function additionLines(app: App, order: OrderRow): string[] {
  const { id, paidAt, currency } = order
  if (paidAt !== null) return [`Order ${id} adds to it. Nothing is left to pay.`]
  const due = formatMoney(dueMinor(app.db, order), currency)
  return [`Order ${id} adds to it. The buyer pays ${due} for it at ${payUrl(app, order)}`]
}

/** What an operator reads of a refund besides what the gateway returns: what is on a gift card again, and what to pay back. */
export function otherwiseReturned(
  { id, email, currency }: OrderRow,
  { giftCardMinor, byHandMinor }: RefundShares
): string[] {
  const money = (minor: number): string => formatMoney(minor, currency)
  return [
    ...(giftCardMinor > 0 ? [`${money(giftCardMinor)} of order ${id} is back on the gift card.`] : []),
    ...(byHandMinor > 0
      ? [`Pay this back yourself: ${money(byHandMinor)} to ${plain(email ?? 'the buyer')}, order ${id}.`]
      : [])
  ]
}

/** What an operator reads of the refund that a change of an order has led to. */
export function refundLines(order: OrderRow, refund: StoredRefund): string[] {
  const { refundMinor, giftCardMinor, byHandMinor } = refund
  const gatewayMinor = refundMinor - giftCardMinor - byHandMinor
  return [
    ...(gatewayMinor > 0 ? [`The gateway returns ${formatMoney(gatewayMinor, order.currency)}.`] : []),
    ...otherwiseReturned(order, refund)
  ]
}

/**
 * The answer of a command about one order, after what the command did.
 *
 * @throws AppError NOT_FOUND
 */
export function answer(app: App, id: number, did: { json?: object; lines?: readonly string[] } = {}): Answer {
  const { order, history } = showOrder(app.db, id)
  const declarations = declarationsOf(app.db, [id], null)
  const moves = history.map((row) => [timeCell(row.at), row.from ?? '', row.to, row.by, row.reason])
  return {
    json: { order, history, declarations, ...did.json },
    human: [
      ...(did.lines ?? []),
      `Order ${order.id}: ${stateText(order)}, ${money(order, order.total)}, ${plain(order.email ?? 'no email')}`,
      ...(order.renewalOf === null ? [] : [`Renewal of the subscription that order ${order.renewalOf} started`]),
      ...(order.addedTo === null ? [] : [`Adds to order ${order.addedTo}`]),
      ...order.additions.map(
        ({ id: added, status, due }) =>
          `Order ${added} adds to it: ${status}${due === 0 ? '' : `, ${money(order, due)} due`}`
      ),
      `${paymentText(order)}; refunded ${money(order, order.refunded)}`,
      ...order.lineItems.map((item) => `  ${item.quantity} × ${item.name}: ${money(order, item.total)}`),
      ...order.shipments.map(shipmentLine),
      ...order.returns.map(returnLine),
      ...order.refunds.map((refund) => refundLine(order, refund)),
      ...declarations.map(declarationLine),
      ...(order.deliveryConsentAt === null
        ? []
        : [`  The buyer agreed to the delivery of files at once: ${timeText(order.deliveryConsentAt)}`]),
      ...order.coupons.map((coupon) => `  Coupon ${coupon.code}: ${money(order, coupon.discount)} off`),
      ...buyerLines(order),
      ...order.shopNotes.map(noteLine),
      table(['At', 'From', 'To', 'By', 'Reason'], moves)
    ]
  }
}

/** The state of an order, and of its money if that did not go back as the state says. */
export function stateText(order: AdminOrder): string {
  const { status, refundState, refundOwed } = order
  if (refundState === 'failed') return `${status}, but ${money(order, refundOwed)} is still owed`
  return refundState === 'pending' ? `${status}, with ${money(order, refundOwed)} on its way` : status
}

const paidWith = {
  stripe: ' with Stripe',
  sandbox: ' with the sandbox',
  by_hand: ' by transfer or in cash',
  credit: ' by the order that it changes',
  gift_card: ' by gift card'
}

/** When and how an order was paid, or how far its payment is. */
function paymentText({ paidAt, paidBy, paymentStatus }: AdminOrder): string {
  if (paidAt !== null) return `Paid ${timeText(paidAt)}${paidBy === null ? '' : paidWith[paidBy]}`
  return `Payment: ${paymentStatus ?? 'not started'}`
}

function refundLine(order: AdminOrder, { state, refundedAt, amount, lines, shipping }: RefundView): string {
  const parts = [
    ...lines.map(({ quantity, name }) => `${quantity} × ${name}`),
    ...(shipping > 0 ? [`shipping ${money(order, shipping)}`] : [])
  ]
  const when = state === 'done' && refundedAt !== null ? timeText(refundedAt) : state
  return plain(`  Refund ${when}: ${money(order, amount)}${parts.length === 0 ? '' : ` for ${parts.join(', ')}`}`)
}

function returnLine({ id, state, lines, exchange }: ReturnView): string {
  const goods = lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')
  return plain(`  Return ${id}, ${state}: ${goods}${exchange === null ? '' : `, in exchange for order ${exchange}`}`)
}

function shipmentLine({ shippedAt, carrier, tracking, lines }: ShipmentView): string {
  const how = [carrier, tracking].filter((part) => part !== null).join(' ')
  const goods = lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')
  return plain(`  Shipped ${timeText(shippedAt)}${how === '' ? '' : ` with ${how}`}: ${goods}`)
}

function declarationLine({ kind, receivedAt, lines, message }: DeclarationView): string {
  const what = lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')
  const said = message === null ? '' : ` (${message.replaceAll(/\s+/g, ' ')})`
  return plain(
    `  ${kind === 'withdrawal' ? 'Withdrawal' : 'Cancellation'} received ${timeText(receivedAt)}: ${what}${said}`
  )
}

function money(order: AdminOrder, amount: number): string {
  return formatMoney(toMinor(amount, order.currency), order.currency)
}

const vatWords = {
  confirmed: 'confirmed by VIES',
  other_name: 'VIES has another name',
  not_registered: 'not registered in VIES',
  unavailable: 'not confirmed, because VIES did not answer'
}

/** The VAT id with the proof that it was checked. */
function vatLines({ vatId, vatCheck }: OrderRecord): string[] {
  if (vatId === null) return []
  if (vatCheck === null) return [plain(`VAT id: ${vatId}`)]
  const { outcome, accepted, name, consultation, checkedAt } = vatCheck
  const facts = [
    vatWords[outcome],
    ...(checkedAt === null ? [] : [timeText(checkedAt)]),
    ...(consultation === null ? [] : [`consultation number ${consultation}`]),
    ...(name === null ? [] : [`registered to ${name}`]),
    ...(accepted ? [] : ['so the tax is charged'])
  ]
  return [plain(`VAT id: ${vatId}, ${facts.join(', ')}`)]
}

/** Where the buyer is, by more than their own word. */
function evidenceLines({ evidence: { cardCountry, ipCountry } }: OrderRecord): string[] {
  const known = [
    ...(cardCountry === null ? [] : [`card from ${cardCountry}`]),
    ...(ipCountry === null ? [] : [`ordered from ${ipCountry}`])
  ]
  return known.length === 0 ? [] : [`Evidence of the country: ${known.join(', ')}`]
}

/** The buyer, the addresses and the note of an order, as far as they are known. */
function buyerLines(order: OrderRecord): string[] {
  const { contact, shippingAddress, billingAddress, notes, imported } = order
  const who = contactLine(contact)
  return [
    ...(who === '' ? [] : [`Contact: ${who}`]),
    ...block('Ship to', addressLines(shippingAddress ?? {})),
    ...block('Bill to', addressLines(billingAddress ?? {})),
    ...vatLines(order),
    ...evidenceLines(order),
    ...block('Notes', (notes ?? '').split(/\r\n|[\r\n]/)),
    ...importedLines(imported)
  ]
}

/** What the shop that sold the order said of it. */
function importedLines(imported: OrderRecord['imported']): string[] {
  if (imported === null) return []
  const { number, status, payment, transactionId, notes } = imported
  return [
    plain(
      `Moved in: order ${number} of the old shop, ${status}, paid with ${joined([payment, transactionId], ' ') || 'nothing'}`
    ),
    ...notes.map(({ at, text }) => plain(`  ${timeText(at)} ${text.replaceAll(/\s+/g, ' ')}`))
  ]
}

function contactLine({ firstName, lastName, companyName, phone }: OrderContact): string {
  return joined([joined([firstName, lastName], ' '), companyName, phone], ', ')
}

/** The lines of an envelope. The order of the parts differs between countries; this one is understood everywhere. */
function addressLines(address: Address): string[] {
  const { firstName, lastName, company, address1, address2, city, state, postcode, country, phone, email } = address
  const place = joined([joined([postcode, city], ' '), state], ', ')
  return [joined([firstName, lastName], ' '), company, address1, address2, place, country, phone, email].filter(isSaid)
}

function block(title: string, lines: readonly string[]): string[] {
  const shown = lines.map(plain).filter(isSaid)
  return shown.length === 0 ? [] : [`${title}:`, ...shown.map((line) => `  ${line}`)]
}

function joined(parts: readonly (string | undefined)[], between: string): string {
  return parts.filter(isSaid).map(plain).join(between)
}

function isSaid(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== ''
}
