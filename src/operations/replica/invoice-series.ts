import Database from 'better-sqlite3'

const longestPrefix = 20

/**
 * Sets another `invoice.prefix` in the file of a database that continues a lost one, and returns it. The lost machine may
 * have issued invoices that the copy does not have, and the law forbids issuing a number twice. The numbers themselves
 * have no gaps, so they cannot skip those. The minute of the restore makes the prefix unique: a second restore of the
 * same state must not repeat the numbers of the first.
 *
 * @throws Error for a file that is not a shop's database
 */
export function beginInvoiceSeries(file: string, now: number): string {
  const sqlite = new Database(file)
  try {
    const stored = sqlite.prepare("SELECT value FROM settings WHERE key = 'invoice.prefix'").pluck().get()
    const prefix = nextPrefix(typeof stored === 'string' ? String(JSON.parse(stored)) : '', now)
    const set = `INSERT INTO settings (key, value, updated_at) VALUES ('invoice.prefix', ?, ?)
      ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`
    sqlite.prepare(set).run(JSON.stringify(prefix), now)
    return prefix
  } finally {
    sqlite.close()
  }
}

/** `TL-` becomes `TL-R2611232204-`; a prefix that leaves no room is dropped. */
function nextPrefix(before: string, now: number): string {
  const minute = new Date(now).toISOString().replaceAll(/\D/g, '').slice(2, 12)
  const prefix = `${before.replace(/R\d{10}-$/, '')}R${minute}-`
  return prefix.length <= longestPrefix ? prefix : `R${minute}-`
}
