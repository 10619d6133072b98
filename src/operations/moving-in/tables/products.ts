import { eq } from 'drizzle-orm'
import type { Db } from '../../../platform/db/database.ts'
import { products, variations } from '../../../shop/catalog/schema.ts'

type Sold = { productId: number; variationId: number | null }

/** The products and variations of the shop by SKU, slug and name, in lower case. The first of equal names counts. */
export type ProductIndex = ReadonlyMap<string, Sold>

export function indexProducts({ orm }: Db): ProductIndex {
  const index = new Map<string, Sold>()
  const add = (kind: string, name: string | null, sold: Sold): void => {
    const key = `${kind} ${(name ?? '').trim().toLowerCase()}`
    if (name !== null && name !== '' && !index.has(key)) index.set(key, sold)
  }
  const rows = orm
    .select({ id: products.id, sku: products.sku, slug: products.slug, name: products.name })
    .from(products)
    .all()
  for (const { id, sku, slug, name } of rows) {
    const sold = { productId: id, variationId: null }
    add('sku', sku, sold)
    add('slug', slug, sold)
    add('name', name, sold)
  }
  const choices = orm
    .select({
      id: variations.id,
      productId: variations.productId,
      sku: variations.sku,
      options: variations.options,
      name: products.name
    })
    .from(variations)
    .innerJoin(products, eq(products.id, variations.productId))
    .all()
  for (const { id, productId, sku, options, name } of choices) {
    const sold = { productId, variationId: id }
    add('sku', sku, sold)
    // Shopify's name of a variant: `T-Shirt - Green / S`.
    add('name', `${name} - ${Object.values(options).join(' / ')}`, sold)
  }
  return index
}

/** The product or variation of an order line: by its SKU, otherwise by its name. */
export function findSold(index: ProductIndex, { sku, name }: { sku: string; name: string }): Sold | undefined {
  return (
    (sku === '' ? undefined : index.get(`sku ${sku.toLowerCase()}`)) ?? index.get(`name ${name.trim().toLowerCase()}`)
  )
}

/** The product with a slug or SKU. */
export function findProduct(index: ProductIndex, name: string): number[] {
  const key = name.toLowerCase()
  const sold = index.get(`slug ${key}`) ?? index.get(`sku ${key}`)
  return sold === undefined ? [] : [sold.productId]
}
