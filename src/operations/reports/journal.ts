import { z } from 'zod'
import { and, asc, between, eq } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { readSnapshot } from '../../platform/db/database.ts'
import { journalOf } from '../../shop/invoices/journal.ts'
import { invoices } from '../../shop/invoices/schema.ts'
import { paymentAttempts } from '../../shop/payments/schema.ts'
import { isOwedByBuyer } from '../../shop/tax/categories.ts'
import { accountsOf, postingsOf } from './accounts.ts'
import type { PaidBy, PostedRow } from './accounts.ts'
import { datevFile } from './datev.ts'
import { quickbooksFile, xeroFile } from './invoice-imports.ts'
import { shopDays } from './days.ts'
import type { Days } from './days.ts'
import { amount, chartsByCurrency, defineReport, money, netAndTax } from './report.ts'
import type { Column } from './report.ts'

const columns: readonly Column<PostedRow>[] = [
  { key: 'number', kind: 'text', title: 'Document', value: ({ number }) => number },
  { key: 'kind', kind: 'text', value: ({ kind }) => kind },
  { key: 'date', kind: 'text', title: 'Date', value: ({ date }) => date },
  { key: 'suppliedOn', kind: 'text', value: ({ suppliedOn }) => suppliedOn },
  { key: 'paidOn', kind: 'text', value: ({ paidOn }) => paidOn },
  { key: 'orderId', csv: 'order', kind: 'count', title: 'Order', value: ({ orderId }) => orderId },
  { key: 'corrects', kind: 'text', value: ({ corrects }) => corrects },
  { key: 'customer', kind: 'text', title: 'Customer', isDetail: true, value: ({ customer }) => customer },
  { key: 'vatId', kind: 'text', value: ({ vatId }) => vatId },
  { key: 'vatIdOutcome', kind: 'text', value: ({ vatCheck }) => vatCheck?.outcome ?? null },
  { key: 'vatIdCheckedOn', kind: 'text', value: ({ vatCheck }) => vatCheck?.day ?? null },
  { key: 'vatIdConsultation', kind: 'text', value: ({ vatCheck }) => vatCheck?.consultation ?? null },
  { key: 'country', kind: 'text', title: 'Country', value: ({ country }) => country },
  { key: 'region', kind: 'text', value: ({ region }) => region },
  { key: 'destination', kind: 'text', value: ({ destination }) => destination },
  { key: 'name', csv: 'tax', kind: 'text', value: ({ name }) => name },
  { key: 'ratePercent', kind: 'percent', title: 'Rate', value: ({ rateMillionths }) => rateMillionths / 10_000 },
  { key: 'category', kind: 'text', value: ({ category }) => category },
  { key: 'reverseCharge', kind: 'yesNo', value: isOwedByBuyer },
  { key: 'currency', kind: 'text', value: ({ currency }) => currency },
  ...netAndTax('Tax'),
  { key: 'gross', ...money, title: 'Gross', value: amount(({ netMinor, taxMinor }) => netMinor + taxMinor) },
  { key: 'payment', kind: 'text', value: ({ payment }) => payment?.gateway },
  { key: 'paymentId', kind: 'text', value: ({ payment }) => payment?.id },
  { key: 'accountKeys', kind: 'words', value: ({ postings }) => postings.map(({ key }) => key) },
  { key: 'accounts', kind: 'words', title: 'Account', isDetail: true, value: ({ accounts }) => accounts }
]

/** Every document of some days, a row for each tax rate, to enter into the books one by one. */
export const journalReport = defineReport({
  name: 'journal',
  title: 'Journal',
  about: 'each invoice and credit note of some days, a row for each tax rate',
  example: 'report journal --quarter 2026Q1 --csv journal.csv',
  period: shopDays,
  input: z.object({}),
  columns,
  totals: { label: 'Total', by: ({ currency }) => currency },
  formats: [
    {
      name: 'datev',
      about: 'a batch of postings for DATEV',
      charset: 'windows-1252',
      write: ({ shop: { db }, period, rows }) => datevFile(db, period, rows)
    },
    { name: 'xero', about: 'sales invoices for Xero', write: ({ shop: { db }, rows }) => xeroFile(db, rows) },
    {
      name: 'quickbooks',
      about: 'invoices for QuickBooks Online',
      write: ({ shop: { db }, rows }) => quickbooksFile(db, rows, 'invoice')
    },
    {
      name: 'quickbooks-credits',
      about: 'credit notes for QuickBooks Online',
      write: ({ shop: { db }, rows }) => quickbooksFile(db, rows, 'credit_note')
    }
  ],
  read: ({ shop: { db }, period: days }) => {
    const rows = postedJournal(db, days)
    const byMonth = Map.groupBy(rows, ({ date, currency }) => `${date.slice(0, 'YYYY-MM'.length)} ${currency}`)
    const months = [...byMonth.values()].flatMap((some) => {
      const [first] = some
      if (first === undefined) return []
      const grossMinor = some.reduce((sum, { netMinor, taxMinor }) => sum + netMinor + taxMinor, 0)
      return [{ month: first.date.slice(0, 'YYYY-MM'.length), currency: first.currency, grossMinor }]
    })
    return {
      rows,
      charts: chartsByCurrency({ title: 'Gross by month', kind: 'columns' }, months, ({ month, grossMinor }) => ({
        label: month,
        minor: grossMinor
      })),
      notes: [
        rows.length === 0
          ? `No documents from ${days.from} to ${days.to}.`
          : 'The day is that of the document. The amounts of credit notes are negative. The sums are those of report tax.'
      ]
    }
  }
})

/** The journal of some days with the payments of the orders and the accounts of the rows. */
function postedJournal(db: Db, days: Days): PostedRow[] {
  const { accountOf } = accountsOf(db)
  return readSnapshot(db, () => {
    const payments = paymentsOf(db, days)
    return journalOf(db, days).map((row) => {
      const postings = postingsOf(row)
      const accounts = postings.flatMap(({ key }) => accountOf(key)?.number ?? [])
      const payment = payments.get(row.orderId) ?? null
      return { ...row, payment, paidBy: paidByOf(payment?.gateway), postings, accounts }
    })
  })
}

function paidByOf(gateway: string | undefined): PaidBy {
  if (gateway === 'manual') return 'manual'
  return gateway === 'stripe' || gateway === 'sandbox' ? 'stripe' : 'other'
}

/** The payment of each order with a document of these days: the one that arrived first. A later one is refunded. */
function paymentsOf(db: Db, { from, to }: Days): ReadonlyMap<number, NonNullable<PostedRow['payment']>> {
  const found = db.orm
    .select({
      orderId: paymentAttempts.orderId,
      gateway: paymentAttempts.gateway,
      intentId: paymentAttempts.paymentIntentId,
      objectId: paymentAttempts.objectId
    })
    .from(paymentAttempts)
    .innerJoin(invoices, eq(invoices.orderId, paymentAttempts.orderId))
    .where(and(between(invoices.date, from, to), eq(paymentAttempts.outcome, 'paid')))
    .orderBy(asc(paymentAttempts.settledAt), asc(paymentAttempts.id))
    .all()
  const payments = new Map<number, NonNullable<PostedRow['payment']>>()
  for (const { orderId, gateway, intentId, objectId } of found)
    if (!payments.has(orderId)) payments.set(orderId, { gateway, id: intentId ?? objectId })
  return payments
}
