import { AppError } from '../../errors.ts'
import { Option } from 'commander'
import type { ShopCommand, Work } from '../run.ts'
import { formatMoney, toMinor } from '../../platform/money.ts'
import { findBuyer, findSold, listAllOrders, toRecord } from '../../shop/customers/admin-orders.ts'
import { exportDates, exportOrders } from '../../shop/customers/export-orders.ts'
import type { ExportDate } from '../../shop/customers/export-orders.ts'
import { ordersCsv, ordersCsvHead } from '../../shop/customers/orders-csv.ts'
import type { OrderRow } from '../../shop/orders/find.ts'
import { orderStatuses } from '../../shop/orders/states.ts'
import type { OrderStatus } from '../../shop/orders/states.ts'
import { writeCsv, writeNewFile } from '../terminal/files.ts'
import { stateText } from './order-answer.ts'
import { countOf, parseLimit, parsePageLimit, parseId } from '../terminal/arguments.ts'
import { JsonList, moreLines, TextParts, showProgress } from '../terminal/output.ts'
import type { Answer } from '../terminal/output.ts'
import { parseOpenPeriod, quarterOption } from '../../operations/reports/days.ts'
import { documentLines } from '../../operations/reports/document-lines.ts'
import { plainFormat } from '../../operations/reports/report.ts'
import { addCommand, runs } from '../run.ts'
import { plain, table, timeCell, timeText } from '../terminal/table.ts'
import { listDeclarations } from '../../shop/declarations/find.ts'
import type { DeclarationView } from '../../shop/declarations/find.ts'
import { toIso } from '../../platform/iso-time.ts'
import { reviewNotes } from '../people/payouts.ts'
import { dismissWarning, listWarnings, warningKinds } from '../../shop/payments/warnings.ts'
import type { WarningKind, WarningRow } from '../../shop/payments/warnings.ts'

type FilterOptions = { status?: OrderStatus; from?: string; to?: string; cursor?: string }
type ListOptions = FilterOptions & { user?: string; product?: string; search?: string; limit: string }
type ExportOptions = FilterOptions & { limit?: string; csv?: string; quarter?: string; by: ExportDate | 'document' }

/** Adds the commands that list and export orders. */
export function defineLists(group: ShopCommand): void {
  const listing = addCommand(group, 'list', 'list the newest orders', 'orders list --status processing --limit 50')
    .option('--user <email-or-id>', "one customer's orders; an email also finds guest orders")
    .option('--product <slug-or-sku>', 'only orders with this product, or with the variation that has this SKU')
    .option('--search <text>', "part of a buyer's email, name or company")
  runs(filtered(listing, 'placed on').option('--limit <n>', 'maximum number, up to 1000', '20'), list)
  const about = 'export orders as CSV, oldest first: a row for each line item, with SKU, tax, shipping and payment ids'
  const exporting = addCommand(group, 'export', about, 'orders export --from 2026-01-01 --to 2026-03-31 --csv q1.csv')
    .option('--limit <n>', 'maximum number of orders (default: all)')
    .option('--csv <file>', 'write a new file instead of printing')
    .addOption(
      new Option(
        '--by <date>',
        'orders by the day on which they were placed or paid; or document: a row for each line of the invoices and credit notes of the days, with refunds as rows of their own day'
      )
        .choices([...exportDates, 'document'])
        .default('placed')
    )
    .option(quarterOption.flags, `with --by document: ${quarterOption.about}`)
  runs(filtered(exporting, 'of'), exportAll)
}

function filtered(command: ShopCommand, on: string): ShopCommand {
  return command
    .addOption(new Option('--status <status>', 'only orders with this status').choices(orderStatuses))
    .option('--from <date>', `only orders ${on} this day or later, in the time zone of the shop, or from a time`)
    .option('--to <date>', `only orders ${on} this day or earlier, or before a time`)
    .option('--cursor <cursor>', 'continue after an earlier page, from its nextCursor')
}

function list({ app, options }: Work<ListOptions>): Answer {
  const { user, product, status, search, cursor, limit } = options
  const { orders, nextCursor } = listAllOrders(app.db, {
    ...(user === undefined ? {} : findBuyer(app.db, user)),
    ...parseOpenPeriod(app.db, options),
    ...(product === undefined ? {} : { sold: findSold(app.db, product) }),
    status,
    search,
    cursor,
    limit: parsePageLimit(limit)
  })
  const rows = orders.map((order) => [
    order.id,
    stateText(order),
    formatMoney(toMinor(order.total, order.currency), order.currency),
    order.email ?? '',
    timeCell(order.createdAt)
  ])
  return {
    json: { orders, nextCursor },
    human: [table(['Order', 'State', 'Total', 'Email', 'Placed'], rows), ...moreLines(nextCursor)]
  }
}

function exportAll(work: Work<ExportOptions>): Answer | Promise<Answer> {
  const { app, options, json } = work
  const { by, status, cursor, limit, csv, quarter } = options
  if (by === 'document') return exportDocumentLines(work)
  if (quarter !== undefined) throw new AppError('USAGE', '--quarter goes with --by document. Pass --from and --to.')
  const filter = {
    by,
    ...parseOpenPeriod(app.db, options),
    status,
    cursor,
    limit: limit === undefined ? undefined : parseLimit(limit)
  }
  if (json && csv === undefined) {
    const { rows, nextCursor } = exportOrders(app.db, filter, (some) => some.map((order) => toRecord(app.db, order)))
    return { json: new JsonList('orders', rows, () => ({ nextCursor: nextCursor() })), human: [] }
  }
  const progress = showProgress(work)
  let count = 0
  const asCsv = (some: OrderRow[]): string[] => {
    count += some.length
    if (csv !== undefined) progress.step(`${count} orders written`)
    return some.length === 0 ? [] : [ordersCsv(app.db, some)]
  }
  const { rows, nextCursor } = exportOrders(app.db, filter, asCsv)
  const parts = withHead(rows)
  if (csv === undefined) return { json: null, human: new TextParts(parts) }
  try {
    writeCsv(csv, parts)
  } finally {
    progress.done()
  }
  return {
    json: { file: csv, orders: count, nextCursor: nextCursor() },
    human: `${countOf(count, 'order')} written to ${csv}. Later orders: add --cursor ${nextCursor()}.`
  }
}

/** The documents of some days line by line. @throws AppError USAGE for options that are about orders */
async function exportDocumentLines({ app, options, now }: Work<ExportOptions>): Promise<Answer> {
  const { csv, status, cursor, limit } = options
  if (status !== undefined || cursor !== undefined || limit !== undefined)
    throw new AppError('USAGE', '--by document takes --from, --to, --quarter and --csv.')
  const { head, totals, rows, file } = await documentLines.make(app, options, now)
  if (csv === undefined) {
    const text = new TextDecoder().decode(file(plainFormat))
    return { json: { ...head, totals, lines: rows }, human: new TextParts([text]) }
  }
  writeNewFile(csv, file(plainFormat))
  return { json: { ...head, totals, file: csv }, human: `${countOf(rows.length, 'line')} written to ${csv}.` }
}

function* withHead(rows: Iterable<string>): Generator<string, void> {
  yield ordersCsvHead()
  yield* rows
}

/** Lists the payment warnings that `shopstead health` counts, and marks them as dealt with. */
export function defineWarnings(group: ShopCommand): void {
  const command = addCommand(
    group,
    'warnings',
    'list payments and declarations of buyers that need your attention',
    'orders warnings --settled 3'
  )
    .addOption(new Option('--kind <kind>', 'only warnings of this kind').choices(warningKinds))
    .option('--settled <id>', 'mark this warning as dealt with; health no longer reports it')
  runs(command, ({ app, options, now }: Work<{ settled?: string; kind?: WarningKind }>) => {
    const { settled, kind } = options
    if (settled !== undefined) dismissWarning(app.db, parseId(settled), now)
    const warnings = listWarnings(app.db, kind)
    return {
      json: new JsonList('warnings', warnings.map(toJson)),
      human: [
        table(
          ['Id', 'Order', 'What'],
          warnings.map(({ id, orderId, message }) => [id, orderId, message]),
          'Nothing needs your attention.'
        ),
        ...(kind === undefined ? reviewNotes(app) : [])
      ]
    }
  })
}

function toJson({ id, orderId, kind, objectId, message, createdAt }: WarningRow): object {
  return { id, orderId, kind, objectId, message, createdAt: toIso(createdAt) }
}

/** Lists what buyers declared about their contracts: withdrawals and cancelled subscriptions. */
export function defineDeclarations(group: ShopCommand): void {
  const about = 'list withdrawals and cancellations that buyers declared, newest first'
  const command = addCommand(group, 'declarations', about, 'orders declarations')
    .option('--order <id>', 'only those about this order')
    .option('--limit <n>', 'maximum number, up to 1000', '20')
  runs(command, ({ app, options }: Work<{ order?: string; limit: string }>) => {
    const { order, limit } = options
    const declarations = listDeclarations(app.db, {
      ...(order === undefined ? {} : { orderId: parseId(order) }),
      limit: parsePageLimit(limit)
    })
    const rows = declarations.map((each) => [
      each.id,
      timeCell(each.receivedAt),
      each.kind,
      each.orderId,
      plain(`${each.name}, ${each.email ?? 'no email'}`),
      plain(describeDeclaration(each))
    ])
    const head = ['Id', 'Received', 'Kind', 'Order', 'Buyer', 'What']
    return { json: { declarations }, human: table(head, rows, 'No buyer has declared anything.') }
  })
}

function describeDeclaration({
  kind,
  orderId,
  contract,
  lines,
  message,
  isForCause,
  wantedEnd,
  endsAt
}: DeclarationView) {
  const parts =
    kind === 'withdrawal'
      ? [lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')]
      : [
          isForCause ? 'for cause' : '',
          wantedEnd === null ? '' : `wanted for ${wantedEnd}`,
          endsAt === null ? '' : `ends ${timeText(endsAt)}`
        ]
  const named = orderId === null ? `named ${contract}, which matches no order` : ''
  return [named, ...parts, message ?? '']
    .filter((part) => part !== '')
    .join('; ')
    .replaceAll(/\s+/g, ' ')
}
