import { AppError } from '../../../errors.ts'
import type { Db } from '../../../platform/db/database.ts'
import { rawStatement } from '../../../platform/db/statements.ts'
import { slugFor } from '../import/slug.ts'

const categoryId = rawStatement<[string], number>('SELECT id FROM categories WHERE slug = ?')

/** The id of a category by its slug or name. @throws AppError NOT_FOUND */
export function getCategoryId(db: Db, category: string): number {
  const id = categoryId(db).pluck().get(slugFor(category))
  if (id === undefined) throw new AppError('NOT_FOUND', `No category has the slug or name ${category}.`)
  return id
}
