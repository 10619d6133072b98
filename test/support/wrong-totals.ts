import type Database from 'better-sqlite3'

/** The sums that triggers should have stored, and those that they have, each with its name. */
const comparisons = [
  [
    'referral_totals',
    `SELECT affiliate_id, day, currency, status, count(*), sum(amount_minor)
     FROM referrals GROUP BY 1, 2, 3, 4`,
    `SELECT affiliate_id, day, currency, status, orders, amount_minor FROM referral_totals
     WHERE orders <> 0 OR amount_minor <> 0`
  ],
  [
    'commission_totals',
    `SELECT affiliate_id, currency, kind, sum(amount_minor) FROM commission_entries GROUP BY 1, 2, 3`,
    `SELECT affiliate_id, currency, kind, amount_minor FROM commission_totals`
  ]
] as const

/** One line for each row of the totals of referrals and commissions that is not the sum of its rows. */
export function wrongTotals(sqlite: Database.Database): string[] {
  const rows = (sql: string): Set<string> => new Set(sqlite.prepare(sql).raw().all().map(String))
  return comparisons.flatMap(([table, summed, stored]) => {
    const [expected, found] = [rows(summed), rows(stored)]
    const lacking = [...expected].filter((row) => !found.has(row)).map((row) => `${table} lacks ${row}`)
    return [...lacking, ...[...found].filter((row) => !expected.has(row)).map((row) => `${table} has ${row}`)]
  })
}
