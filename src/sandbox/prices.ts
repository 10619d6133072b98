import type Stripe from 'stripe'
import { currency } from './amounts.ts'
import { getStored, route, save } from './context.ts'
import type { Context, Route } from './context.ts'
import { badParameter } from './errors.ts'
import { newId } from './ids.ts'
import { choice, integer, list, mergeMetadata, metadata, required, shape, text, url } from './params.ts'
import type { Values } from './params.ts'

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

export const priceRoutes: readonly Route[] = [
  route('prices.retrieve', 'GET /v1/prices/:id', {}, (context, _params, id) => getStored(context, 'price', id).object),
  route(
    'products.retrieve',
    'GET /v1/products/:id',
    {},
    (context, _params, id) => getStored(context, 'product', id).object
  )
]
