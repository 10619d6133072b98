import type { App } from '../../../app.ts'
import { AppError } from '../../../errors.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { formatFileError } from '../../../shop/catalog/import/report.ts'
import { redirectKey } from '../../../shop/redirects/redirects.ts'
import { setting } from '../../../shop/settings/settings.ts'
import { writeAffiliate, writePayout, writeReferral } from '../affiliates.ts'
import { writeCoupon } from '../coupons.ts'
import { accountOf, writeCustomer } from '../customers.ts'
import { moveIn } from '../move-in.ts'
import type { MoveOptions, MoveReport } from '../move-in.ts'
import { moveSubject, writeInBatches } from '../move.ts'
import type { Move } from '../move.ts'
import { writeOrder } from '../orders.ts'
import { writeRedirect } from '../redirects.ts'
import { SubjectTally } from '../report.ts'
import type { SubjectReport } from '../report.ts'
import { affiliateFields, toAffiliate } from './affiliates-table.ts'
import { CellError, cellsOf } from './cells.ts'
import type { Cells } from './cells.ts'
import { couponFields, toCoupon } from './coupons-table.ts'
import { openCsv } from './csv-file.ts'
import type { CsvFile, Fields } from './csv-file.ts'
import { customerFields, toCustomer } from './customers-table.ts'
import { orderFields, toOrder } from './orders-table.ts'
import { indexProducts } from './products.ts'

/** What a table contains. Affiliates are last, because each belongs to an account. */
export const tableKinds = ['customers', 'coupons', 'orders', 'affiliates', 'redirects'] as const
export type TableKind = (typeof tableKinds)[number]

const fieldsOf: Readonly<Record<TableKind, Fields>> = {
  customers: customerFields,
  coupons: couponFields,
  orders: orderFields,
  affiliates: affiliateFields,
  redirects: { from: ['Redirect from'], to: ['Redirect to'] }
}

/** The columns without which a table is not one of its kind. */
const needed: Readonly<Record<TableKind, readonly string[]>> = {
  customers: ['email'],
  coupons: ['code'],
  orders: ['number', 'total', 'createdAt'],
  affiliates: ['email'],
  redirects: ['from', 'to']
}

export type TableFile = { kind: TableKind; path: string }
export type TableOptions = MoveOptions & {
  /** Names for columns. */
  map?: Readonly<Record<string, string>> | undefined
  /** What the import leaves out as a whole, with the reason. */
  leftBehind?: readonly { subject: string; rows: number; why: string }[]
}

/**
 * Moves the tables of another shop in. All files are read to their end before the shop changes; a row with a wrong cell is
 * left out and reported with its line.
 *
 * @param source the name by which the shop remembers what moved in
 * @throws AppError as openCsv; VALIDATION_FAILED for a table without a column that it needs
 */
export async function importTables(
  app: App,
  source: string,
  files: readonly TableFile[],
  options: TableOptions
): Promise<MoveReport> {
  const opened: { kind: TableKind; file: CsvFile }[] = []
  for (const { kind, path } of files) {
    const file = await openCsv(path, fieldsOf[kind], options.map)
    options.onStep(`reading ${file.name}`)
    await check(file, kind)
    opened.push({ kind, file })
  }
  const subjects = await moveIn(app, source, options, async (move) => {
    const reports: SubjectReport[] = []
    for (const kind of tableKinds) {
      const own = opened.filter((each) => each.kind === kind).map(({ file }) => file)
      if (own.length > 0) reports.push(...(await movers[kind](own, move)))
    }
    return [...reports, ...(options.leftBehind ?? []).map(asReport)]
  })
  return { source, isDryRun: options.isDryRun, subjects }
}

function asReport({ subject, rows, why }: { subject: string; rows: number; why: string }): SubjectReport {
  const tally = new SubjectTally(subject)
  for (let row = 0; row < rows; row += 1) tally.leave(why, '')
  return tally.build()
}

/** Reads a file to its end. The lines of an order must be together, because an order is stored when it is complete. */
async function check(file: CsvFile, kind: TableKind): Promise<void> {
  for (const field of needed[kind])
    if (!file.has(field)) {
      const cause = `The file has no column "${field}". If another column contains it, pass --map "COLUMN=${field}". The columns are ${file.columns.join(', ').slice(0, 1000)}`
      throw new AppError('VALIDATION_FAILED', `${file.name}: ${cause}.`)
    }
  const seen = new Set<string>()
  let current = ''
  for await (const row of file.rows()) {
    const name = kind === 'orders' ? row.cell('number') : ''
    if (name === current || name === '') continue
    if (seen.has(name)) {
      const cause = `The order ${name.slice(0, 40)} continues after another one. Sort the file by the number of the order.`
      const place = { line: row.line, column: file.titleOf('number'), cause }
      throw new AppError('VALIDATION_FAILED', `${file.name}: ${formatFileError(place)}`)
    }
    seen.add(name)
    current = name
  }
}

type Mover = (files: readonly CsvFile[], move: Move) => Promise<SubjectReport[]>
type WriteRow = (tx: Tx, rows: readonly Cells[], tally: SubjectTally) => void

const movers: Readonly<Record<TableKind, Mover>> = {
  customers: async (files, move) => [
    await moveTable('customers', files, move, (tx, [cells], tally) => {
      if (cells !== undefined) writeCustomer(tx, toCustomer(cells), move, tally)
    })
  ],
  coupons: async (files, move) => {
    const place = {
      currency: setting(move.shop.db, 'shop.currency'),
      products: indexProducts(move.shop.db),
      now: move.now
    }
    return [
      await moveTable('coupons', files, move, (tx, [cells], tally) => {
        if (cells === undefined) return
        const code = cells.required('code')
        writeCoupon(tx, { id: code.toLowerCase(), code, read: () => toCoupon(cells, place) }, move, tally)
      })
    ]
  },
  orders: async (files, move) => {
    const place = { currency: setting(move.shop.db, 'shop.currency'), products: indexProducts(move.shop.db), move }
    return [
      await moveTable(
        'orders',
        files,
        move,
        (tx, rows, tally) => {
          const [head] = rows
          if (head === undefined) return
          const id = head.text('id') || head.required('number')
          writeOrder(tx, { id, read: () => toOrder(tx, rows, place) }, move, tally)
        },
        'number'
      )
    ]
  },
  affiliates: async (files, move) => {
    const currency = setting(move.shop.db, 'shop.currency')
    const read = (tx: Tx, cells: Cells) =>
      toAffiliate(cells, { currency, now: move.now, accountOf: (email) => accountOf(tx, email, move) })
    return [
      await moveTable('affiliates', files, move, (tx, [cells], tally) => {
        if (cells !== undefined) writeAffiliate(tx, read(tx, cells).affiliate, move, tally)
      }),
      await moveTable('commissions', files, move, (tx, [cells], tally) => {
        if (cells !== undefined)
          for (const referral of read(tx, cells).referrals) writeReferral(tx, referral, move, tally)
      }),
      await moveTable('payouts', files, move, (tx, [cells], tally) => {
        if (cells !== undefined) for (const payout of read(tx, cells).payouts) writePayout(tx, payout, move, tally)
      })
    ]
  },
  redirects: async (files, move) => [
    await moveTable('redirects', files, move, (tx, [cells], tally) => {
      if (cells === undefined) return
      const [from, to] = [cells.required('from'), cells.required('to')]
      writeRedirect(tx, { id: redirectKey(from) ?? from, from, leads: { to }, label: from }, move, tally)
    })
  ]
}

const partRows = 200

/**
 * Moves the rows of the files of one subject.
 *
 * @param together the field that rows of the same thing share
 */
async function moveTable(
  subject: string,
  files: readonly CsvFile[],
  move: Move,
  writeRow: WriteRow,
  together?: string
): Promise<SubjectReport> {
  return await moveSubject(move, subject, async function* (tally) {
    for (const file of files) {
      for await (const part of inParts(file, together)) {
        await writeInBatches(move, part, (tx, rows) => attempt(rows, tally, () => writeRow(tx, rows, tally)))
        yield
      }
    }
  })
}

/** Leaves a row out whose cells are wrong. Cells are read before something is written. */
function attempt(rows: readonly Cells[], tally: SubjectTally, work: () => void): void {
  const place = `line ${rows[0]?.line ?? 0}`
  if (rows.some(({ isTooLong }) => isTooLong))
    return tally.leave('The row has more cells than the header: a cell that contains a separator must be quoted', place)
  try {
    work()
  } catch (error) {
    if (!(error instanceof CellError)) throw error
    tally.leave(error.message, place)
  }
}

async function* inParts(file: CsvFile, together: string | undefined): AsyncGenerator<Cells[][]> {
  let part: Cells[][] = []
  let name = ''
  for await (const row of file.rows()) {
    const cells = cellsOf(file, row)
    const own = together === undefined ? '' : cells.text(together)
    const last = part.at(-1)
    // Shopify repeats the number of the order on each of its rows; other files may leave it out.
    if (together !== undefined && last !== undefined && (own === name || own === '')) last.push(cells)
    else {
      if (part.length >= partRows) {
        yield part
        part = []
      }
      part.push([cells])
    }
    if (own !== '') name = own
  }
  if (part.length > 0) yield part
}
