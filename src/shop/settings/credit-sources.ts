/**
 * What can credit an affiliate with an order: a coupon of the affiliate, a link (`ref`), or the customer, who registered by
 * a link. `affiliates.precedence` orders them.
 */
export const creditSources = ['coupon', 'link', 'customer'] as const
export type CreditSource = (typeof creditSources)[number]
