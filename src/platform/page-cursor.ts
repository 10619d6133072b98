import { validationFailed } from '../errors.ts'

/** The place in a list that is ordered by a number and then by id. */
export type Place = { order: number; id: number }

/** The cursor of the rows after this place. */
export function toCursor({ order, id }: Place): string {
  return `${order}-${id}`
}

/** The place of a cursor. @throws AppError VALIDATION_FAILED on `cursor` */
export function parseCursor(cursor: string): Place {
  const [, order, id] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? []
  if (order === undefined || id === undefined) {
    throw validationFailed({ cursor: ['Must be the nextCursor of an earlier page of this list.'] })
  }
  return { order: Number(order), id: Number(id) }
}
