/**
 * SELECTs of the product that read every row of a table, by their file: lists for operators, small tables, and jobs that go
 * through everything. The text begins with the table. The same SELECT elsewhere, and another one of the file that lost its
 * condition, are not on the list.
 */
const readsOfEveryRow: Readonly<Record<string, readonly string[]>> = {
  'src/operations/convert-currency.ts': [
    'coupons',
    'group_prices',
    'price_history',
    'products',
    'shipping_methods',
    'shipping_methods limit +?',
    'variations'
  ],
  'src/operations/diagnosis/network-checks.ts': ['events'],
  'src/operations/metrics/shop-metrics.ts': [
    'orders GROUP BY status UNION ALL SELECT NULL, coalesce(max(id), 0) FROM events'
  ],
  'src/operations/moving-in/tables/products.ts': [
    'products',
    'variations inner join products on products.id = variations.product_id'
  ],
  'src/operations/seeding/demo.ts': ['orders', 'orders limit +?', 'products limit +?', 'users limit +?'],
  'src/operations/seeding/timeline.ts': ['mails'],
  'src/platform/db/database-id.ts': ['identity'],
  'src/platform/db/migrate.ts': ['__drizzle_migrations', 'sqlite_schema'],
  'src/platform/limits.ts': ['rate_limits'],
  'src/shop/accounts/email-tokens.ts': ['email_tokens order by email_tokens.id asc limit +?'],
  'src/shop/accounts/view.ts': ['users order by users.id desc limit +?'],
  'src/shop/affiliates/find.ts': ['affiliates order by affiliates.id asc limit +?'],
  'src/shop/affiliates/rates.ts': ['commission_rates order by commission_rates.starts_at asc, commission_rates.id asc'],
  'src/shop/benefits/plans.ts': ['campaigns order by campaigns.slug', 'plans order by plans.slug'],
  'src/shop/benefits/records.ts': ['gateway_subscriptions limit +?'],
  'src/shop/catalog/category-tree.ts': ['categories', 'categories order by categories.slug asc'],
  'src/shop/catalog/coupons.ts': ['coupons order by coupons.code_key asc limit +?'],
  'src/shop/catalog/export-catalog.ts': ['products order by products.position asc, products.id asc'],
  'src/shop/catalog/images/fetch-images.ts': [
    'product_images inner join products on products.id = product_images.product_id left join media on media.hash = product_images.media_hash order by product_images.id'
  ],
  'src/shop/catalog/manage/sales.ts': ['sales order by sales.ends_at desc, sales.id desc'],
  'src/shop/catalog/public/categories.ts': ['categories order by categories.name, categories.id', 'media limit +?'],
  'src/shop/customers/admin-orders.ts': ['orders order by orders.created_at desc, orders.id desc limit +?'],
  'src/shop/desk/act.ts': [
    'desk_log left join desk_people on desk_people.id = desk_log.person_id order by desk_log.id desc limit +?'
  ],
  'src/shop/events/list-events.ts': ['events order by events.id desc limit +?'],
  'src/shop/feeds/category-paths.ts': ['categories'],
  'src/shop/gift-cards/cards.ts': ['gift_cards order by gift_cards.id desc limit +?'],
  'src/shop/groups/groups.ts': ['customer_groups order by customer_groups.slug asc'],
  'src/shop/groups/members.ts': ['customer_groups order by customer_groups.id asc'],
  'src/shop/invoices/find.ts': ['invoices limit +?'],
  'src/shop/orders/find.ts': ['orders limit +?'],
  'src/shop/payouts/find.ts': [
    'payouts inner join affiliates on affiliates.id = payouts.affiliate_id left join payout_failures on payout_failures.payout_id = payouts.id order by payouts.id desc limit +?'
  ],
  'src/shop/payouts/lost.ts': ['lost_payouts order by lost_payouts.created_at asc, lost_payouts.payout_id asc'],
  'src/shop/redirects/redirects.ts': [
    'redirects left join products on products.id = redirects.product_id left join categories on categories.id = redirects.category_id order by redirects.id asc limit +?'
  ],
  'src/shop/referrals/admin.ts': [
    'referrals inner join affiliates on affiliates.id = referrals.affiliate_id inner join visits on visits.id = referrals.visit_id order by referrals.id asc limit +?',
    'referrals inner join affiliates on affiliates.id = referrals.affiliate_id inner join visits on visits.id = referrals.visit_id order by referrals.id desc limit +?'
  ],
  'src/shop/referrals/stats.ts': ['affiliates'],
  'src/shop/settings/settings.ts': ['modules', 'settings'],
  'src/shop/shipping/zones.ts': [
    'shipping_countries order by shipping_countries.country asc',
    'shipping_zones',
    'shipping_zones order by shipping_zones.position asc, shipping_zones.id asc'
  ],
  'src/shop/tax/rates.ts': ['tax_rates order by tax_rates.country asc, tax_rates.region asc, tax_rates.class asc'],
  'src/shop/webhooks/deliveries.ts': [
    'webhook_deliveries inner join events on events.id = webhook_deliveries.event_id order by webhook_deliveries.id desc limit +?'
  ],
  'src/shop/webhooks/endpoints.ts': ['webhook_endpoints order by webhook_endpoints.id asc'],
  'src/start-server.ts': ['settings']
}

/** Reads all of every table by its name, as a backup must; or reads the sandbox, which is not the shop. */
const readsEverything = /^src\/(operations\/backup|sandbox)\//

/** Whether a SELECT without a condition is one of those that may read every row. */
export function isListedRead(file: string, source: string): boolean {
  return readsEverything.test(file) || readsOfEveryRow[file]?.includes(tailOf(source)) === true
}

/** The text of a SELECT from its table on, without quotes. */
export function tailOf(source: string): string {
  const text = source.replaceAll('"', '').replaceAll(/\s+/g, ' ').trim()
  return text.replace(/^.*? from /i, '')
}

/** The listed reads, as SELECTs that a test can prepare. */
export const listedReads = Object.values(readsOfEveryRow)
  .flat()
  .map((tail) => `SELECT 1, 1 FROM ${tail.replaceAll('+?', '1')}`)
