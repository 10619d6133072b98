import type { Tx } from '../../platform/db/database.ts'
import { endOfDay } from '../../platform/days.ts'
import { AppError } from '../../errors.ts'
import { emailKey } from '../../platform/text.ts'
import { findRenewed } from '../benefits/records.ts'
import type { GatewaySubscriptionRow } from '../benefits/rows.ts'
import type { ShopContext } from '../context.ts'
import { takeRecoveryPoints } from '../limits/points.ts'
import { queueMail } from '../mail/queue.ts'
import { getOrderByPublicToken, itemsOf } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import { endWithPeriod } from '../payments/buyer-subscription.ts'
import { resolveWarning, runUnitOfWork, warn } from '../payments/warnings.ts'
import type { UnitOfWork } from '../payments/warnings.ts'
import { languageOf } from '../settings/language.ts'
import { shopTimeZone } from '../settings/shop-days.ts'
import { expectedReturnOf, expectReturn, linesOfReturn, unitsGone, widenReturn } from '../shipments/returns.ts'
import { emit } from '../webhooks/emit.ts'
import { declaredLines, findRepeated, leftOfDeclaration, matchOrder } from './find.ts'
import type { DeclarationRow, DeclaredLine } from './find.ts'
import type { CancellationInput, WithdrawalInput } from './input.ts'
import { isWithdrawable } from './period.ts'
import { declarations } from './schema.ts'

type Declared = Omit<DeclarationRow, 'id'>
type Caller = { addressKey: string; now: number }

/**
 * Records that a buyer withdraws from a contract, sends them the receipt, and tells the operator. The declaration counts as
 * it was sent: one that does not match an order, or that is late, is recorded too. Repeated within a day, it changes nothing.
 *
 * @param orderToken the token of the order, if the buyer comes from its page; it proves the order
 * @throws AppError RATE_LIMITED (recovery_ip, recovery_email); NOT_FOUND for a wrong token
 */
export async function declareWithdrawal(
  shop: ShopContext,
  input: WithdrawalInput,
  orderToken: string | null,
  { addressKey, now }: Caller
): Promise<DeclarationRow> {
  const order =
    orderToken === null ? matchOrder(shop.db, input.contract, input.email) : getOrderByPublicToken(shop.db, orderToken)
  const itemIds = order === undefined || input.itemIds === null ? null : ownItems(shop, order, input.itemIds)
  const declared = declaredBy(shop, 'withdrawal', order, { ...input, itemIds }, now)
  return record(shop, declared, { addressKey, order }, (unit, row) => {
    const lines = declaredLines(unit.tx, row)
    if (order !== undefined) expectGoods(unit, order, lines)
    emit(unit.tx, 'withdrawal.received', { declarationId: row.id, orderId: row.orderId, lines }, now)
    warn(unit, {
      orderId: row.orderId,
      kind: 'withdrawal',
      objectId: String(row.id),
      message: withdrawalText(unit.tx, row, order, now)
    })
  })
}

/** The goods that are with the buyer come back: as a return, or with that for which the order waits already. */
function expectGoods({ tx, by, now }: UnitOfWork, order: OrderRow, declared: readonly DeclaredLine[]): void {
  const gone = unitsGone(tx, order)
  const lines = declared
    .map(({ line, quantity }) => ({ line, quantity: Math.min(quantity, gone[line - 1] ?? 0) }))
    .filter(({ quantity }) => quantity > 0)
  if (lines.length === 0) return
  const open = expectedReturnOf(tx, order.id)
  if (open === undefined) expectReturn(tx, order, { lines, exchange: [], askedBy: 'buyer', by }, now)
  else widenReturn(tx, order, open, { lines, by }, now)
}

function ownItems({ db }: ShopContext, { id }: OrderRow, chosen: readonly number[]): number[] | null {
  const own = itemsOf(db, id).filter((item) => chosen.includes(item.id))
  return own.length === 0 ? null : own.map((item) => item.id)
}

function withdrawalText(tx: Tx, row: DeclarationRow, order: OrderRow | undefined, now: number): string {
  const see = '"shopstead orders declarations" shows it.'
  if (order === undefined)
    return `Declaration ${row.id}: a buyer withdraws from a contract, and no order has this number and email. ${see}`
  const late = isWithdrawable(tx, order, now) ? '' : ' The period to withdraw seems to be over.'
  const lines = declaredLines(tx, row)
  const isWhole = lines.length === itemsOf(tx, order.id).length
  const what = isWhole ? 'the order' : lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')
  const steps = row.message === null ? stepsOf(tx, order, row) : see
  return `The buyer of order ${order.id} withdraws from the contract about ${what}.${late} ${steps}`
}

/** What gives the money back: a refund now for what is not with the buyer, and one for the goods when they are back. */
function stepsOf(tx: Tx, order: OrderRow, row: DeclarationRow): string {
  const open = expectedReturnOf(tx, order.id)
  const coming = open === undefined ? [] : linesOfReturn(tx, open)
  const unitsOf = (line: number): number => coming.find((each) => each.line === line)?.quantity ?? 0
  const rest = leftOfDeclaration(tx, row)
    .map(({ line, quantity }) => ({ line, quantity: quantity - unitsOf(line) }))
    .filter(({ quantity }) => quantity > 0)
  const isWhole = rest.length === itemsOf(tx, order.id).length && coming.length === 0
  const options = isWhole ? '' : rest.map(({ line, quantity }) => ` --item ${line}:${quantity}`).join('')
  const it = coming.length === 0 ? 'it' : 'what is not with the buyer'
  return [
    ...(rest.length > 0 ? [`Refund ${it} within 14 days with "shopstead orders refund ${order.id}${options}".`] : []),
    ...(coming.length > 0
      ? [
          `When the goods are back, or the buyer proves that they were sent, refund them with "shopstead orders return ${order.id} --received --shipping".`
        ]
      : [])
  ].join(' ')
}

/**
 * Records that a buyer cancels a subscription, sends them the receipt with its end, and ends it at the gateway with the period
 * that is paid. The operator is told if that fails, if the buyer gives a cause or a later day, or if no subscription matches.
 * Repeated within a day, it changes nothing.
 *
 * @throws AppError RATE_LIMITED (recovery_ip, recovery_email)
 */
export async function declareCancellation(
  shop: ShopContext,
  input: CancellationInput,
  { addressKey, now }: Caller
): Promise<DeclarationRow> {
  const order = matchOrder(shop.db, input.contract, input.email)
  const running = order && findRunning(shop, order)
  const endsAt = running === undefined ? null : endOf(shop, running, input.wantedEnd, now)
  const declared = { ...declaredBy(shop, 'cancellation', order, { ...input, itemIds: null }, now), endsAt }
  const row = await record(shop, declared, { addressKey, order }, (unit, { id, orderId, isForCause }) => {
    emit(unit.tx, 'cancellation.received', { declarationId: id, orderId, isForCause }, now)
    const isOver = running?.cancelAtPeriodEnd === true && endsAt !== null && !isForCause
    const message = cancellationText(id, running, input)
    if (!isOver) warn(unit, { orderId, kind: 'cancellation', objectId: String(id), message })
  })
  // A later day needs an operator.
  if (running?.cancelAtPeriodEnd === false && endsAt !== null) await end(shop, running, row)
  return row
}

function findRunning({ db }: ShopContext, { id, renewalOf }: OrderRow): GatewaySubscriptionRow | undefined {
  const row = findRenewed(db, renewalOf ?? id)
  return row === undefined || row.endedAt !== null ? undefined : row
}

/** When the subscription ends: with the period that is paid, or with the period in which the buyer's day is. */
function endOf(
  shop: ShopContext,
  { currentPeriodEnd }: GatewaySubscriptionRow,
  wanted: string | null,
  now: number
): number | null {
  const earliest = Math.max(currentPeriodEnd, now)
  return wanted === null || endOfDay(shopTimeZone(shop.db), wanted) <= earliest ? earliest : null
}

/** The warning exists already, so that a cancellation is not lost when the gateway does not answer or the process ends here. */
async function end(
  shop: ShopContext,
  running: GatewaySubscriptionRow,
  { id, isForCause }: DeclarationRow
): Promise<void> {
  try {
    await endWithPeriod(shop, running, 'buyer')
  } catch (error) {
    if (error instanceof AppError && error.code === 'DEPENDENCY_UNAVAILABLE') return
    throw error
  }
  if (!isForCause) await runUnitOfWork(shop, 'buyer', (unit) => resolveWarning(unit, 'cancellation', String(id)))
}

function cancellationText(id: number, running: GatewaySubscriptionRow | undefined, input: CancellationInput): string {
  const see = 'See "shopstead orders declarations".'
  if (running === undefined)
    return `Declaration ${id}: a buyer cancels a contract, and no running subscription has this order number and email. ${see}`
  const { orderId } = running
  if (input.isForCause)
    return `The buyer of order ${orderId} cancels the subscription for cause. Decide whether it ends at once. ${see}`
  const when = input.wantedEnd === null ? 'with the paid period' : `on ${input.wantedEnd}`
  return `The buyer of order ${orderId} cancels the subscription, and the gateway has not ended it yet. End it ${when}. ${see}`
}

type Input = Pick<WithdrawalInput, 'name' | 'email' | 'contract' | 'message' | 'itemIds'> &
  Partial<Pick<CancellationInput, 'isForCause' | 'wantedEnd'>>

function declaredBy(
  shop: ShopContext,
  kind: DeclarationRow['kind'],
  order: OrderRow | undefined,
  { isForCause = false, wantedEnd = null, ...input }: Input,
  now: number
): Declared {
  const of = { orderId: order?.id ?? null, emailKey: emailKey(input.email), endsAt: null }
  return { kind, ...input, ...of, isForCause, wantedEnd, language: languageOf(shop), receivedAt: now }
}

/** Stores a declaration, queues its receipt, and does what else follows, in one transaction. */
async function record(
  shop: ShopContext,
  declared: Declared,
  { addressKey, order }: { addressKey: string; order: OrderRow | undefined },
  follow: (unit: UnitOfWork, row: DeclarationRow) => void
): Promise<DeclarationRow> {
  const before = findRepeated(shop.db, declared)
  if (before !== undefined) return before
  await takeRecoveryPoints(shop, addressKey, declared.emailKey ?? '')
  return runUnitOfWork<DeclarationRow>(shop, 'buyer', (unit) => {
    const { tx, now } = unit
    const known = findRepeated(tx, declared)
    if (known !== undefined) return known
    const row = tx.orm.insert(declarations).values(declared).returning().get()
    for (const recipient of recipientsOf(declared, order))
      queueMail(tx, { template: 'declaration_received', recipient, data: { declarationId: row.id } }, now)
    follow(unit, row)
    return row
  })
}

/** Who gets the receipt. A link of an order can be shared, so the buyer whom the order knows hears of it, too. */
function recipientsOf({ email, emailKey: key }: Declared, order: OrderRow | undefined): string[] {
  const known = order === undefined || order.emailKey === key ? null : order.email
  return [email, known].flatMap((to) => (to === null ? [] : [to]))
}
