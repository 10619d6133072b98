import type { Db } from '../../../platform/db/database.ts'
import { toFullProduct } from '../../../shop/catalog/export-catalog.ts'
import { emptyLists, withDefaults } from '../../../shop/catalog/import/format.ts'
import type { FullProduct, ProductInput } from '../../../shop/catalog/import/format.ts'
import { productById } from '../../../shop/catalog/stored-product.ts'
import { importCatalog } from '../../catalog.ts'
import type { Move } from '../move.ts'
import type { SubjectTally } from '../report.ts'

/** A product that moved in before: its id here, and what the old shop says of it now. */
export type KnownProduct = { productId: number; there: ProductInput }

/**
 * Compares the prices, sales and stock of products that moved in before with those in the old shop. The shop keeps its own,
 * and the report names the products, unless the owner wants those of the old shop.
 */
export async function followProducts(
  known: readonly KnownProduct[],
  move: Move,
  tally: SubjectTally,
  isWanted: boolean
): Promise<void> {
  const changed = known.flatMap((each) => changedEntry(move.shop.db, each) ?? [])
  if (isWanted) {
    const file = { ...emptyLists, products: changed }
    const { changes } = await importCatalog(move.shop, file, { withStock: true }, move.now)
    for (const { key } of changes) tally.change('The price and the stock are those of the old shop now', key)
  } else for (const { slug } of changed) tally.change(ownPrice, slug)
}

const ownPrice =
  'The price or the stock is another one in the old shop, and stays here as it is: "--update-products" takes those of the old shop'

/** The product with the prices and the stock of the old shop; undefined if they are the same. */
function changedEntry(db: Db, { productId, there }: KnownProduct): ProductInput | undefined {
  const row = productById(db, productId)
  if (row === undefined || there.unpriced === true) return undefined
  const here = toFullProduct(db, row)
  const wanted = withDefaults(there)
  const variations = here.variations.map((variation) => {
    const found = wanted.variations.find(({ sku }) => sku === variation.sku)
    return found === undefined ? variation : { ...variation, ...soldFor(found) }
  })
  const entry = { ...soldFor(wanted), ...saleOf(wanted), variations }
  const own = { ...soldFor(here), ...saleOf(here), variations: here.variations }
  if (JSON.stringify(entry) === JSON.stringify(own)) return undefined
  return { shape: 'product', slug: row.slug, name: row.name, ...entry }
}

type Sold = Pick<FullProduct, 'priceMinor' | 'salePriceMinor' | 'stock'>

function soldFor({ priceMinor, salePriceMinor, stock }: Sold): Sold {
  return { priceMinor, salePriceMinor, stock }
}

function saleOf({ saleStartsAt, saleEndsAt }: FullProduct): Pick<FullProduct, 'saleStartsAt' | 'saleEndsAt'> {
  return { saleStartsAt, saleEndsAt }
}
