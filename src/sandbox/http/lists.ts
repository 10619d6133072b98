import type { Context } from './context.ts'
import { noSuch } from './errors.ts'
import type { Kind, Objects } from '../store/objects.ts'
import { either, integer, shape, text } from './params.ts'
import type { Values } from './params.ts'
import type { Filter } from '../store/object-store.ts'

const timestamp = integer({ min: 0 })

/** The parameters of every list (docs.stripe.com/api/pagination). */
export const pageShape = {
  limit: integer({ min: 1, max: 100 }),
  starting_after: text({ max: 255 }),
  ending_before: text({ max: 255 }),
  created: either(timestamp, shape({ gt: timestamp, gte: timestamp, lt: timestamp, lte: timestamp }))
}

export type ListAnswer<T> = { object: 'list'; data: T[]; has_more: boolean; url: string }

/** A list in Stripe's format. */
export function listAnswer<T>(data: T[], url: string, hasMore = false): ListAnswer<T> {
  return { object: 'list', data, has_more: hasMore, url }
}

/**
 * One page of objects, newest first.
 *
 * @throws StripeRefusal resource_missing for an unknown cursor
 */
export function listPage<K extends Kind>(
  context: Context,
  kind: K,
  params: Values<typeof pageShape>,
  url: string,
  filters: readonly Filter[] = []
): ListAnswer<Objects[K]> {
  for (const param of ['starting_after', 'ending_before'] as const) {
    const cursor = params[param]
    if (cursor !== undefined && !context.store.find(kind, cursor)) throw noSuch(kind, cursor, param)
  }
  const page = { limit: params.limit ?? 10, after: params.starting_after, before: params.ending_before }
  const { objects, hasMore } = context.store.list(kind, [...filters, ...createdFilters(params.created)], page)
  return listAnswer(objects, url, hasMore)
}

/** A filter for each of these parameters that was sent, on the field of the same name. */
export function filtersOf(params: Readonly<Record<string, unknown>>, ...fields: readonly string[]): Filter[] {
  return fields.flatMap((field) => {
    const value = params[field]
    return typeof value === 'string' ? [{ field, value }] : []
  })
}

function createdFilters(created: Values<typeof pageShape>['created']): Filter[] {
  if (created === undefined) return []
  if (typeof created === 'number') return [{ field: 'created', value: created }]
  const tests = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const
  return (['gt', 'gte', 'lt', 'lte'] as const).flatMap((name) => {
    const value = created[name]
    return value === undefined ? [] : [{ field: 'created', value, test: tests[name] }]
  })
}
