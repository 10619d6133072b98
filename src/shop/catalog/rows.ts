import type { coupons, productImages, products, variations } from './schema.ts'

export type ProductRow = typeof products.$inferSelect
export type VariationRow = typeof variations.$inferSelect
export type CouponRow = typeof coupons.$inferSelect
export type ProductImageRow = typeof productImages.$inferSelect
