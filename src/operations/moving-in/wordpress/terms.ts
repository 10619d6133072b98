import { htmlToLine } from '../../../shop/catalog/import/html-text.ts'
import { slugFor, UniqueNames } from '../../../shop/catalog/import/slug.ts'
import type { WordPress } from './database.ts'
import { text } from './values.ts'

/** A category, tag or value of an attribute. `slug` is decoded. */
export type Term = { id: string; taxonomy: string; name: string; slug: string; parent: string; description: string }

export type Terms = {
  /** By the id in `term_taxonomy`, which relations use. */
  byRelation: ReadonlyMap<string, Term>
  find(taxonomy: string, slug: string): Term | undefined
  /** The categories, each after the one that contains it. */
  categories: readonly Term[]
  /** The slug that a category gets here. */
  slugOf(category: Term): string
  /** The category that contains another one; undefined at the top. */
  parentOf(category: Term): Term | undefined
  /** A category as the importer names it: its slug, after those of the categories that contain it. */
  slugPathOf(category: Term): string
}

/** Reads all terms of the catalog: categories, tags, attributes, brands, types and visibility. */
export async function readTerms(source: WordPress): Promise<Terms> {
  const rows = await source.rows(
    `SELECT x.term_taxonomy_id AS relation, t.term_id AS id, x.taxonomy, t.name, t.slug, x.parent, x.description
     FROM {terms} t JOIN {term_taxonomy} x ON x.term_id = t.term_id
     WHERE x.taxonomy LIKE 'product\\_%' OR x.taxonomy LIKE 'pa\\_%' ORDER BY t.term_id`
  )
  const byRelation = new Map<string, Term>()
  for (const row of rows) {
    const [id, taxonomy, parent] = [text(row, 'id'), text(row, 'taxonomy'), text(row, 'parent')]
    const [name, description] = [htmlToLine(text(row, 'name')), htmlToLine(text(row, 'description'))]
    byRelation.set(text(row, 'relation'), { id, taxonomy, name, slug: decoded(text(row, 'slug')), parent, description })
  }
  const terms = [...byRelation.values()]
  const bySlug = new Map(terms.map((term) => [`${term.taxonomy} ${term.slug}`, term]))
  const categories = new Map(terms.filter(({ taxonomy }) => taxonomy === 'product_cat').map((term) => [term.id, term]))
  const pathOf = (category: Term): Term[] => {
    const path: Term[] = []
    for (let at: Term | undefined = category; at !== undefined && !path.includes(at); at = categories.get(at.parent))
      path.unshift(at)
    return path
  }
  const names = new UniqueNames()
  const slugs = new Map([...categories.values()].map(({ id, slug }) => [id, names.take(slugFor(slug), id)]))
  const slugOf = ({ id, slug }: Term): string => slugs.get(id) ?? slug
  return {
    byRelation,
    find: (taxonomy, slug) => bySlug.get(`${taxonomy} ${decoded(slug)}`),
    categories: [...categories.values()].toSorted((a, b) => pathOf(a).length - pathOf(b).length),
    slugOf,
    parentOf: (category) => pathOf(category).at(-2),
    slugPathOf: (category) => pathOf(category).map(slugOf).join(' > ')
  }
}

/** A slug as people read it: WordPress stores other letters than a to z as percent signs. */
export function decoded(slug: string): string {
  try {
    return decodeURIComponent(slug)
  } catch (error) {
    if (error instanceof URIError) return slug
    throw error
  }
}
