/** What a product is to the tax: which of a country's rates it has. */
export const taxClasses = ['standard', 'reduced', 'zero'] as const
export type TaxClass = (typeof taxClasses)[number]
