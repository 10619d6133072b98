import { defineTableImport } from '../shop/table-import.ts'
import type { ShopCommand, Work } from '../run.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { getOrder } from '../../shop/orders/find.ts'
import { completeOrder } from '../../shop/orders/transition.ts'
import { explainOrder } from '../../shop/orders/explain.ts'
import { openAttempts } from '../../shop/payments/attempts.ts'
import { settlePayments } from '../../shop/payments/reconcile.ts'
import { shipmentInput, shipOrder } from '../../shop/shipments/ship-order.ts'
import { parseId } from '../terminal/arguments.ts'
import { defineNote } from '../people/notes.ts'
import { answer, by, parseLineQuantity } from './order-answer.ts'
import { defineCreate } from './order-create.ts'
import { defineEdit } from './order-edit.ts'
import { defineReturns } from './order-return.ts'
import { defineInvoice, defineDocuments, definePack } from './order-documents.ts'
import { defineDeclarations, defineLists, defineWarnings } from './order-lists.ts'
import { defineMoney } from './order-money.ts'
import type { Answer } from '../terminal/output.ts'
import { showProgress } from '../terminal/output.ts'
import { addCommand, runs } from '../run.ts'

type ShipOptions = { carrier?: string; tracking?: string; url?: string; items?: string[] }

export function define(program: ShopCommand): void {
  const group = program.command('orders').description('orders and refunds')
  defineLists(group)
  defineCreate(group)
  runs(
    addCommand(group, 'show <id>', 'show one order with its addresses and history', 'orders show 12'),
    ({ app }, id: string) => answer(app, parseId(id))
  )
  const explaining = addCommand(
    group,
    'explain <id>',
    'explain the attribution and referral of an order',
    'orders explain 12'
  )
  runs(explaining, ({ app }, id: string) => {
    const { lines, ...explanation } = explainOrder(app.db, parseId(id))
    return { json: explanation, human: lines }
  })
  defineEdit(group)
  defineReturns(group)
  defineNote(group, noteWords, (app, ref) => {
    const { id } = getOrder(app.db, parseId(ref))
    return { about: { orderId: id }, answer: () => answer(app, id) }
  })
  defineMoves(group)
  defineMoney(group)
  defineTableImport(group, 'orders', 'number, status, total, createdAt, lineName, quantity and price')
  const reconciling = addCommand(
    group,
    'reconcile',
    'fetch the state of open payments from the gateway, and end expired holds',
    'orders reconcile'
  )
  runs(reconciling, reconcileNow)
  defineInvoice(group)
  defineDocuments(group)
  definePack(group)
  defineWarnings(group)
  defineDeclarations(group)
}

const noteWords = {
  usage: 'note <id> [text]',
  about: 'note something about an order that its buyer does not see',
  example: 'orders note 12 "Calls before the parcel arrives"'
}

function defineMoves(group: ShopCommand): void {
  const complete = addCommand(
    group,
    'complete <id>',
    'record that the buyer has received everything',
    'orders complete 12'
  )
  runs(complete, ({ app, now }, id: string) => {
    completeOrder(app.db, parseId(id), by, now)
    return answer(app, parseId(id))
  })
  const ship = addCommand(
    group,
    'ship <id>',
    'record that an order, or a part of it, was handed to a carrier; the buyer gets an email',
    'orders ship 12 --carrier DHL --tracking 00340434161094042557 --items 1:2 3:1'
  )
    .option('--carrier <name>', 'who transports it')
    .option('--tracking <number>', "the carrier's tracking number")
    .option('--url <url>', "the carrier's page about it, instead of the one from shipping.trackingUrls")
    .option(
      '--items <line:quantity...>',
      'only these quantities of these lines, by number; everything that is left otherwise'
    )
  runs(ship, ({ app, options, now }: Work<ShipOptions>, id: string) => {
    const { carrier, tracking, url, items } = options
    const shipment = { carrier, tracking, url, items: items?.map((text) => parseLineQuantity('--items', text)) }
    const shipped = shipOrder(app.db, parseId(id), parseWith(shipmentInput, shipment), by, now)
    const others = shipped.filter((each) => each !== parseId(id))
    return answer(app, parseId(id), {
      json: { shippedWith: others },
      lines: others.map((each) => `Order ${each}, which adds to it, is shipped with it.`)
    })
  })
}

async function reconcileNow(work: Work<object>): Promise<Answer> {
  const { app } = work
  const progress = showProgress(work)
  progress.step(`asking the gateway about ${openAttempts(app.db).length} open payments, refunds and events`)
  const report = await settlePayments(app, { underWay: 'wait' }).finally(progress.done)
  const { attempts, settled, refunds, events, holds, failed } = report
  return {
    json: report,
    human: `${settled} of ${attempts} open payments settled, ${refunds} refunds and ${events} missed events applied, ${holds} holds ended, ${failed} failed.`,
    ...(failed > 0 ? { exitCode: 1 } : {})
  }
}
