import { Option } from 'commander'
import { AppError } from '../../errors.ts'
import type { App } from '../../app.ts'
import { formatMoney, toMajor, toMinor } from '../../platform/money.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { findNamedItems } from '../../shop/checkout/phone-order.ts'
import { askForReturn, planReturn, settleReturn } from '../../shop/corrections/settle-return.ts'
import type { ReceivedGoods } from '../../shop/corrections/settle-return.ts'
import { getOrder } from '../../shop/orders/find.ts'
import { reasonInput } from '../../shop/orders/refunds/refund-lines.ts'
import { dropReturn, listAllReturns, returnStates } from '../../shop/shipments/returns.ts'
import type { ReturnView } from '../../shop/shipments/returns.ts'
import type { ShopCommand, Work } from '../run.ts'
import { addCommand, assertPublicUrl, confirmOrRefuse, runs } from '../run.ts'
import { parseId, parsePageLimit } from '../terminal/arguments.ts'
import { table, timeCell } from '../terminal/table.ts'
import type { Answer } from '../terminal/output.ts'
import {
  additionLines,
  additionView,
  answer,
  by,
  parseHold,
  parseItem,
  parseLineQuantity,
  refundLines
} from './order-answer.ts'

type ReturnOptions = {
  item?: string[]
  exchange?: string[]
  received?: true
  drop?: true
  /** `false` by --no-restock. */
  restock?: string[] | boolean
  shipping?: string | true
  reason?: string
  byHand?: boolean
  hold: string
  yes?: boolean
}

/** Adds the commands about goods that come back. */
export function defineReturns(group: ShopCommand): void {
  const back = addCommand(
    group,
    'return <id>',
    'record that goods come back, or came: for a refund, or in exchange for others',
    'orders return 12 --item 1:1 --exchange gansey/NAVY-L:1 --received --restock'
  )
    .option('--item <line:quantity...>', 'what comes back, by the number of the line; with --received what came')
    .option('--exchange <slug:quantity...>', 'what the buyer gets instead; a variation as SLUG/SKU:QUANTITY')
    .option('--received', 'the goods are there: refund or exchange them')
    .option('--drop', 'the expected goods do not come')
    .option('--restock [line:quantity...]', 'put what came back into the stock, or these quantities of it')
    .option('--no-restock', 'put nothing back into the stock')
    .option('--shipping [n]', 'give back the shipping, too, or this part of it')
    .option('--reason <text>', 'why, for the history of the order')
    .option('--by-hand', 'only record that you returned the money yourself; ask no gateway')
    .option('--hold <age>', 'how long an exchange that costs more waits for its payment, at most 24h', '24h')
  runs(back.option('--yes', 'do not ask for confirmation'), returnOne)
  const listing = addCommand(group, 'returns', 'list goods that come back, or came', 'orders returns --state expected')
    .addOption(new Option('--state <state>', 'only returns in this state').choices(returnStates))
    .option('--limit <n>', 'maximum number, up to 1000', '20')
  runs(listing, list)
}

async function returnOne(work: Work<ReturnOptions>, text: string): Promise<Answer> {
  const { app, options, now } = work
  const id = parseId(text)
  const { item, exchange, received, drop } = options
  if (drop === true) {
    if (item ?? exchange ?? received)
      throw new AppError('USAGE', '--drop gives the whole return up. Pass nothing else.')
    const row = dropReturn(app.db, id, by, now)
    return answer(app, id, { json: { return: row.id }, lines: [`Return ${row.id} is given up.`] })
  }
  const goods = parseGoods(app, options, getOrder(app.db, id).currency)
  if (received === true) return receive(work, id, goods)
  if (options.restock !== undefined || options.shipping !== undefined || options.byHand)
    throw new AppError('USAGE', '--restock, --shipping and --by-hand need --received.')
  if (goods.items === undefined) throw new AppError('USAGE', 'Name what comes back with --item, or pass --received.')
  const row = askForReturn(app, id, goods, by)
  const told = `Return ${row.id} is expected. The server tells the buyer within a second.`
  return answer(app, id, { json: { return: row.id }, lines: [told] })
}

async function receive(
  { app, options, terminal }: Work<ReturnOptions>,
  id: number,
  goods: ReceivedGoods
): Promise<Answer> {
  const order = getOrder(app.db, id)
  const { currency } = order
  const plan = planReturn(app, id, goods, by)
  if (plan.addition !== null) assertPublicUrl(app)
  const what = plan.refundMinor > 0 ? `give back ${formatMoney(plan.refundMinor, currency)}` : 'send the exchange'
  await confirmOrRefuse(terminal, `Record that the goods of order ${id} came back, and ${what}?`, options)
  const settled = await settleReturn(app, id, goods, by)
  const { returnId, addition, refundMinor } = settled
  const other = addition === null ? null : getOrder(app.db, addition.id)
  return answer(app, id, {
    json: {
      return: returnId,
      addition: other === null ? null : additionView(app, other),
      refunded: toMajor(refundMinor, currency)
    },
    lines: [
      `Return ${returnId} is received.`,
      ...(other === null ? [] : additionLines(app, other)),
      ...refundLines(order, settled)
    ]
  })
}

/** @throws AppError USAGE, VALIDATION_FAILED */
function parseGoods(app: App, options: ReturnOptions, currency: string): ReceivedGoods {
  const { item, exchange, restock, shipping, reason, byHand = false, hold } = options
  const named = exchange?.map((each) => parseItem('--exchange', each))
  return {
    items: item?.map((each) => parseLineQuantity('--item', each)),
    exchange: named === undefined ? undefined : findNamedItems(app.db, named),
    restock: Array.isArray(restock)
      ? restock.map((each) => parseLineQuantity('--restock', each))
      : restock === undefined
        ? undefined
        : restock
          ? 'all'
          : 'none',
    shipping: typeof shipping === 'string' ? toMinor(shipping, currency) : shipping === true ? 'all' : undefined,
    reason: parseWith(reasonInput, { reason }).reason,
    byHand,
    holdMinutes: parseHold(hold)
  }
}

function list({ app, options }: Work<{ state?: ReturnView['state']; limit: string }>): Answer {
  const { state, limit } = options
  const returns = listAllReturns(app.db, { state, limit: parsePageLimit(limit) })
  const rows = returns.map(({ id, orderId, state: known, lines, expectedAt }) => [
    id,
    orderId,
    known,
    lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', '),
    timeCell(expectedAt)
  ])
  return {
    json: { returns },
    human: table(['Return', 'Order', 'State', 'Goods', 'Since'], rows, 'Nothing comes back.')
  }
}
