import { keysOf } from '../../platform/typed.ts'

/**
 * Why a sale is taxed as it is. The codes are those of electronic invoices (EN 16931, BT-151, of the list UNCL 5305), and
 * so are the reasons in the EU (BT-121, of the list VATEX). The names are those of the taxes of orders; empty where orders
 * do not show a tax to buyers.
 * - `taxed`: at a rate above zero, of whatever country
 * - `zero`: at a rate of zero
 * - `supply`: goods to a business in another member state of the EU (Directive 2006/112/EC, article 138)
 * - `reverse_charge`: a service to such a business, which owes the tax (article 196)
 * - `export`: goods that leave the EU, or the country of a shop outside it (article 146)
 * - `outside`: a service to a buyer outside the EU, or outside the country of a shop outside it (articles 44, 58 and 59)
 * - `small_business`: a sale of a small business, which charges no tax (article 284)
 * - `voucher`: a gift card, which is taxed when it is used (article 73a)
 * - `none`: a sale of which the shop knows no tax rate
 */
export const taxCategories = {
  taxed: { code: 'S', name: null, vatex: null },
  zero: { code: 'Z', name: '', vatex: null },
  supply: { code: 'K', name: 'Intra-Community supply', vatex: 'VATEX-EU-IC' },
  reverse_charge: { code: 'AE', name: 'Reverse charge', vatex: 'VATEX-EU-AE' },
  export: { code: 'G', name: '', vatex: 'VATEX-EU-G' },
  outside: { code: 'O', name: '', vatex: 'VATEX-EU-O' },
  small_business: { code: 'E', name: '', vatex: null },
  voucher: { code: 'O', name: '', vatex: 'VATEX-EU-O' },
  none: { code: 'O', name: '', vatex: null }
} as const satisfies Record<string, { code: string; name: string | null; vatex: string | null }>

export type TaxCategory = keyof typeof taxCategories

export const taxCategoryNames = keysOf(taxCategories)

/** Whether the buyer, a business in another member state of the EU, owes the tax instead of the shop. */
export function isOwedByBuyer({ category }: { category: TaxCategory }): boolean {
  return category === 'supply' || category === 'reverse_charge'
}
