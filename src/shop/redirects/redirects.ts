import { asc, eq, gt, sql } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import { statement, write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { toIso } from '../../platform/iso-time.ts'
import { trimEndOf } from '../../platform/text.ts'
import { getCategoryId } from '../catalog/manage/list-products.ts'
import { productUrl } from '../catalog/product-url.ts'
import { getProduct } from '../catalog/products.ts'
import { categories, products } from '../catalog/schema.ts'
import type { ShopContext } from '../context.ts'
import { redirects } from './schema.ts'

const longest = 2000

/** Where an old address leads: a product or a category by slug, a path of the site, or an address elsewhere. */
export type RedirectTarget = { product: string } | { category: string } | { to: string }
export type RedirectView = { id: number; from: string; to: string; createdAt: string }

/**
 * An address of a site as redirects are kept: without host, fragment and the slash at its end, decoded, in lower case. Of
 * a query it keeps `p`, `product` and `page_id`, by which WordPress numbers its pages. Undefined for what is no path.
 */
export function redirectKey(address: string): string | undefined {
  const base = 'http://site.invalid'
  if (address.length > longest || !URL.canParse(address, base)) return undefined
  const { pathname, searchParams, protocol } = new URL(address, base)
  if (protocol !== 'http:' && protocol !== 'https:') return undefined
  const path = trimEndOf(decoded(pathname), '/') || '/'
  const [number] = ['p', 'product', 'page_id'].flatMap((name) => {
    const value = searchParams.get(name)
    return value === null || value === '' ? [] : [`?${name}=${value}`]
  })
  return `${path}${number ?? ''}`.normalize('NFC').toLowerCase()
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    // A percent sign that encodes nothing is part of the path.
    return path
  }
}

const byPath = statement((orm) =>
  orm
    .select({ productSlug: products.slug, categorySlug: categories.slug, target: redirects.target })
    .from(redirects)
    .leftJoin(products, eq(products.id, redirects.productId))
    .leftJoin(categories, eq(categories.id, redirects.categoryId))
    .where(eq(redirects.path, sql.placeholder('path')))
    .prepare()
)

type Place = Pick<ShopContext, 'db' | 'publicUrl'>
type Found = { productSlug: string | null; categorySlug: string | null; target: string | null }

/** Where an old address leads now: a path of the site, or a whole address; undefined for one without a redirect. */
export function findRedirect(shop: Place, address: string): string | undefined {
  const path = redirectKey(address)
  if (path === undefined) return undefined
  const row = byPath(shop.db).get({ path }) ?? byPath(shop.db).get({ path: path.split('?')[0] })
  return row === undefined ? undefined : addressOf(shop, row)
}

function addressOf(shop: Place, { productSlug, categorySlug, target }: Found): string {
  if (productSlug !== null) return shortened(shop, productUrl(shop)(productSlug))
  if (categorySlug !== null) return `/?category=${encodeURIComponent(categorySlug)}`
  return target ?? '/'
}

/** An address of the shop's own site, as a path. */
function shortened({ publicUrl }: Place, url: string): string {
  const root = publicUrl()
  return url.startsWith(`${root}/`) ? url.slice(root.length) : url
}

/**
 * Lets an old address lead elsewhere, instead of where it led before.
 *
 * @throws AppError VALIDATION_FAILED (`from`, `to`), also for an address that would lead to itself; NOT_FOUND for an unknown
 *   product or category
 */
export function setRedirect(shop: Place, from: string, target: RedirectTarget, now: number): RedirectView {
  return write(shop.db, (tx) => storeRedirect(tx, shop, from, target, now))
}

/** As `setRedirect`, in a transaction. */
export function storeRedirect(tx: Tx, shop: Place, from: string, target: RedirectTarget, now: number): RedirectView {
  const path = redirectKey(from.trim())
  if (path === undefined || path === '/')
    throw validationFailed({ from: ['Must be a path such as /product/old-mug, or an address with one.'] })
  const row = { productId: null, categoryId: null, target: null, ...columnsOf(tx, target) }
  const { id } = tx.orm
    .insert(redirects)
    .values({ path, ...row, createdAt: now })
    .onConflictDoUpdate({ target: redirects.path, set: row })
    .returning({ id: redirects.id })
    .get()
  const to = findRedirect({ ...shop, db: tx }, path) ?? ''
  refuseCircle({ ...shop, db: tx }, path, to)
  return { id, from: path, to, createdAt: toIso(now) }
}

function columnsOf(tx: Tx, target: RedirectTarget) {
  if ('product' in target) return { productId: getProduct(tx, target.product).id }
  if ('category' in target) return { categoryId: getCategoryId(tx, target.category) }
  const to = target.to.trim()
  const isPath = /^\/(?!\/)[^\s\\]*$/.test(to)
  if (to.length <= longest && (isPath || (/^https?:\/\/[^\s\\]+$/.test(to) && URL.canParse(to)))) return { target: to }
  throw validationFailed({ to: ['Must be a path such as /about, or an http or https address.'] })
}

/** A chain of redirects must end. */
function refuseCircle(shop: Place, path: string, to: string): void {
  const isOwn = (address: string): boolean => address.startsWith('/') || address.startsWith(`${shop.publicUrl()}/`)
  const seen = new Set<string>()
  let key: string | undefined = path
  let next: string | undefined = to
  while (key !== undefined && next !== undefined) {
    if (seen.has(key)) throw validationFailed({ to: ['Must not lead back to where it comes from.'] })
    seen.add(key)
    key = isOwn(next) ? redirectKey(next) : undefined
    next = key === undefined ? undefined : findRedirect(shop, key)
  }
}

/** Removes a redirect, if there is one, because its address is a page again. */
export function dropRedirect(tx: Tx, path: string | undefined): void {
  if (path !== undefined) tx.orm.delete(redirects).where(eq(redirects.path, path)).run()
}

/** Removes a redirect by its old address. @throws AppError NOT_FOUND */
export function removeRedirect(db: Db, from: string): void {
  write(db, (tx) => {
    const path = redirectKey(from.trim()) ?? ''
    const { changes } = tx.orm.delete(redirects).where(eq(redirects.path, path)).run()
    if (changes === 0) throw new AppError('NOT_FOUND', 'There is no redirect from this address.')
  })
}

/** All redirects, in the order in which they were made. They are read while they are used. */
export function listRedirects(shop: Place): Iterable<RedirectView> {
  const next = (last: { id: number } | undefined, limit: number) =>
    shop.db.orm
      .select({
        id: redirects.id,
        path: redirects.path,
        target: redirects.target,
        createdAt: redirects.createdAt,
        productSlug: products.slug,
        categorySlug: categories.slug
      })
      .from(redirects)
      .leftJoin(products, eq(products.id, redirects.productId))
      .leftJoin(categories, eq(categories.id, redirects.categoryId))
      .where(last && gt(redirects.id, last.id))
      .orderBy(asc(redirects.id))
      .limit(limit)
      .all()
  return inParts(shop.db, next, (rows) =>
    rows.map((row) => ({ id: row.id, from: row.path, to: addressOf(shop, row), createdAt: toIso(row.createdAt) }))
  )
}
