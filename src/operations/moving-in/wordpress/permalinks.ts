import { isRecord } from '../../../platform/typed.ts'
import { categories } from '../../../shop/catalog/schema.ts'
import { productById } from '../../../shop/catalog/stored-product.ts'
import { redirectKey } from '../../../shop/redirects/redirects.ts'
import type { RedirectTarget } from '../../../shop/redirects/redirects.ts'
import { writeInBatches } from '../move.ts'
import type { Move } from '../move.ts'
import { writeRedirect } from '../redirects.ts'
import type { SubjectTally } from '../report.ts'
import type { Row, WordPress } from './database.ts'
import { decoded, readTerms } from './terms.ts'
import type { Term, Terms } from './terms.ts'
import { idsOf, php, text } from './values.ts'

/** An address of the WordPress and where it leads here; `leads` is null for a page that the shop does not have. */
type Permalink = { path: string; leads: RedirectTarget | null; what: string }

/** What WordPress puts before the slugs of products, categories and tags; without slashes at the ends. */
type Bases = { product: string; category: string; tag: string; attribute: string; isPlain: boolean }

/**
 * Moves the addresses in: of products, also by number and by former slugs, of categories, tags and attributes, and of the
 * pages that the shop has too. Other pages and posts are listed, because only the owner knows where they should lead.
 */
export async function* movePermalinks(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  const bases = await readBases(source)
  const terms = await readTerms(source)
  for await (const rows of source.parts(
    `SELECT ID AS id, post_name, post_title FROM {posts}
     WHERE post_type = 'product' AND post_status = 'publish' AND ID > ?`
  )) {
    const links = await productLinks(source, move, bases, terms, rows)
    yield await store(move, tally, links)
  }
  yield await store(move, tally, termLinks(move, bases, terms, await publicAttributes(source)))
  yield await store(move, tally, await pageLinks(source, bases))
}

async function readBases(source: WordPress): Promise<Bases> {
  const stored = php((await source.option('woocommerce_permalinks')) ?? '')
  const base = (name: string, standard: string): string => {
    const value = isRecord(stored) ? stored[name] : undefined
    const chosen = typeof value === 'string' && value.trim() !== '' ? value : standard
    return chosen.split('/').filter(Boolean).join('/')
  }
  return {
    product: base('product_base', 'product'),
    category: base('category_base', 'product-category'),
    tag: base('tag_base', 'product-tag'),
    attribute: base('attribute_base', ''),
    isPlain: ((await source.option('permalink_structure')) ?? '') === ''
  }
}

async function productLinks(
  source: WordPress,
  move: Move,
  { product: base, isPlain }: Bases,
  terms: Terms,
  rows: readonly Row[]
): Promise<Permalink[]> {
  const ids = idsOf(rows)
  if (ids.length === 0) return []
  const former = Map.groupBy(
    await source.rows(
      "SELECT post_id AS id, meta_value AS slug FROM {postmeta} WHERE meta_key = '_wp_old_slug' AND post_id IN (?)",
      [ids]
    ),
    (row) => text(row, 'id')
  )
  const ofProduct = base.includes('%product_cat%')
    ? await categoryOfEach(source, ids, terms)
    : new Map<string, string>()
  return rows.flatMap((row) => {
    const id = text(row, 'id')
    const target = move.moved.find(move.shop.db, 'product', id)
    const product = target === undefined ? undefined : productById(move.shop.db, target)
    const leads = product === undefined ? null : { product: product.slug }
    const slugs = [text(row, 'post_name'), ...(former.get(id) ?? []).map((old) => text(old, 'slug'))].filter(Boolean)
    const folder = base.replace('%product_cat%', ofProduct.get(id) ?? 'uncategorized')
    const paths = isPlain ? slugs.map((slug) => `/?product=${slug}`) : slugs.map((slug) => `/${folder}/${slug}`)
    return [...paths, `/?p=${id}`].map((path) => ({ path, leads, what: text(row, 'post_title') }))
  })
}

/** The path of the category in the address of each product: the deepest of its first one. */
async function categoryOfEach(source: WordPress, ids: readonly string[], terms: Terms): Promise<Map<string, string>> {
  const rows = await source.rows(
    'SELECT object_id AS id, term_taxonomy_id AS relation FROM {term_relationships} WHERE object_id IN (?) ORDER BY term_taxonomy_id',
    [ids]
  )
  const found = new Map<string, string>()
  for (const row of rows) {
    const term = terms.byRelation.get(text(row, 'relation'))
    if (term?.taxonomy === 'product_cat' && !found.has(text(row, 'id')))
      found.set(text(row, 'id'), pathOf(term, terms).join('/'))
  }
  return found
}

/** The slugs of a category there, after those of the categories that contain it. */
function pathOf(category: Term, terms: Terms): string[] {
  const parent = terms.parentOf(category)
  return [...(parent === undefined ? [] : pathOf(parent, terms)), category.slug]
}

/** The attributes whose values have pages, by their name in the address. */
async function publicAttributes(source: WordPress): Promise<Set<string>> {
  if (!source.has('woocommerce_attribute_taxonomies')) return new Set()
  const rows = await source.rows(
    'SELECT attribute_name AS name FROM {woocommerce_attribute_taxonomies} WHERE attribute_public = 1'
  )
  return new Set(rows.map((row) => text(row, 'name')))
}

function termLinks({ shop }: Move, bases: Bases, terms: Terms, attributes: ReadonlySet<string>): Permalink[] {
  if (bases.isPlain) return []
  const known = new Set(
    shop.db.orm
      .select({ slug: categories.slug })
      .from(categories)
      .all()
      .map(({ slug }) => slug)
  )
  return [...terms.byRelation.values()].flatMap((term): Permalink[] => {
    const { taxonomy, slug, name } = term
    const search = { to: `/?search=${encodeURIComponent(name)}` }
    if (taxonomy === 'product_cat') {
      const own = terms.slugOf(term)
      // WordPress's own category for products without one does not arrive.
      const leads = known.has(own) ? { category: own } : { to: '/' }
      return [{ path: `/${bases.category}/${pathOf(term, terms).join('/')}`, leads, what: name }]
    }
    if (taxonomy === 'product_tag') return [{ path: `/${bases.tag}/${slug}`, leads: search, what: name }]
    const attribute = taxonomy.startsWith('pa_') ? taxonomy.slice('pa_'.length) : ''
    if (!attributes.has(attribute)) return []
    const folder = [bases.attribute, attribute].filter(Boolean).join('/')
    return [{ path: `/${folder}/${slug}`, leads: search, what: name }]
  })
}

/** The pages of WooCommerce that the shop has too, by the option with their id. */
const sharedPages: Readonly<Record<string, string>> = {
  woocommerce_shop_page_id: '/',
  woocommerce_cart_page_id: '/cart',
  woocommerce_checkout_page_id: '/cart',
  woocommerce_myaccount_page_id: '/account'
}

async function pageLinks(source: WordPress, { isPlain }: Bases): Promise<Permalink[]> {
  const shared = new Map<string, string>()
  for (const [option, to] of Object.entries(sharedPages)) {
    const id = await source.option(option)
    if (id !== undefined) shared.set(id, to)
  }
  const front = await source.option('page_on_front')
  const rows = await source.rows(
    `SELECT ID AS id, post_name, post_title, post_parent, post_type FROM {posts}
     WHERE post_type IN ('page', 'post') AND post_status = 'publish' ORDER BY ID`
  )
  const byId = new Map(rows.map((row) => [text(row, 'id'), row]))
  const pathTo = (row: Row, depth = 0): string => {
    const parent = byId.get(text(row, 'post_parent'))
    const above = parent === undefined || depth > 20 ? '' : pathTo(parent, depth + 1)
    return `${above}/${text(row, 'post_name')}`
  }
  return rows
    .filter((row) => text(row, 'id') !== front)
    .map((row) => {
      const id = text(row, 'id')
      const to = shared.get(id)
      const path = isPlain ? `/?page_id=${id}` : pathTo(row)
      return { path, leads: to === undefined ? null : { to }, what: `${text(row, 'post_title')} (${decoded(path)})` }
    })
}

async function store(move: Move, tally: SubjectTally, links: readonly Permalink[]): Promise<void> {
  await writeInBatches(move, links, (tx, { path, leads, what }) => {
    const key = redirectKey(path)
    if (leads === null)
      return tally.leave('Nothing in the shop stands at this address: set it with "shopstead redirects add"', what)
    // The shop's own page is at the same address.
    if ('to' in leads && leads.to === key) return tally.know()
    writeRedirect(tx, { id: path, from: path, leads, label: what }, move, tally)
  })
}
