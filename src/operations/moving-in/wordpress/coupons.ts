import type { Tx } from '../../../platform/db/database.ts'
import { htmlToLine } from '../../../shop/catalog/import/html-text.ts'
import { setting } from '../../../shop/settings/settings.ts'
import { writeCoupon } from '../coupons.ts'
import type { CouponRecord } from '../coupons.ts'
import { writeInBatches } from '../move.ts'
import type { Move } from '../move.ts'
import type { SubjectTally } from '../report.ts'
import type { Row, WordPress } from './database.ts'
import { readTerms } from './terms.ts'
import type { Terms } from './terms.ts'
import { idsOf, minorOf, phpEntries, readMeta, scalar, seconds, text, utc } from './values.ts'
import type { Meta } from './values.ts'

/** Moves the coupons in, with their limits and the number of their uses. */
export async function* moveCoupons(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  const sql = `SELECT ID AS id, post_title, post_status, post_date_gmt FROM {posts}
    WHERE post_type = 'shop_coupon' AND post_status NOT IN ('auto-draft', 'inherit') AND ID > ?`
  const terms = await readTerms(source)
  for await (const rows of source.parts(sql)) {
    const metaOf = await readMeta(source, { table: 'postmeta', owner: 'post_id' }, idsOf(rows))
    await writeInBatches(move, rows, (tx, row) =>
      moveCoupon(tx, { row, meta: metaOf(text(row, 'id')), terms }, move, tally)
    )
    yield
  }
}

type Coupon = { row: Row; meta: Meta; terms: Terms }

function moveCoupon(tx: Tx, coupon: Coupon, move: Move, tally: SubjectTally): void {
  const id = text(coupon.row, 'id')
  const code = htmlToLine(text(coupon.row, 'post_title'))
  writeCoupon(tx, { id, code, read: () => read(tx, coupon, move) }, move, tally)
}

function read(tx: Tx, coupon: Coupon, move: Move): CouponRecord | string {
  if (text(coupon.row, 'post_status') === 'trash') return 'The coupon is in the trash'
  const scope = scopeOf(tx, coupon, move)
  if (scope === undefined) return 'The coupon is for products that do not arrive'
  return { ...toCoupon(coupon, setting(tx, 'shop.currency')), ...scope, lost: unsupported(coupon.meta) }
}

type Scope = Pick<CouponRecord, 'productIds' | 'categories'>

/** What the coupon applies to; undefined if a part of it did not arrive, because the coupon would then apply to more. */
function scopeOf(tx: Tx, { meta, terms }: Coupon, move: Move): Scope | undefined {
  const ids = (meta.get('product_ids') ?? '').split(',').filter((id) => id !== '')
  const productIds = ids.flatMap((id) => move.moved.find(tx, 'product', id) ?? [])
  const wanted = phpEntries(meta.get('product_categories') ?? '').map(([, id]) => scalar(id))
  const categories = terms.categories.filter(({ id }) => wanted.includes(id)).map(terms.slugPathOf)
  return productIds.length < ids.length || categories.length < wanted.length ? undefined : { productIds, categories }
}

/** The coupon without its scope and its conditions. */
function toCoupon({ row, meta }: Coupon, currency: string): Omit<CouponRecord, keyof Scope | 'lost'> {
  const type = meta.get('discount_type') ?? 'fixed_cart'
  const amount = meta.get('coupon_amount') ?? '0'
  const percentBps = type.endsWith('percent') ? Math.round(Number(amount) * 100) : null
  const amountMinor = percentBps === null ? minorOf(amount, currency) : null
  return {
    percentBps,
    amountMinor,
    startsAt: null,
    endsAt: seconds(meta.get('date_expires') ?? ''),
    minTotalMinor: minorOf(meta.get('minimum_amount') ?? '', currency) || null,
    maxUses: wholeNumber(meta.get('usage_limit')),
    maxUsesPerCustomer: wholeNumber(meta.get('usage_limit_per_user')),
    exclusive: meta.get('individual_use') === 'yes',
    used: wholeNumber(meta.get('usage_count')) ?? 0,
    enabled: text(row, 'post_status') === 'publish',
    createdAt: utc(text(row, 'post_date_gmt')) ?? 0
  }
}

/** A whole number above 0; null for none, which WooCommerce writes as 0 or nothing. */
function wholeNumber(stored: string | undefined): number | null {
  return stored !== undefined && /^[1-9]\d{0,8}$/.test(stored) ? Number(stored) : null
}

/** The conditions of a coupon that this shop does not have. Without them it would take off more than the owner allowed. */
function unsupported(meta: Meta): string[] {
  const type = meta.get('discount_type') ?? 'fixed_cart'
  const isList = (key: string): boolean => phpEntries(meta.get(key) ?? '').length > 0
  const conditions: [string, boolean][] = [
    ['A discount for each product', type === 'fixed_product'],
    ['A discount on sign-up fees or renewals', /^(?:sign_up_fee|recurring)/.test(type)],
    ['A maximum total', Number(meta.get('maximum_amount') ?? '') > 0],
    ['A limit of items', wholeNumber(meta.get('limit_usage_to_x_items')) !== null],
    ['A coupon that excludes products on sale', meta.get('exclude_sale_items') === 'yes'],
    ['Free shipping', meta.get('free_shipping') === 'yes'],
    ['A coupon that excludes products', (meta.get('exclude_product_ids') ?? '') !== ''],
    ['A coupon that excludes categories', isList('exclude_product_categories')],
    ['A list of emails', isList('customer_email')]
  ]
  return conditions.flatMap(([condition, applies]) => (applies ? [condition] : []))
}
