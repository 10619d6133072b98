import type Stripe from 'stripe'
import type { ShopContext } from '../context.ts'
import type { AttemptRow } from './rows.ts'

type Metadata = Stripe.Metadata | null | undefined

/**
 * The names under which Shopstead marks its objects at Stripe. Other software uses the same Stripe account with names
 * such as WooCommerce's `order_id`, and a second Shopstead uses these very names: `shopstead_shop` tells the two apart.
 */
const names = {
  shop: 'shopstead_shop',
  order: 'shopstead_order',
  attempt: 'shopstead_attempt',
  refund: 'shopstead_refund',
  user: 'shopstead_user'
} as const

/** The metadata of everything that pays an order: which shop, which order, and the payment attempt's secret token. */
export function metadataOf({ keys }: Pick<ShopContext, 'keys'>, attempt: AttemptRow): Stripe.MetadataParam {
  return { [names.shop]: keys.shopId, [names.order]: String(attempt.orderId), [names.attempt]: attempt.token }
}

/** The metadata of an account's customer at Stripe. */
export function customerMetadataOf({ keys }: Pick<ShopContext, 'keys'>, userId: number): Stripe.MetadataParam {
  return { [names.shop]: keys.shopId, [names.user]: String(userId) }
}

/** The metadata of a refund that this shop requests; `key` finds our row again. */
export function refundMetadataOf(
  { keys }: Pick<ShopContext, 'keys'>,
  { orderId, key }: { orderId: number; key: string }
): Stripe.MetadataParam {
  return { [names.shop]: keys.shopId, [names.order]: String(orderId), [names.refund]: key }
}

/** The token of the payment attempt that an object belongs to; version 0.1.0 called it `attempt`. */
export function attemptTokenOf(metadata: Metadata): string | null {
  return metadata?.[names.attempt] ?? metadata?.['attempt'] ?? null
}

/** The key of the refund row that an object belongs to; version 0.1.0 called it `refund_key`. */
export function refundKeyOf(metadata: Metadata): string | null {
  return metadata?.[names.refund] ?? metadata?.['refund_key'] ?? null
}

/**
 * Whether an object was made by this shop. `isNamed` is false for objects of version 0.1.0, which do not name their
 * shop: only their token can prove that they are ours.
 */
export function ownership(
  { keys }: Pick<ShopContext, 'keys'>,
  metadata: Metadata
): { token: string; orderId: string; isNamed: boolean } | null {
  const token = attemptTokenOf(metadata)
  const shopId = metadata?.[names.shop]
  if (token === null || (shopId !== undefined && shopId !== keys.shopId)) return null
  return { token, orderId: metadata?.[names.order] ?? '?', isNamed: shopId !== undefined }
}
