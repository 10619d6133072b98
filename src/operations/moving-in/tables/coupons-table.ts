import { findProduct } from './products.ts'
import type { ProductIndex } from './products.ts'
import type { CouponRecord } from '../coupons.ts'
import { splitList } from '../../../shop/catalog/import/csv-table.ts'
import type { Cells } from './cells.ts'
import type { Fields } from './csv-file.ts'

/** The columns of coupons, with the titles in Shopify's export of discounts. */
export const couponFields: Fields = {
  code: ['Name', 'Discount code'],
  percent: [],
  amount: [],
  minTotal: [],
  maxUses: ['Usage Limit Per Code'],
  maxUsesPerCustomer: [],
  used: ['Times Used In Total'],
  startsAt: ['Start'],
  endsAt: ['End'],
  enabled: [],
  exclusive: [],
  products: [],
  categories: [],
  createdAt: [],
  value: ['Value'],
  valueType: ['Value Type'],
  type: ['Type'],
  discountClass: ['Discount Class'],
  minimum: ['Minimum Purchase Requirements'],
  customers: ['Customer Selection'],
  oncePerCustomer: ['Applies Once Per Customer'],
  status: ['Status'],
  withOrders: ['Combines with Order Discounts'],
  withProducts: ['Combines with Product Discounts']
}

type Place = { currency: string; products: ProductIndex; now: number }

/** A coupon of a table, or why it is left out. */
export function toCoupon(cells: Cells, { currency, products, now }: Place): CouponRecord | string {
  const { text } = cells
  const percentBps = cells.percentBps('percent') ?? fromShopify(cells, 'percentage')
  const amountMinor = percentBps === null ? (cells.money('amount', currency) ?? shopifyAmount(cells, currency)) : null
  if (/free shipping|buy x/i.test(text('type')) || text('discountClass').toLowerCase() === 'shipping')
    return 'Discounts on shipping, and of goods that are bought together, do not exist here'
  if (text('valueType').toLowerCase() === 'app') return 'The discount is computed by an app of Shopify'
  if (!((percentBps ?? amountMinor ?? 0) > 0))
    return 'The coupon takes nothing off the goods: it needs percent or amount'
  const wanted = splitList(text('products'))
  const productIds = wanted.flatMap((name) => findProduct(products, name))
  if (productIds.length < wanted.length) return 'The coupon is for products that do not arrive'
  const createdAt = cells.time('createdAt') ?? cells.time('startsAt') ?? now
  return {
    percentBps,
    amountMinor,
    startsAt: cells.time('startsAt'),
    endsAt: cells.time('endsAt'),
    minTotalMinor: cells.money('minTotal', currency) || minimumOf(cells, currency),
    maxUses: cells.count('maxUses') || null,
    maxUsesPerCustomer: cells.count('maxUsesPerCustomer') || (cells.flag('oncePerCustomer') === true ? 1 : null),
    exclusive: cells.flag('exclusive') ?? isAlone(cells),
    used: cells.count('used') ?? 0,
    enabled: cells.flag('enabled') ?? !/^(?:disabled|expired)$/i.test(text('status')),
    createdAt,
    productIds: [...new Set(productIds)],
    categories: splitList(text('categories')),
    lost: lostConditions(cells)
  }
}

/** Shopify writes what is taken off below zero (`-10.0`). */
function shopifyValue({ text }: Cells, type: string): string {
  return text('valueType').toLowerCase() === type ? text('value').replace(/^-/, '') : ''
}

function fromShopify(cells: Cells, type: string): number | null {
  const value = shopifyValue(cells, type)
  return /^\d{1,3}(?:\.\d+)?$/.test(value) && Number(value) <= 100 ? Math.round(Number(value) * 100) || null : null
}

function shopifyAmount(cells: Cells, currency: string): number | null {
  const value = shopifyValue(cells, 'fixed_amount')
  return value === '' ? null : cells.amount('value', value, currency)
}

/** Shopify writes an amount, or a sentence for a number of items. */
function minimumOf(cells: Cells, currency: string): number | null {
  const minimum = cells.text('minimum')
  return /^[\d.,]+$/.test(minimum) ? cells.amount('minimum', minimum, currency) || null : null
}

/** Discounts of Shopify are used alone unless they say that they combine. */
function isAlone({ text }: Cells): boolean {
  const [orders, products] = [text('withOrders'), text('withProducts')]
  return orders !== '' && products !== '' && !/true|yes|1/i.test(`${orders} ${products}`)
}

/** The conditions that this shop does not have, or that the export does not contain. */
function lostConditions({ text }: Cells): string[] {
  const minimum = text('minimum')
  const conditions: [string, boolean][] = [
    ['A discount on some products, which the export does not name', text('discountClass').toLowerCase() === 'product'],
    ['A list of customers', text('customers') !== '' && !/^all\b/i.test(text('customers'))],
    ['A minimum number of items', minimum !== '' && !/^[\d.,]+$/.test(minimum) && !/^none$/i.test(minimum)]
  ]
  return conditions.flatMap(([condition, applies]) => (applies ? [condition] : []))
}
