import { z } from 'zod'

/** ISO 8601 in UTC with milliseconds, as every time of ours is written. */
export const time = z.string().meta({ format: 'date-time', example: '2026-03-14T09:26:53.589Z' })
export const id = z.int().meta({ example: 17 })
/** An id in a path; digits that are no id are not found. */
export const pathId = z.coerce.number<string>().int().positive().meta({ example: 17 })
export const currency = z.string().meta({ description: 'ISO 4217.', example: 'EUR' })
/** Major units with the currency's own number of decimals. */
export const amount = z.number().meta({ example: 12.5 })
export const count = z.int().meta({ example: 3 })

export const pagination = z
  .object({ page: count, perPage: count, total: count, totalPages: count })
  .meta({ id: 'Pagination', example: { page: 1, perPage: 20, total: 3, totalPages: 1 } })
export type Pagination = z.infer<typeof pagination>
