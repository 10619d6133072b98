import { z } from 'zod'
import { AppError } from '../../../errors.ts'
import { toCsv } from '../../../platform/csv.ts'
import { write } from '../../../platform/db/database.ts'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { readCatalogFile } from '../../../shop/catalog/import/read-file.ts'
import type { CatalogFile, CategoryInput, ProductInput } from '../../../shop/catalog/import/format.ts'
import { formatFileError } from '../../../shop/catalog/import/report.ts'
import type { ImportReport } from '../../../shop/catalog/import/report.ts'
import { slugFor, UniqueNames } from '../../../shop/catalog/import/slug.ts'
import { categories } from '../../../shop/catalog/schema.ts'
import type { VariationRow } from '../../../shop/catalog/rows.ts'
import { productBySlug, productsBySku, variationsOfProduct } from '../../../shop/catalog/stored-product.ts'
import { setting } from '../../../shop/settings/settings.ts'
import { importCatalog } from '../../catalog.ts'
import type { Move } from '../move.ts'
import type { SubjectTally } from '../report.ts'
import type { WordPress } from './database.ts'
import { optionsOf, productCells, readCatalog, readProducts, typeOf, variationCells } from './product-table.ts'
import type { Catalog, SourceProduct } from './product-table.ts'
import { followProducts } from './product-changes.ts'
import type { KnownProduct } from './product-changes.ts'
import { decoded, readTerms } from './terms.ts'
import type { Terms } from './terms.ts'
import { text } from './values.ts'

export type ProductOptions = {
  /** The folder with the uploads of the WordPress; without it, pictures are fetched by their addresses. */
  uploads?: string | undefined
  /** Sets the prices and the stock of products that moved in before to those of the WordPress. */
  updatesProducts?: boolean | undefined
}

type Found = { product: SourceProduct; slug: string; variations: SourceProduct[] }

/** Moves the categories and products in, by the importer of WooCommerce's product export. */
export async function* moveProducts(
  source: WordPress,
  move: Move,
  tally: SubjectTally,
  options: ProductOptions
): AsyncGenerator<void> {
  const terms = await readTerms(source)
  const home = (await source.option('siteurl')) ?? ''
  const currency = setting(move.shop.db, 'shop.currency')
  const catalog = await readCatalog(source, terms, { currency, uploads: `${home}/wp-content/uploads/` })
  const all = await findProducts(source, terms, move, tally)
  await followProducts(readKnown(all.known, catalog, move), move, tally, options.updatesProducts === true)
  yield
  const fitting = readFitting(all.found, catalog, tally)
  if (fitting === undefined) return
  const { found, read } = fitting
  const file = complete(move, catalog, fitting)
  const { uploads } = options
  const withPictures = uploads === undefined ? file : fromFolder(file, uploads, `${home}/wp-content/uploads/`)
  await importCatalog(
    move.shop,
    withPictures,
    { onProgress: (done) => move.step(`products: ${done} of ${found.length}`) },
    move.now
  )
  describe(read.report, tally)
  write(move.shop.db, (tx) => {
    for (const each of found) rememberProduct(tx, each, catalog, move, tally)
  })
}

/** The products that are not here yet and those that are, each with its variations and the slug that it gets. */
async function findProducts(
  source: WordPress,
  terms: Terms,
  move: Move,
  tally: SubjectTally
): Promise<{ found: Found[]; known: Found[] }> {
  const found = new Map<string, Found>()
  const known = new Map<string, Found>()
  const slugs = new UniqueNames()
  for await (const products of readProducts(source, 'product', terms))
    for (const product of products) {
      const slug = slugs.take(slugOf(product), product.id)
      if (move.moved.find(move.shop.db, 'product', product.id) !== undefined) {
        known.set(product.id, { product, slug, variations: [] })
        tally.know()
      } else if (text(product.row, 'post_status') === 'trash')
        tally.leave('The product is in the trash', nameOf(product))
      else found.set(product.id, { product, slug, variations: [] })
    }
  for await (const variations of readProducts(source, 'product_variation', terms))
    for (const variation of variations) {
      const parent = text(variation.row, 'post_parent')
      const product = found.get(parent) ?? known.get(parent)
      product?.variations.push(variation)
    }
  return { found: [...found.values()], known: [...known.values()] }
}

/** The products that moved in before, as the importer reads them now. One that it cannot read any more stays as it is. */
function readKnown(known: readonly Found[], catalog: Catalog, { shop, moved }: Move): KnownProduct[] {
  if (known.length === 0) return []
  const all = tryRead(known, catalog)
  const parts = typeof all === 'string' ? known.map((each) => tryRead([each], catalog)) : [all]
  const bySlug = new Map(
    parts
      .flatMap((part) => (typeof part === 'string' ? [] : part.file.products))
      .map((product) => [product.slug, product])
  )
  return known.flatMap(({ product: { id }, slug }) => {
    const there = bySlug.get(slug)
    const productId = moved.find(shop.db, 'product', id)
    return there === undefined || productId === undefined ? [] : [{ productId, there }]
  })
}

/** The product's slug in WordPress, as far as the shop's slugs have its letters. */
function slugOf({ row }: SourceProduct): string {
  return slugFor(decoded(text(row, 'post_name')) || text(row, 'post_title'))
}

function nameOf({ row }: SourceProduct): string {
  return text(row, 'post_title')
}

type Read = { file: CatalogFile; report: ImportReport }
type Fitting = { found: readonly Found[]; read: Read }

/** The products that the shop can have; undefined for none. The others are left out, so that they do not stop the import. */
function readFitting(found: readonly Found[], catalog: Catalog, tally: SubjectTally): Fitting | undefined {
  if (found.length === 0) return undefined
  const read = tryRead(found, catalog)
  if (typeof read !== 'string') return { found, read }
  const rest = found.filter((each) => {
    const one = tryRead([each], catalog)
    if (typeof one === 'string')
      tally.leave(`The shop cannot have such a product: ${one}`, nameOf(each.product) || each.slug)
    return typeof one !== 'string'
  })
  if (rest.length === found.length) throw new AppError('VALIDATION_FAILED', `The products cannot be imported: ${read}`)
  return readFitting(rest, catalog, tally)
}

const errorsShape = z.object({ errors: z.array(z.object({ column: z.string().nullable(), cause: z.string() })) })

/** The products as the importer reads them, or the first error that it finds. */
function tryRead(found: readonly Found[], catalog: Catalog): Read | string {
  try {
    return readProductFile(found, catalog)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_FAILED') throw error
    const [first] = errorsShape.parse(error.details).errors
    return first === undefined ? error.message : formatFileError({ ...first, line: null })
  }
}

function readProductFile(found: readonly Found[], catalog: Catalog): Read {
  const rows = found.flatMap(({ product, slug, variations }) => [
    productCells(product, catalog, slug),
    ...variations.map((variation) => variationCells(variation, product, catalog))
  ])
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const csv = toCsv(
    columns,
    rows.map((row) => columns.map((column) => row[column] ?? ''))
  )
  return readCatalogFile(csv, { currency: catalog.currency, timeZone: 'UTC' })
}

/** The file with what the table of products cannot say: subscriptions and categories. */
function complete(move: Move, catalog: Catalog, { found, read }: Fitting): CatalogFile {
  const bySlug = new Map(found.map((each) => [each.slug, each]))
  const products = read.file.products.map((product) => withGrants(product, bySlug.get(product.slug)))
  return { ...read.file, products, categories: categoriesOf(move.shop.db, catalog.terms) }
}

/** A subscription product gives a subscription, which must renew each month or each year here. */
function withGrants(product: ProductInput, found: Found | undefined): ProductInput {
  if (found === undefined || !typeOf(found.product).includes('subscription')) return product
  const interval = intervalOf(found)
  if (interval === undefined) return { ...product, published: false }
  return { ...product, grants: [...(product.grants ?? []), { kind: 'subscription', interval, pro: false }] }
}

function intervalOf({ product, variations }: Found): 'month' | 'year' | undefined {
  const periods = new Set(
    (variations.length > 0 ? variations : [product]).map(
      ({ meta }) => `${meta.get('_subscription_period_interval') ?? '1'} ${meta.get('_subscription_period') ?? ''}`
    )
  )
  const [period] = periods
  if (periods.size !== 1) return undefined
  return period === '1 month' ? 'month' : period === '1 year' ? 'year' : undefined
}

/** The categories that are not here yet, with the slugs of WordPress, each after the one that contains it. */
function categoriesOf(db: Db, { categories: found, slugOf, parentOf }: Terms): CategoryInput[] {
  const known = new Set(
    db.orm
      .select({ slug: categories.slug })
      .from(categories)
      .all()
      .map(({ slug }) => slug)
  )
  return found
    .filter((category) => category.slug !== 'uncategorized' && !known.has(slugOf(category)))
    .map((category) => {
      const parent = parentOf(category)
      return {
        slug: slugOf(category),
        name: category.name.slice(0, 255),
        parent: parent === undefined ? null : slugOf(parent),
        description: category.description.slice(0, 10_000)
      }
    })
}

/** Pictures by their place in the folder of uploads instead of by address. */
function fromFolder(file: CatalogFile, folder: string, address: string): CatalogFile {
  const local = ({ src, ...image }: { src: string }) => ({
    ...image,
    src: src.startsWith(address) ? decoded(src.slice(address.length)) : src
  })
  const products = file.products.map((product) => ({
    ...product,
    ...(product.images === undefined ? {} : { images: product.images.map((image) => ({ ...image, ...local(image) })) }),
    ...(product.variations === undefined
      ? {}
      : {
          variations: product.variations.map((variation) => ({
            ...variation,
            images: variation.images?.map((image) => ({ ...image, ...local(image) }))
          }))
        })
  }))
  return { ...file, products, folder }
}

/** What the importer left out or changed. The dates of sales are exact here, because the database has them in UTC. */
function describe({ ignored, unpublished, warnings }: ImportReport, tally: SubjectTally): void {
  for (const { column, count, why } of ignored) if (column !== 'Type') tally.change(`${column}: ${why}`, '', count)
  for (const { count, why } of unpublished) tally.change(`Unpublished: ${why}`, '', count)
  for (const warning of warnings.filter((text) => !text.startsWith('The sale dates')))
    tally.change(warning.replace(/^Line \d+: /, ''), '')
}

function rememberProduct(tx: Tx, found: Found, catalog: Catalog, move: Move, tally: SubjectTally): void {
  const { product, slug, variations } = found
  const row = productBySlug(tx, slug) ?? productsBySku(tx, product.meta.get('_sku') ?? '')[0]
  if (row === undefined)
    return tally.leave(`Products of the type ${typeOf(product)} are not supported`, nameOf(product))
  if (typeOf(product).includes('subscription') && intervalOf(found) === undefined)
    tally.change('Subscriptions renew each month or each year here: the product is unpublished', nameOf(product))
  move.moved.remember(tx, 'product', product.id, row.id, move.now)
  tally.arrive()
  for (const variation of variations) {
    const target = variationOf(tx, row.id, variation, optionsOf(variation.meta, product, catalog))
    if (target === undefined) tally.change('Variations that are not sold are left out', nameOf(variation))
    else move.moved.remember(tx, 'variation', variation.id, target.id, move.now)
  }
}

/** The variation here with the SKU there, or with the same options. */
function variationOf(
  db: Db,
  productId: number,
  { meta }: SourceProduct,
  options: ReadonlyMap<string, string>
): VariationRow | undefined {
  const rows = variationsOfProduct(db, productId)
  const set = [...options].filter(([, value]) => value !== '')
  return (
    rows.find(({ sku }) => sku === meta.get('_sku')) ??
    rows.find((row) => set.every(([name, value]) => row.options[name] === value))
  )
}
