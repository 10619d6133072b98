import type { taxRates } from './schema.ts'

export type TaxRateRow = typeof taxRates.$inferSelect
