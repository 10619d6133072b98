import type Stripe from 'stripe'
import { currency } from '../store/amounts.ts'
import { getStored, route, save } from '../http/context.ts'
import type { Context, Route } from '../http/context.ts'
import { badParameter, badState } from '../http/errors.ts'
import { newId, randomBase62 } from '../store/ids.ts'
import { choice, integer, list, mergeMetadata, metadata, required, shape, text, url, decimal } from '../http/params.ts'
import type { Values } from '../http/params.ts'
import { percentOf, shareMinor } from '../../platform/money.ts'
import { emit } from '../events/events.ts'
import { listPage, pageShape } from '../http/lists.ts'

export const priceData = {
  currency: required(currency()),
  unit_amount: required(integer({ min: 0 })),
  product: text({ max: 255 }),
  product_data: shape({
    name: required(text({ max: 250 })),
    description: text(),
    images: list(url(), { max: 8 }),
    metadata: metadata(),
    tax_code: text(),
    unit_label: text()
  }),
  recurring: shape({
    interval: required(choice('day', 'week', 'month', 'year')),
    interval_count: integer({ min: 1, max: 36 })
  }),
  tax_behavior: choice('exclusive', 'inclusive', 'unspecified')
}

/**
 * Stores the price of a line item with `price_data`, and its product if the item has `product_data`. `path` is the
 * parameter's name for errors.
 *
 * @throws StripeRefusal parameter_missing unless exactly one of product and product_data was sent
 */
export function createInlinePrice(
  context: Context,
  data: Values<typeof priceData>,
  path: string
): { price: Stripe.Price; name: string } {
  if ((data.product === undefined) === (data.product_data === undefined)) {
    throw badParameter('You must specify one of product and product_data.', {
      code: 'parameter_missing',
      param: `${path}[product_data]`
    })
  }
  const product = data.product_data
    ? createProduct(context, data.product_data)
    : getStored(context, 'product', data.product ?? '', `${path}[product]`).object
  const price = {
    id: newId('price'),
    object: 'price',
    active: false,
    billing_scheme: 'per_unit',
    created: context.now,
    currency: data.currency,
    custom_unit_amount: null,
    livemode: false,
    lookup_key: null,
    metadata: {},
    nickname: null,
    product: product.id,
    recurring: data.recurring
      ? {
          interval: data.recurring.interval,
          interval_count: data.recurring.interval_count ?? 1,
          meter: null,
          trial_period_days: null,
          usage_type: 'licensed'
        }
      : null,
    tax_behavior: data.tax_behavior ?? 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: data.recurring ? 'recurring' : 'one_time',
    unit_amount: data.unit_amount,
    // The API sends a string; stripe-node's type is Decimal.
    unit_amount_decimal: String(data.unit_amount) as unknown as Stripe.Price['unit_amount_decimal']
  } satisfies Stripe.Price
  return { price: save(context, 'price', price), name: product.name }
}

type ProductData = NonNullable<Values<typeof priceData>['product_data']>

function createProduct(context: Context, data: ProductData): Stripe.Product {
  return save(context, 'product', {
    id: newId('prod', 14),
    object: 'product',
    active: false,
    created: context.now,
    default_price: null,
    description: data.description ?? null,
    images: data.images ?? [],
    livemode: false,
    marketing_features: [],
    metadata: mergeMetadata({}, data.metadata),
    name: data.name,
    package_dimensions: null,
    shippable: null,
    statement_descriptor: null,
    tax_code: data.tax_code ?? null,
    tax_details: null,
    type: 'service',
    unit_label: data.unit_label ?? null,
    updated: context.now,
    url: null
  } satisfies Stripe.Product)
}

function createPrice(context: Context, params: Values<typeof priceData>): Stripe.Price {
  const { price } = createInlinePrice(context, params, 'price')
  return save(context, 'price', { ...price, active: true })
}

export const priceRoutes: readonly Route[] = [
  route('prices.create', 'POST /v1/prices', priceData, createPrice),
  route('prices.retrieve', 'GET /v1/prices/:id', {}, (context, _params, id) => getStored(context, 'price', id).object),
  route(
    'products.retrieve',
    'GET /v1/products/:id',
    {},
    (context, _params, id) => getStored(context, 'product', id).object
  )
]

const createShape = {
  id: text({ max: 255 }),
  amount_off: integer({ min: 1, max: 99_999_999 }),
  percent_off: decimal({ above: 0, max: 100 }),
  currency: currency(),
  duration: choice('forever', 'once', 'repeating'),
  duration_in_months: integer({ min: 1, max: 36 }),
  max_redemptions: integer({ min: 1 }),
  metadata: metadata(),
  name: text({ max: 40 }),
  redeem_by: integer({ min: 0 })
}

function createCoupon(context: Context, params: Values<typeof createShape>): Stripe.Coupon {
  const { amount_off, percent_off, duration = 'once' } = params
  if ((amount_off === undefined) === (percent_off === undefined)) {
    throw badParameter('Must provide one of percent_off or amount_off.', { param: 'percent_off' })
  }
  if (amount_off !== undefined && params.currency === undefined) {
    throw badParameter('Must provide currency when providing amount_off.', {
      code: 'parameter_missing',
      param: 'currency'
    })
  }
  if ((duration === 'repeating') !== (params.duration_in_months !== undefined)) {
    throw badParameter('duration_in_months is required for the duration `repeating` and not allowed otherwise.', {
      param: 'duration_in_months'
    })
  }
  if (params.redeem_by !== undefined && params.redeem_by <= context.now) {
    throw badParameter('redeem_by must be in the future.', { param: 'redeem_by' })
  }
  const id = params.id ?? randomBase62(8)
  if (context.store.findAny(id))
    throw badState('Coupon already exists.', { code: 'resource_already_exists', param: 'id' })
  const coupon = {
    id,
    object: 'coupon',
    amount_off: amount_off ?? null,
    created: context.now,
    currency: amount_off === undefined ? null : (params.currency ?? null),
    duration,
    duration_in_months: params.duration_in_months ?? null,
    livemode: false,
    max_redemptions: params.max_redemptions ?? null,
    metadata: mergeMetadata({}, params.metadata),
    name: params.name ?? null,
    percent_off: percent_off ?? null,
    redeem_by: params.redeem_by ?? null,
    times_redeemed: 0,
    valid: true
  } satisfies Stripe.Coupon
  save(context, 'coupon', coupon, { deleted: false })
  emit(context, 'coupon.created', coupon)
  return coupon
}

/**
 * The coupon with an id, if it can be used in this currency (in lower case).
 *
 * @throws StripeRefusal resource_missing, coupon_expired, or without a code for another currency
 */
export function usableCoupon(context: Context, id: string, currencyCode: string): Stripe.Coupon {
  const param = 'discounts[0][coupon]'
  const { object: coupon, hidden } = getStored(context, 'coupon', id, param)
  const expired = coupon.redeem_by !== null && coupon.redeem_by <= context.now
  if (hidden.deleted || !coupon.valid || expired) {
    throw badState(`Coupon ${coupon.id} is no longer valid.`, { code: 'coupon_expired', param })
  }
  if (coupon.currency !== null && coupon.currency !== currencyCode) {
    const message = `The coupon is in ${coupon.currency}, but the Checkout Session is in ${currencyCode}.`
    throw badState(message, { param })
  }
  return coupon
}

/** The coupon's discount on each line, in minor units; the discounts add up to the whole discount exactly. */
export function discountLines(coupon: Stripe.Coupon | undefined, subtotalsMinor: readonly number[]): number[] {
  if (!coupon) return subtotalsMinor.map(() => 0)
  const subtotalMinor = subtotalsMinor.reduce((sum, each) => sum + each, 0)
  const wanted = coupon.amount_off ?? percentOf(subtotalMinor, Math.round((coupon.percent_off ?? 0) * 100))
  return shareMinor(Math.min(wanted, subtotalMinor), subtotalsMinor)
}

/** Counts one redemption; a coupon at its maximum becomes invalid. An unknown id is ignored. */
export function redeemCoupon(context: Context, id: string): void {
  const stored = context.store.find('coupon', id)
  if (!stored) return
  const times = stored.object.times_redeemed + 1
  const { max_redemptions: maximum } = stored.object
  save(context, 'coupon', { ...stored.object, times_redeemed: times, valid: maximum === null || times < maximum })
}

function deleteCoupon(context: Context, _params: object, id: string): object {
  const { object } = getStored(context, 'coupon', id)
  save(context, 'coupon', { ...object, valid: false }, { deleted: true })
  emit(context, 'coupon.deleted', object)
  return { id, object: 'coupon', deleted: true }
}

export const couponRoutes: readonly Route[] = [
  route('coupons.create', 'POST /v1/coupons', createShape, createCoupon),
  route(
    'coupons.retrieve',
    'GET /v1/coupons/:id',
    {},
    (context, _params, id) => getStored(context, 'coupon', id).object
  ),
  route('coupons.delete', 'DELETE /v1/coupons/:id', {}, deleteCoupon),
  route('coupons.list', 'GET /v1/coupons', pageShape, (context, params) =>
    listPage(context, 'coupon', params, '/v1/coupons')
  )
]
