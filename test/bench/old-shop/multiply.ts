import Database from 'better-sqlite3'

const dayMs = 86_400_000
/** How long an old shop has been selling. */
const years = 10

/** Tables that a shop's operator fills: they stay as they are in the template. */
const fixed = new Set([
  '__drizzle_migrations',
  'affiliate_customers',
  'affiliate_coupons',
  'campaigns',
  'commission_rates',
  'gift_card_entries',
  'gift_cards',
  'categories',
  'lost_payouts',
  'media',
  'identity',
  'modules',
  'plans',
  'price_history',
  'product_categories',
  'product_grants',
  'product_images',
  'product_tags',
  'products',
  'redirects',
  'revisions',
  'search_words',
  'settings',
  'shipping_countries',
  'shipping_methods',
  'shipping_zones',
  'tax_rates',
  'vat_checks',
  'variations',
  'webhook_endpoints',
  'webhook_probes',
  'webhook_signatures',
  'coupon_products',
  'sale_products',
  'coupon_categories',
  'customer_groups',
  'group_members',
  'group_prices',
  'desk_people',
  'desk_passkeys',
  'desk_invitations',
  'desk_sessions',
  'desk_log'
])

/** Tables that triggers fill. */
const derived = new Set(['customer_order_totals', 'referral_totals', 'commission_totals'])

/**
 * Rows that the shop deletes after some days. Only the newest copies have them, in the days that the shop keeps them: a
 * twentieth of the copies, and at least twenty.
 */
const expiring = new Map([
  ['sessions', 3],
  ['idempotency_keys', 1],
  ['email_tokens', 3],
  ['order_holders', 1],
  ['mails', 25],
  ['webhook_deliveries', 25],
  ['webhook_inbox', 25],
  ['events', 85]
])

/** A row in this many copies of the template, because a shop has few affiliates and coupons. */
const every: Record<string, number> = { affiliates: 50, affiliate_clicks: 50, coupons: 3 }

/** The table whose ids a column contains. */
const referenced: Record<string, string> = {
  addition_id: 'orders',
  affiliate_id: 'affiliates',
  attempt_id: 'payment_attempts',
  event_id: 'events',
  order_id: 'orders',
  order_item_id: 'order_items',
  order_refund_id: 'order_refunds',
  payout_id: 'payouts',
  referral_id: 'referrals',
  refund_id: 'order_refunds',
  renewal_of: 'orders',
  shipment_id: 'shipments',
  successor_id: 'affiliates',
  user_id: 'users',
  visit_id: 'visits'
}
/** References to rows that every copy shares. */
const shared = new Set([
  'campaign_id',
  'coupon_id',
  'endpoint_id',
  'gift_card_id',
  'plan_id',
  'rate_id',
  'product_id',
  'target_id',
  'variation_id'
])

/** Texts that name something at the gateway or a secret, and are unique. */
const named = new Set([
  'code',
  'code_key',
  'confirm_key',
  'create_key',
  'customer_id',
  'event_id',
  'gateway_id',
  'gateway_key',
  'gateway_refund_id',
  'invoice_id',
  'object_id',
  'payment_intent_id',
  'public_token',
  'source_id',
  'token',
  'token_hash',
  'username',
  'username_key',
  'key',
  'scope',
  'cart_key',
  'address_key',
  'url'
])
const emails = new Set(['email', 'email_key', 'billing_email', 'new_email', 'recipient'])
/** `user:7` for an account, otherwise a key of a guest. */
const people = new Set(['buyer', 'customer_key'])
/** JSON objects with ids. */
const payloads = new Set(['events.payload', 'mails.data'])
const payloadIds: Record<string, string> = {
  affiliateId: 'affiliates',
  orderId: 'orders',
  payoutId: 'payouts',
  referralId: 'referrals',
  shipmentId: 'shipments',
  subscriptionId: 'subscriptions',
  membershipId: 'memberships',
  donationId: 'donations',
  userId: 'users'
}

type Column = { name: string; type: string }

/**
 * Makes an old shop of a template: many copies of its rows, spread over ten years, each with its own ids, names and
 * emails. `file` is a copy of the template's database. The newest copy is the template itself; the others lack its open
 * orders and what the shop deletes after a time. Triggers fill the totals, and the documents get numbers without gaps.
 *
 * @param orders how many orders the shop has at least
 */
export function multiply(file: string, orders: number, progress: (line: string) => void = () => undefined): void {
  const sqlite = new Database(file)
  sqlite.pragma('journal_mode = OFF')
  sqlite.pragma('synchronous = OFF')
  sqlite.pragma('foreign_keys = OFF')
  sqlite.pragma('cache_size = -400000')
  sqlite.pragma('temp_store = MEMORY')
  sqlite.function('compare_key', (text) => text)
  sqlite.prepare('ATTACH ? AS template').run(':memory:')
  const shop = new Multiplied(sqlite)
  const copies = Math.ceil(orders / shop.settledOrders)
  shop.fill(copies, progress)
  sqlite.pragma('journal_mode = WAL')
  sqlite.close()
}

class Multiplied {
  readonly settledOrders: number
  private readonly sqlite: Database.Database
  private readonly tables: string[]
  private readonly strides = new Map<string, number>()

  constructor(sqlite: Database.Database) {
    this.sqlite = sqlite
    this.tables = this.names(`SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
      AND name NOT LIKE 'products_search%' ORDER BY name`).filter((name) => !fixed.has(name) && !derived.has(name))
    for (const table of this.tables) {
      sqlite.exec(`CREATE TABLE template."${table}" AS SELECT * FROM main."${table}"`)
      if (this.columns(table).some(({ name }) => name === 'id'))
        this.strides.set(
          table,
          Number(sqlite.prepare(`SELECT coalesce(max(id), 0) FROM template."${table}"`).pluck().get())
        )
    }
    sqlite.exec(`CREATE TEMP TABLE open AS SELECT id FROM template.orders WHERE status = 'pending'
      UNION SELECT order_id FROM template.payment_attempts WHERE outcome IS NULL`)
    this.settledOrders = Number(
      sqlite.prepare('SELECT count(*) FROM template.orders WHERE id NOT IN temp.open').pluck().get()
    )
  }

  fill(copies: number, progress: (line: string) => void): void {
    this.sqlite.exec(`
      CREATE TEMP TABLE copies (k INTEGER PRIMARY KEY, days INTEGER, suffix TEXT, recent INTEGER, newest INTEGER);
      WITH RECURSIVE n(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM n WHERE k < ${copies - 1})
      INSERT INTO temp.copies SELECT k, (${copies - 1} - k) * ${years * 365} / ${copies},
        CASE k WHEN ${copies - 1} THEN '' ELSE '-' || k END, k >= ${copies} - max(20, ${copies} / 20), k = ${copies - 1} FROM n;`)
    this.empty()
    const startedAt = performance.now()
    for (const table of this.inOrder()) {
      this.sqlite.exec('BEGIN')
      if (table === 'invoices') this.addDocuments()
      else this.sqlite.exec(this.insert(table))
      this.sqlite.exec('COMMIT')
      progress(`${table} (${Math.round((performance.now() - startedAt) / 1000)} s)`)
    }
    this.sqlite.exec(`UPDATE coupons SET used =
      (SELECT count(*) FROM order_coupons WHERE coupon_id = coupons.id AND counted = 1)`)
  }

  /** Events come before what belongs to them. */
  private inOrder(): string[] {
    return this.tables.toSorted((a, b) => Number(b === 'events') - Number(a === 'events'))
  }

  /** Deletes the growing rows. Triggers keep a shop from that, so they are away for the time. */
  private empty(): void {
    const triggers = this.sqlite
      .prepare<[], { name: string; sql: string }>(`SELECT name, sql FROM main.sqlite_master WHERE type = 'trigger'`)
      .all()
    for (const { name } of triggers) this.sqlite.exec(`DROP TRIGGER "${name}"`)
    for (const table of [...this.tables, ...derived]) this.sqlite.exec(`DELETE FROM main."${table}"`)
    for (const { sql } of triggers) this.sqlite.exec(sql)
  }

  private insert(table: string): string {
    const columns = this.columns(table)
    const names = columns.map(({ name }) => `"${name}"`).join(', ')
    const values = columns.map((column) => this.value(table, column)).join(', ')
    return `INSERT INTO main."${table}" (${names}) SELECT ${values} FROM temp.copies c CROSS JOIN template."${table}" t
      WHERE ${this.filter(table, columns)}`
  }

  /** Which rows of the template a copy has. */
  private filter(table: string, columns: readonly Column[]): string {
    const has = (name: string): boolean => columns.some((column) => column.name === name)
    const days = expiring.get(table)
    const tests = [
      ...(every[table] === undefined ? [] : [`(c.newest OR c.k % ${every[table]} = 0)`]),
      ...(table === 'orders' ? ['(c.newest OR t.id NOT IN temp.open)'] : []),
      ...(has('order_id') ? ['(c.newest OR t.order_id IS NULL OR t.order_id NOT IN temp.open)'] : []),
      ...(days === undefined ? [] : ['c.recent'])
    ]
    return tests.length === 0 ? 'true' : tests.join(' AND ')
  }

  private value(table: string, { name, type }: Column): string {
    const column = `t."${name}"`
    if (name === 'id') return this.shifted(table, column)
    if (type === 'INTEGER' && isTime(name)) return `${column} - ${this.age(table)} * ${dayMs}`
    if (type === 'INTEGER' && referenced[name] !== undefined) return this.shifted(referenced[name], column)
    if (emails.has(name)) return `CASE WHEN c.newest THEN ${column} ELSE 'c' || c.k || '.' || ${column} END`
    if (people.has(name) && table !== 'invoices')
      return `CASE WHEN ${column} LIKE 'user:%' THEN 'user:' || ${this.shifted('users', `substr(${column}, 6)`)}
        ELSE ${column} || c.suffix END`
    if (payloads.has(`${table}.${name}`)) return this.payload(column)
    if (table === 'affiliate_clicks' && name === 'day') return `date(${column}, '-' || c.days || ' days')`
    if (type === 'TEXT' && named.has(name)) return `${column} || c.suffix`
    if (name.endsWith('_id') && !shared.has(name) && type === 'INTEGER')
      throw new Error(`Say in multiply.ts what ${table}.${name} refers to.`)
    return column
  }

  /** How many days before the template a copy's row is. */
  private age(table: string): string {
    const days = expiring.get(table)
    return days === undefined ? 'c.days' : `c.days % ${days}`
  }

  /** An id of a copy. Affiliates are there once for many copies. */
  private shifted(table: string, id: string): string {
    const step = every[table]
    const copy = step === undefined ? 'c.k' : `(CASE WHEN c.newest THEN c.k ELSE c.k - c.k % ${step} END)`
    return `${id} + ${copy} * ${this.strides.get(table) ?? 0}`
  }

  private payload(column: string): string {
    const changes = Object.entries(payloadIds).map(
      ([name, table]) => `'$.${name}', ${this.shifted(table, `json_extract(${column}, '$.${name}')`)}`
    )
    return `json_replace(${column}, ${changes.join(', ')})`
  }

  /** Documents are numbered by kind and year, in the order of their dates. */
  private addDocuments(): void {
    const moved = `date(t.date, '-' || c.days || ' days')`
    const year = `CAST(substr(${moved}, 1, 4) AS INTEGER)`
    const from = `FROM temp.copies c CROSS JOIN template.invoices t WHERE ${this.filter('invoices', this.columns('invoices'))}`
    const years = this.sqlite.prepare<[], number>(`SELECT DISTINCT ${year} ${from} ORDER BY 1`).pluck().all()
    for (const value of years)
      this.sqlite.exec(`
        INSERT INTO main.invoices (order_id, kind, year, sequence, number, date, currency, total_minor, buyer, document, correction, issued_at)
        SELECT ${this.shifted('orders', 'order_id')}, kind, ${value}, sequence,
          substr(number, 1, instr(number, year || '-') - 1) || ${value} || '-' || sequence, date, currency, total_minor, buyer, document, correction, issued_at
        FROM (SELECT c.k, c.days, c.newest, t.order_id, t.kind, t.year, t.number, ${moved} AS date, t.currency, t.total_minor, t.buyer, t.document, t.correction,
            t.issued_at - c.days * ${dayMs} AS issued_at,
            row_number() OVER (PARTITION BY t.kind ORDER BY t.issued_at - c.days * ${dayMs}, c.k, t.id) AS sequence
          ${from} AND ${year} = ${value}) c
        ORDER BY kind, sequence`)
  }

  private columns(table: string): Column[] {
    return this.sqlite.prepare<[], Column>(`SELECT name, type FROM pragma_table_info('${table}', 'main')`).all()
  }

  private names(source: string): string[] {
    return this.sqlite.prepare<[], string>(source).pluck().all()
  }
}

function isTime(name: string): boolean {
  return name !== 'cancel_at_period_end' && (name === 'at' || /_(at|end|start|since)$/.test(name))
}
