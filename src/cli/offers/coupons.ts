import { defineTableImport } from '../shop/table-import.ts'
import type { ShopCommand, Work } from '../run.ts'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { minimumChargeMinor, formatMoney, toMinor } from '../../platform/money.ts'
import { productsBelowMinimum } from '../../shop/catalog/sellable.ts'
import { createCoupon } from '../../shop/catalog/apply-catalog.ts'
import { inactiveReason } from '../../shop/catalog/coupon-rules.ts'
import { createAffiliateCoupon, findCouponAffiliate, setCouponAffiliate } from '../../shop/affiliates/coupons.ts'
import { isCreditable } from '../../shop/affiliates/credit.ts'
import type { AffiliateRow } from '../../shop/affiliates/find.ts'
import { disableCoupon, listCoupons, toCoupon } from '../../shop/catalog/coupons.ts'
import type { CouponView } from '../../shop/catalog/coupons.ts'
import { formatSchemas } from '../../shop/catalog/import/format.ts'
import type { CouponInput } from '../../shop/catalog/import/format.ts'
import type { CouponRow } from '../../shop/catalog/rows.ts'
import { shopPlace, untilText } from '../../shop/settings/shop-days.ts'
import type { ShopPlace } from '../../shop/settings/shop-days.ts'
import { setting } from '../../shop/settings/settings.ts'
import { JsonList } from '../terminal/output.ts'
import type { Answer } from '../terminal/output.ts'
import { table, timeText } from '../terminal/table.ts'
import { numberOrText } from '../../platform/input-fields.ts'
import { collect } from '../terminal/arguments.ts'
import { addCommand, runs } from '../run.ts'

type CreateOptions = {
  code: string
  percent?: string
  amount?: string
  minTotal?: string
  maxUses?: string
  maxUsesPerCustomer?: string
  exclusive?: boolean
  startsAt?: string
  endsAt?: string
  product: string[]
  category: string[]
  affiliate?: string
}

type SetOptions = { affiliate?: string | boolean }

export function define(program: ShopCommand): void {
  const group = program.command('coupons').description('coupon codes')
  runs(addCommand(group, 'list', 'list the coupons with their uses', 'coupons list'), list)
  defineTableImport(group, 'coupons', 'code, and percent or amount')
  const create = addCommand(
    group,
    'create',
    'create a coupon',
    'coupons create --code SPRING --percent 10 --max-uses 100'
  )
    .requiredOption('--code <code>', 'the code that buyers enter; case does not matter')
    .option('--percent <n>', 'discount in percent, with at most two decimals')
    .option('--amount <n>', "discount in the shop's currency")
    .option('--min-total <n>', 'minimum total of the order')
    .option('--max-uses <n>', 'maximum number of orders that use it')
    .option('--max-uses-per-customer <n>', 'maximum number of orders of one customer')
    .option('--exclusive', 'an order with it can have no other coupon')
    .option('--starts-at <time>', 'start of its validity: its first day, or an ISO 8601 time')
    .option('--ends-at <time>', 'end of its validity: its last day, or an ISO 8601 time')
    .option('--product <slug>', 'valid only for this product; can be repeated', collect, [])
    .option('--category <name>', 'valid only for this category; can be repeated', collect, [])
    .option('--affiliate <code>', 'orders with the coupon are credited to this affiliate')
  runs(create, ({ app, options, now }: Work<CreateOptions>) => {
    const input = parseCoupon(options, shopPlace(app.db))
    const { affiliate } = options
    const coupon =
      affiliate === undefined ? createCoupon(app.db, input, now) : createAffiliateCoupon(app.db, input, affiliate, now)
    const { json, human } = answer(app, coupon)
    return { json, human: [human, smallTotals(app, coupon)].flat() }
  })
  const set = addCommand(
    group,
    'set <code>',
    'make a coupon belong to an affiliate, or to none; for orders from now on',
    'coupons set SPRING --affiliate mira'
  )
    .option('--affiliate <code>', 'orders with the coupon are credited to this affiliate')
    .option('--no-affiliate', 'the coupon credits no affiliate any more')
  runs(set, ({ app, options, now }: Work<SetOptions>, code: string) => {
    const { affiliate = true } = options
    if (affiliate === true) throw new AppError('USAGE', 'Pass --affiliate CODE or --no-affiliate.')
    return answer(app, setCouponAffiliate(app.db, code, affiliate === false ? null : affiliate, now))
  })
  const disable = addCommand(
    group,
    'disable <code>',
    'disable a coupon; orders that already use it keep it',
    'coupons disable SPRING'
  )
  runs(disable, ({ app }, code: string) => answer(app, disableCoupon(app.db, code)))
}

/** @throws AppError USAGE without exactly one of percent and amount; VALIDATION_FAILED for an invalid value */
function parseCoupon(options: CreateOptions, place: ShopPlace): CouponInput {
  if ((options.percent === undefined) === (options.amount === undefined)) {
    throw new AppError('USAGE', 'Pass either --percent or --amount.')
  }
  const { code, amount, minTotal, startsAt, endsAt } = options
  return parseWith(formatSchemas(place).coupon, {
    code,
    amount,
    minTotal,
    startsAt,
    endsAt,
    percent: numberOrText(options.percent),
    maxUses: numberOrText(options.maxUses),
    maxUsesPerCustomer: numberOrText(options.maxUsesPerCustomer),
    exclusive: options.exclusive,
    products: options.product,
    categories: options.category
  })
}

function list({ app, now }: Work<object>): Answer {
  const currency = setting(app.db, 'shop.currency')
  const rows = listCoupons(app.db, (row) => {
    const coupon = toJson(app.db, row)
    return [
      coupon.code,
      coupon.affiliate ?? '',
      `${discountOf(coupon, currency)}${coupon.exclusive ? ', exclusive' : ''}`,
      coupon.maxUses === null ? String(coupon.used) : `${coupon.used} of ${coupon.maxUses}`,
      row.endsAt === null ? '' : untilText(app.db, row.endsAt),
      stateOf(row, now)
    ]
  })
  const views = listCoupons(app.db, (row) => toJson(app.db, row))
  return {
    json: new JsonList('coupons', views),
    human: table(['Code', 'Affiliate', 'Discount', 'Used', 'Until', 'State'], rows)
  }
}

function answer(app: App, row: CouponRow): Answer {
  const currency = setting(app.db, 'shop.currency')
  const coupon = toJson(app.db, row)
  const owner = findCouponAffiliate(app.db, row.id)
  const scope = [...coupon.products, ...coupon.categories].join(', ')
  return {
    json: { coupon },
    human: [
      `${coupon.code}: ${discountOf(coupon, currency)} off ${scope === '' ? 'everything' : scope}${coupon.exclusive ? ', with no other coupon' : ''}`,
      `${stateOf(row, app.clock.now())}, used ${coupon.used} times, created ${timeText(row.createdAt)}`,
      ...(row.endsAt === null ? [] : [`valid until ${untilText(app.db, row.endsAt)}`]),
      ...(owner === undefined ? [] : [`orders are credited to the affiliate ${owner.code}${whileInactive(app, owner)}`])
    ]
  }
}

function toJson(db: App['db'], row: CouponRow) {
  const affiliate = findCouponAffiliate(db, row.id)?.code ?? null
  return { ...toCoupon(db, row, setting(db, 'shop.currency')), affiliate }
}

function whileInactive({ db }: App, affiliate: AffiliateRow): string {
  return isCreditable(db, affiliate) ? '' : ' once the affiliate is active'
}

function smallTotals(app: App, coupon: CouponRow): string[] {
  const currency = setting(app.db, 'shop.currency')
  const slugs = productsBelowMinimum(app.db, coupon, currency)
  if (slugs.length === 0) return []
  const minimum = formatMoney(minimumChargeMinor(currency), currency)
  const named = slugs.length > 5 ? `${slugs.slice(0, 5).join(', ')} and more` : slugs.join(', ')
  return [`Warning: with this coupon, ${named} cost less than ${minimum}, the minimum that Stripe charges by card.`]
}

function stateOf(row: CouponRow, now: number): string {
  const refusal = inactiveReason(row, now)
  return refusal === undefined ? 'on' : refusal === 'disabled' ? 'off' : refusal.replace('_', ' ')
}

function discountOf({ percent, amount }: CouponView, currency: string): string {
  return percent === null ? formatMoney(toMinor(amount ?? 0, currency), currency) : `${percent} %`
}
