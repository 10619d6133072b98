import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { isElsewhereInEu, vatCountry } from '../../platform/vat.ts'
import type { JournalRow } from '../../shop/invoices/journal.ts'
import type { AccountKey } from '../../shop/settings/account-keys.ts'
import { readAccountEntry } from '../../shop/settings/account-keys.ts'
import { setting } from '../../shop/settings/settings.ts'
import type { TaxCategory } from '../../shop/tax/categories.ts'

/** An account, and the tax key (BU-Schlüssel) that DATEV needs with an account that does not imply the tax. */
export type Account = { number: string; taxKey: string }

type Chart = Readonly<Record<string, string>>

/**
 * The accounts of DATEV's charts for merchants (datev.de, Kontenrahmen SKR 03 and SKR 04). Those of domestic sales, of
 * supplies within the EU and of exports imply their tax. The sales of the One-Stop-Shop have the tax key 240, which needs
 * the country and the rate (DATEV help center, document 1020263). Buyers are one collective customer: payments are matched
 * by the number of the document.
 */
const charts: Readonly<Record<string, Chart>> = {
  own: {},
  skr03: {
    'domestic-19': '8400',
    'domestic-7': '8300',
    'oss-goods': '8320/240',
    'oss-services': '8331/240',
    supply: '8125',
    'reverse-charge': '8336',
    export: '8120',
    outside: '8338',
    'small-business': '8195',
    // Other liabilities: what was sold is owed until it is used.
    voucher: '1700',
    zero: '8200',
    none: '8200',
    'payment-stripe': '10000',
    'payment-manual': '10000',
    'payment-other': '10000'
  },
  skr04: {
    'domestic-19': '4400',
    'domestic-7': '4300',
    'oss-goods': '4320/240',
    'oss-services': '4331/240',
    supply: '4125',
    'reverse-charge': '4336',
    export: '4120',
    outside: '4338',
    'small-business': '4185',
    voucher: '3500',
    zero: '4200',
    none: '4200',
    'payment-stripe': '10000',
    'payment-manual': '10000',
    'payment-other': '10000'
  }
}

const keysOfCategories: Readonly<Record<Exclude<TaxCategory, 'taxed'>, AccountKey>> = {
  zero: 'zero',
  supply: 'supply',
  reverse_charge: 'reverse-charge',
  export: 'export',
  outside: 'outside',
  small_business: 'small-business',
  voucher: 'voucher',
  none: 'none'
}

/** How an order was paid, as the names of the accounts know it. */
export type PaidBy = 'stripe' | 'manual' | 'other'

/** The accounts and tax names of the shop by key; undefined for a key that has none. */
export type Accounts = {
  accountOf: (key: AccountKey) => Account | undefined
  taxCodeOf: (key: AccountKey) => string | undefined
}

/** The accounts by `accounting.chart`, replaced and completed by `accounting.accounts`. */
export function accountsOf(db: Db): Accounts {
  const entries = (name: 'accounting.accounts' | 'accounting.taxCodes'): Map<string, string> =>
    new Map(
      setting(db, name).flatMap((text) => {
        const { key, value } = readAccountEntry(text) ?? {}
        return key === undefined || value === undefined ? [] : [[key, value]]
      })
    )
  const accounts = new Map([
    ...Object.entries(charts[setting(db, 'accounting.chart')] ?? {}),
    ...entries('accounting.accounts')
  ])
  const codes = entries('accounting.taxCodes')
  return {
    accountOf: (key) => {
      const text = accounts.get(key) ?? (isPayment(key) ? undefined : accounts.get('sales'))
      const [number = '', taxKey = ''] = text?.split('/') ?? []
      return number === '' ? undefined : { number, taxKey }
    },
    taxCodeOf: (key) => codes.get(key) ?? codes.get('sales')
  }
}

function isPayment(key: AccountKey): boolean {
  return key.startsWith('payment-')
}

/** A part of a row that has one account: its goods, its services, or both where they have the same. */
export type Posting = { key: AccountKey; netMinor: number; taxMinor: number }

/** A row of the journal with its payment, and what it is posted to. */
export type PostedRow = JournalRow & {
  payment: { gateway: string; id: string | null } | null
  paidBy: PaidBy
  postings: readonly Posting[]
  /** The accounts of the postings. Keys without an account are left out. */
  accounts: readonly string[]
}

/** A row of the journal by its accounts. The parts add up to the row. */
export function postingsOf(row: JournalRow): Posting[] {
  const { netMinor, taxMinor, serviceNetMinor, serviceTaxMinor } = row
  const goods = { key: keyOf(row, false), netMinor: netMinor - serviceNetMinor, taxMinor: taxMinor - serviceTaxMinor }
  const services = { key: keyOf(row, true), netMinor: serviceNetMinor, taxMinor: serviceTaxMinor }
  if (goods.key === services.key) return [{ key: goods.key, netMinor, taxMinor }]
  return [goods, services].filter((part) => part.netMinor !== 0 || part.taxMinor !== 0)
}

function keyOf({ category, country, rateMillionths, seller }: JournalRow, isService: boolean): AccountKey {
  if (category !== 'taxed') return keysOfCategories[category]
  if (isOneStopShop({ category, country }, seller.country)) return isService ? 'oss-services' : 'oss-goods'
  return country === vatCountry(seller.country) ? `domestic-${rateMillionths / 10_000}` : 'foreign'
}

/**
 * Whether a shop in the EU declares a tax in the One-Stop-Shop (Directive 2006/112/EC, articles 369a to 369k): consumers in
 * another member state owe it there.
 */
export function isOneStopShop(
  { category, country }: { category: TaxCategory; country: string },
  sellerCountry: string
): boolean {
  return category === 'taxed' && isElsewhereInEu(country, sellerCountry)
}

/**
 * Checks that each key of some rows has what a file needs of it.
 *
 * @throws AppError CONFLICT that names the keys without it, and the setting that gives it
 */
export function assertKeys<Row>(
  what: 'account' | 'tax name',
  rows: readonly Row[],
  keysOf: (row: Row) => readonly AccountKey[],
  find: (key: AccountKey) => unknown
): void {
  const keys = new Set(rows.flatMap(keysOf))
  const missing = [...keys].filter((key) => find(key) === undefined).toSorted()
  if (missing.length === 0) return
  const settings = what === 'account' ? 'accounting.chart, or accounting.accounts' : 'accounting.taxCodes'
  throw new AppError(
    'CONFLICT',
    `There is no ${what} for ${missing.join(', ')}. Set ${settings} with ${missing[0]}=… for each.`
  )
}
